import Base
import Glibc

/// The folder beside a page that holds its small pictures, each under a name made of what it shows.
///
/// A file that is there under such a name is the one that would be written: it is left as it is, and a
/// second page writes none. Files of other names are nobody's business here.
package struct PictureFolder: Sendable {
  private let path: String

  /// The folder at `path`; makes nothing.
  package init(_ path: String) {
    self.path = path
  }

  /// Why the folder cannot be used.
  package struct Failure: Error {
    /// The folder or file.
    package let path: String
    /// The system's error number.
    package let code: Int32
  }

  /// Makes the folder if there is none.
  package func make() throws(Failure) {
    if mkdir(path, 0o755) == 0 { return }
    let code = errno
    var status = stat()
    guard code == EEXIST, lstat(path, &status) == 0 else { throw Failure(path: path, code: code) }
    // A link would have its target filled, wherever that is.
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Failure(path: path, code: ENOTDIR) }
    guard access(path, W_OK | X_OK) == 0 else { throw Failure(path: path, code: errno) }
  }

  /// Whether a picture is there.
  package func holds(_ digest: String) -> Bool {
    var status = stat()
    return lstat(file(digest), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && status.st_size > 0
  }

  /// Puts a picture there, whole or not at all.
  package func put(_ bytes: [UInt8], _ digest: String) throws(Failure) {
    let file = file(digest)
    do throws(SystemError) {
      try Files.replace(file, with: bytes.span.bytes, isDurable: false)
    } catch {
      throw Failure(path: file, code: error.code)
    }
  }

  /// Removes the pictures that earlier pages wrote and that are not among `digests`, and the folder
  /// when nothing is left in it.
  package func sweep(except digests: some Sequence<String>) {
    var status = stat()
    // Not what a link leads to.
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
