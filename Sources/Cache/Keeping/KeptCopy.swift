import Base
import Glibc
import Synchronization
import Transport

/// A picture of a store as a file of this machine, for as long as it is of use.
package struct KeptCopy {
  /// Where the file is.
  package let path: String
  /// Whether the store has the picture.
  package let isThere: Bool

  /// Fetches a picture.
  ///
  /// - Parameters:
  ///   - source: Where the store keeps it.
  ///   - keeper: The store.
  ///   - path: The file, which is written anew.
  /// - Throws: ``CacheError`` when the store cannot be read or the file not written.
  package init(
    of source: String,
    in keeper: any PictureKeeping,
    to path: String
  ) throws(CacheError) {
    self.path = path
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .system("create", path, errno: errno) }
    defer { close(descriptor) }
    let failure = Mutex<CacheError?>(nil)
    let stamp = try keeper.read(
      source,
      restart: {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
          return failure.withLock { $0 = .system("cut", path, errno: errno) }
        }
      },
      piece: { bytes in
        guard failure.withLock({ $0 == nil }) else { return }
        do throws(SystemError) {
          try Files.write(bytes, to: descriptor)
        } catch {
          failure.withLock { $0 = .system("write", path, errno: error.code) }
        }
      }
    )
    if let failure = failure.withLock({ $0 }) { throw failure }
    isThere = stamp != nil
  }

  /// Removes the file.
  package func remove() { unlink(path) }

  /// The SHA-256 of a file's bytes in hexadecimal; nil when it is no regular file that can be read.
  package static func digest(ofFile path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"),
      let folder = try? Folder(path: String(path[..<slash]), creating: false)
    else { return nil }
    let name = String(path[path.index(after: slash)...])
    guard let digest = try? folder.digest(of: name)?.sha256 else { return nil }
    return Hexadecimal.text(digest)
  }
}
