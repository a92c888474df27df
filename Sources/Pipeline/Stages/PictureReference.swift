import Cache
import Transport

/// A picture that a section or detail just decoded refers to.
struct PictureReference: Sendable {
  /// The picture's identity; of the feed's own text when that is no URL.
  var id: PictureID
  /// Its URL, or why it has none.
  var url: Result<WebURL, TransferFailure>
}
