import Cache
import Transport

/// A picture that a section or detail just decoded refers to.
struct PictureReference: Sendable {
  /// The picture's identity; of the feed's own text when that is no URL.
  var id: PictureID
  /// Where it is, or why that cannot be told.
  var url: Result<WebURL, TransferFailure>
}
