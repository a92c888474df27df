import Base
import Catalog
import FoundationEssentials
import Glibc

/// The thumbnails that a report page can show, and the `src` of each, by the digest of the original picture.
struct PictureBook: Sendable {
  /// The place of a page's thumbnails.
  enum Place: Sendable, Equatable {
    /// In the page itself, as `data:` URLs.
    case inline
    /// In a folder of this name beside the page.
    case folder(String)
    /// Nowhere: the page shows no thumbnails.
    case nowhere
  }

  /// The place of the thumbnails.
  let place: Place
  private var thumbnails: [String: [UInt8]] = [:]
  private var names: Set<String> = []

  /// Creates a book without thumbnails.
  init(_ place: Place) {
    self.place = place
  }

  /// Adds a thumbnail that is embedded in the page.
  mutating func add(_ digest: String, _ thumbnail: [UInt8]) {
    thumbnails[digest] = thumbnail
  }

  /// Adds a thumbnail that is a file in the folder.
  mutating func add(_ digest: String) { names.insert(digest) }

  /// The name of a thumbnail's file in the folder: the first 24 hexadecimal digits of the picture's digest.
  static func fileName(_ digest: String) -> String { "\(digest.prefix(digits)).jpg" }

  /// Whether a name is one that ``fileName(_:)`` makes.
  static func isFileName(_ name: String) -> Bool {
    name.utf8.count == digits + 4 && name.hasSuffix(".jpg")
      && name.utf8.prefix(digits).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// The digests of the pictures whose thumbnails are in the folder.
  var fileDigests: [String] { Array(names) }

  /// The `src` for the picture with a digest; nil when the page has no thumbnail of that picture.
  func source(_ digest: String?) -> String? {
    guard let digest, let stem = stem(digest) else { return nil }
    return folder + stem + suffix
  }

  /// The middle of a picture's `src`: ``folder`` comes before it, and ``suffix`` after it.
  func stem(_ digest: String) -> String? {
    if let bytes = thumbnails[digest] {
      return "data:image/jpeg;base64," + Data(bytes).base64EncodedString()
    }
    return names.contains(digest) ? String(digest.prefix(Self.digits)) : nil
  }

  /// The end of every `src`.
  var suffix: String { place == .inline ? "" : ".jpg" }

  /// A file name has this many hexadecimal digits of the digest.
  private static let digits = 24

  /// The beginning of every `src`.
  var folder: String {
    guard case .folder(let name) = place else { return "" }
    // Escaped because a relative URL with a colon would be read as a scheme.
    return PercentEncoding.escaped(name) + "/"
  }
}

/// The folder with a report page's thumbnails, which lies beside the page.
///
/// The name of a thumbnail's file comes from the picture's digest. If the file exists, it has the right content and is
/// not written again. So a second page with the same pictures writes no files. Files with other names are never
/// touched.
package struct PictureFolder: Sendable {
  private let path: String

  /// The folder at `path`.
  ///
  /// Does not create it; ``make()`` does.
  package init(_ path: String) {
    self.path = path
  }

  /// Creates the folder if it does not exist.
  package func make() throws(LarderError) {
    if mkdir(path, 0o755) == 0 { return }
    let code = errno
    var status = stat()
    guard code == EEXIST, lstat(path, &status) == 0 else { throw Self.refusal(path, code) }
    // A symbolic link is refused: the thumbnails would be written into its target, wherever that is.
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Self.refusal(path, ENOTDIR) }
    guard access(path, W_OK | X_OK) == 0 else { throw Self.refusal(path, errno) }
  }

  private static func refusal(_ path: String, _ code: Int32) -> LarderError {
    LarderError(.io, "cannot write \(path): \(systemMessage(code)); check its folder")
  }

  /// Whether the folder has the thumbnail of a picture.
  package func holds(_ digest: String) -> Bool {
    var status = stat()
    return lstat(file(digest), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_size > 0
  }

  /// Writes a thumbnail atomically.
  package func put(_ bytes: [UInt8], _ digest: String) throws(LarderError) {
    let file = file(digest)
    do throws(SystemError) {
      try Files.replace(file, with: bytes.span.bytes, isDurable: false)
    } catch {
      throw Self.refusal(file, error.code)
    }
  }

  /// Removes all thumbnails except those of the pictures `digests`, then removes the folder if it is empty.
  package func sweep(except digests: some Sequence<String>) {
    var status = stat()
    // Never sweeps the target of a symbolic link.
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
