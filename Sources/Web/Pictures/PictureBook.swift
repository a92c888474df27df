import Base
import FoundationEssentials
import Glibc

/// The thumbnails that a report page shows.
///
/// A thumbnail is found by the digest of the picture from which it was made: 64 hexadecimal digits of SHA-256.
struct PictureBook: Sendable {
  /// The place of the thumbnails.
  enum Place: Sendable, Equatable {
    /// In the page itself, as `data:` URLs.
    case inline
    /// In a folder with this name beside the page.
    case folder(String)
    /// The page shows no thumbnails.
    case nowhere
  }

  /// The place of the thumbnails.
  let place: Place
  /// The middle of each thumbnail's `src`, by the picture's digest.
  private var stems: [String: String] = [:]

  init(_ place: Place) {
    self.place = place
  }

  /// Adds a thumbnail that is embedded in the page, given the picture's digest.
  mutating func add(_ digest: String, _ thumbnail: [UInt8]) {
    stems[digest] = "data:image/jpeg;base64," + Data(thumbnail).base64EncodedString()
  }

  /// Adds a thumbnail that is a file in the folder, given the picture's digest.
  mutating func add(_ digest: String) { stems[digest] = String(digest.prefix(Self.digits)) }

  /// The name of a thumbnail's file in the folder: the first 24 digits of the picture's digest, and `.jpg`.
  static func fileName(_ digest: String) -> String { "\(digest.prefix(digits)).jpg" }

  /// Whether a file name has the form of the names that ``fileName(_:)`` returns.
  static func isFileName(_ name: String) -> Bool {
    name.utf8.count == digits + 4 && name.hasSuffix(".jpg")
      && name.utf8.prefix(digits).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// The digests of the pictures that have a thumbnail.
  var digests: [String] { Array(stems.keys) }

  /// The attribute `src` of the thumbnail of a picture, given the picture's digest.
  ///
  /// Nil if the page has no thumbnail of the picture.
  func source(_ digest: String?) -> String? {
    guard let digest, let stem = stem(digest) else { return nil }
    return folder + stem + suffix
  }

  /// The middle of a thumbnail's `src`, given the picture's digest; nil if the page has no thumbnail of the picture.
  ///
  /// The whole `src` is ``folder``, this text and ``suffix``.
  func stem(_ digest: String) -> String? { stems[digest] }

  /// The end of each thumbnail's `src`.
  var suffix: String { place == .inline ? "" : ".jpg" }

  /// The number of digits of the digest in a file's name.
  private static let digits = 24

  /// The beginning of each thumbnail's `src`.
  var folder: String {
    guard case .folder(let name) = place else { return "" }
    // The name is escaped, because browsers would read the text before a colon as the scheme of a URL.
    return PercentEncoding.escaped(name) + "/"
  }
}

/// The folder with the thumbnails of a report page, which is beside the page.
///
/// The name of a thumbnail's file contains the picture's digest, so a file that exists has the right content and is not
/// written again. A second page with the same pictures writes no files. Files with other names are never touched.
package struct PictureFolder: Sendable {
  private let path: String

  /// Names the folder at `path`.
  ///
  /// The folder is created by ``make()``.
  package init(_ path: String) {
    self.path = path
  }

  /// Creates the folder if it does not exist.
  ///
  /// - Throws: ``LarderError`` when it cannot be created, or when something else has its name.
  package func make() throws(LarderError) {
    if mkdir(path, 0o755) == 0 { return }
    let code = errno
    var status = stat()
    guard code == EEXIST, lstat(path, &status) == 0 else { throw Self.refusal(path, code) }
    // Refuse a symbolic link, because the thumbnails would be written into the folder to which it leads.
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Self.refusal(path, ENOTDIR) }
    guard access(path, W_OK | X_OK) == 0 else { throw Self.refusal(path, errno) }
  }

  private static func refusal(_ path: String, _ code: Int32) -> LarderError {
    LarderError(.io, "cannot write \(path): \(systemMessage(code)); check its folder")
  }

  /// Whether the folder has the thumbnail of a picture, given the picture's digest.
  package func holds(_ digest: String) -> Bool {
    var status = stat()
    return lstat(file(digest), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_size > 0
  }

  /// Writes the thumbnail of a picture, given the picture's digest.
  ///
  /// After a crash, the file is either complete or missing.
  package func put(_ bytes: [UInt8], _ digest: String) throws(LarderError) {
    let file = file(digest)
    do throws(SystemError) {
      try Files.replace(file, with: bytes.span.bytes, isDurable: false)
    } catch {
      throw Self.refusal(file, error.code)
    }
  }

  /// Removes all thumbnails except those of the pictures with these digests.
  ///
  /// Then removes the folder if it is empty.
  package func sweep(except digests: some Sequence<String>) {
    var status = stat()
    // Do not follow a symbolic link into another folder.
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
