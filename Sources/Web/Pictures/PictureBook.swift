import Base
import Catalog
import FoundationEssentials
import Glibc

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

  /// The source of an `img`; nil when there is no such picture.
  func source(_ digest: String?) -> String? {
    guard let digest, let stem = stem(digest) else { return nil }
    return folder + stem + suffix
  }

  /// The same without the common parts: ``folder`` before it and ``suffix`` after it.
  func stem(_ digest: String) -> String? {
    if let bytes = thumbnails[digest] {
      return "data:image/jpeg;base64," + Data(bytes).base64EncodedString()
    }
    return names.contains(digest) ? String(digest.prefix(Self.digits)) : nil
  }

  /// The end of every picture's name.
  var suffix: String { place == .inline ? "" : ".jpg" }

  /// As much of a digest as makes a name.
  private static let digits = 24

  /// The beginning of every picture's name.
  var folder: String {
    guard case .folder(let name) = place else { return "" }
    // Before a colon a relative name would be read as a scheme.
    return PercentEncoding.escaped(name) + "/"
  }
}

/// The folder beside a page that holds its small pictures, each named by its content.
///
/// A file that is there under such a name is the one that would be written: it is left as it is, and a
/// second page writes none. Files of other names are left alone.
package struct PictureFolder: Sendable {
  private let path: String

  /// The folder at `path`; makes nothing.
  package init(_ path: String) {
    self.path = path
  }

  /// Makes the folder if there is none.
  package func make() throws(LarderError) {
    if mkdir(path, 0o755) == 0 { return }
    let code = errno
    var status = stat()
    guard code == EEXIST, lstat(path, &status) == 0 else { throw Self.refusal(path, code) }
    // A link would have its target filled, wherever that is.
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Self.refusal(path, ENOTDIR) }
    guard access(path, W_OK | X_OK) == 0 else { throw Self.refusal(path, errno) }
  }

  private static func refusal(_ path: String, _ code: Int32) -> LarderError {
    LarderError(.io, "cannot write \(path): \(systemMessage(code)); check its folder")
  }

  /// Whether a picture is there.
  package func holds(_ digest: String) -> Bool {
    var status = stat()
    return lstat(file(digest), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_size > 0
  }

  /// Puts a picture there, whole or not at all.
  package func put(_ bytes: [UInt8], _ digest: String) throws(LarderError) {
    let file = file(digest)
    do throws(SystemError) {
      try Files.replace(file, with: bytes.span.bytes, isDurable: false)
    } catch {
      throw Self.refusal(file, error.code)
    }
  }

  /// Removes the pictures that earlier pages wrote and that are not among `digests`, and the folder
  /// when nothing is left in it.
  package func sweep(except digests: some Sequence<String>) {
    var status = stat()
    // Not the target of a link.
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      let names = try? Files.names(in: path)
    else { return }
    let wanted = Set(digests.map(PictureBook.fileName))
    for name in names where PictureBook.isFileName(name) && !wanted.contains(name) {
      unlink("\(path)/\(name)")
    }
    rmdir(path)
  }

  private func file(_ digest: String) -> String { "\(path)/\(PictureBook.fileName(digest))" }
}
