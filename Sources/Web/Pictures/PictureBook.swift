import Catalog
import FoundationEssentials

/// How the page refers to its small pictures: the text of each, by the digest of the picture.
package struct PictureBook: Sendable {
  /// Where small pictures are.
  package enum Place: Sendable, Equatable {
    /// In the page itself.
    case inline
    /// In a folder beside it.
    case folder(String)
    /// Nowhere: the page shows none.
    case nowhere
  }

  /// Where they are.
  package let place: Place
  private var thumbnails: [String: [UInt8]] = [:]
  private var names: Set<String> = []

  /// A book without pictures.
  package init(_ place: Place) {
    self.place = place
  }

  /// Adds a picture that stands in the page.
  package mutating func add(_ digest: String, _ thumbnail: [UInt8]) {
    thumbnails[digest] = thumbnail
  }

  /// Adds a picture that is in the folder.
  package mutating func add(_ digest: String) { names.insert(digest) }

  /// The name of a picture's file in the folder: enough of its digest that no two are alike.
  package static func fileName(_ digest: String) -> String { "\(digest.prefix(digits)).jpg" }

  /// Whether a name is one that ``fileName(_:)`` makes.
  package static func isFileName(_ name: String) -> Bool {
    name.utf8.count == digits + 4 && name.hasSuffix(".jpg")
      && name.utf8.prefix(digits).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// The digests of those that are in the folder.
  var fileDigests: [String] { Array(names) }

  /// What an `img` has as its source; nil when there is no such picture.
  func source(_ digest: String?) -> String? {
    guard let digest, let stem = stem(digest) else { return nil }
    return folder + stem + suffix
  }

  /// The same without what all have: ``folder`` before it and ``suffix`` behind it.
  func stem(_ digest: String) -> String? {
    if let bytes = thumbnails[digest] {
      return "data:image/jpeg;base64," + Data(bytes).base64EncodedString()
    }
    return names.contains(digest) ? String(digest.prefix(Self.digits)) : nil
  }

  /// What stands behind the name of every picture.
  var suffix: String { place == .inline ? "" : ".jpg" }

  /// As much of a digest as makes a name.
  private static let digits = 24

  /// What stands before the name of every picture.
  var folder: String {
    guard case .folder(let name) = place else { return "" }
    // Before a colon a relative name would be read as a scheme.
    return PercentEncoding.escaped(name) + "/"
  }
}
