import Base
import Glibc

/// A server's work folder: a temporary cache below `serving/`, for fetched pictures that will be moved into the cache.
///
/// The server holds a lock file beside the folder. The next server removes the folders of killed servers, whose lock
/// files are no longer locked.
package final class ServingFolder: Sendable {
  /// The work folder's path.
  package var path: String { "\(folders.path)/\(name)" }
  /// The folder `serving/`.
  private let folders: Folder
  private let name: String
  private let descriptor: Int32

  private static let folder = "serving"

  /// Makes a work folder, and removes the work folders of servers that were killed.
  ///
  /// - Parameter cache: The cache's path.
  /// - Throws: ``LarderError`` when the folder cannot be made.
  package init(in cache: String) throws(LarderError) {
    folders = try Folder(path: "\(cache)/\(Self.folder)", creating: true)
    try folders.demandOwnership()
    Self.removeDead(folders)
    name = "\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
    let path = "\(folders.path)/\(name)"
    let lockPath = path + ".lock"
    // The lock is made before the folder, so that no process finds the folder without a lock.
    descriptor = open(lockPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("make", lockPath, errno: errno) }
    flock(descriptor, LOCK_EX)
    do throws(LarderError) {
      _ = try Folder(path: path, creating: true)
      // Each fetch makes a folder of its own in `shards`; `kept` stays in `shards`, so that removing a fetch's folder
      // never removes `shards` itself.
      for name in ["shards", "shards/kept"] {
        _ = try Folder(path: "\(path)/\(name)", creating: true)
      }
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    leave()
    close(descriptor)
  }

  /// Removes the work folder and its contents; nothing may use the folder afterwards.
  package func leave() {
    try? folders.removeAll(name)
    unlink(path + ".lock")
    // Fails while another server has a work folder, as intended.
    rmdir(folders.path)
  }

  /// Removes the work folders of servers that were killed.
  ///
  /// - Parameter cache: The cache's path.
  package static func removeDead(in cache: String) {
    let path = "\(cache)/\(folder)"
    guard let folders = try? Folder(path: path, creating: false) else { return }
    removeDead(folders)
    rmdir(path)
  }

  private static func removeDead(_ folders: Folder) {
    let names = (try? folders.names()) ?? []
    for name in names where !name.hasSuffix(".lock") && !isAlive(name, in: folders) {
      try? folders.removeAll(name)
      unlinkat(folders.descriptor, name + ".lock", 0)
    }
    for name in names where name.hasSuffix(".lock") && !names.contains(String(name.dropLast(5))) {
      guard !isAlive(String(name.dropLast(5)), in: folders) else { continue }
      unlinkat(folders.descriptor, name, 0)
    }
  }

  /// Whether a server still holds the lock of its work folder.
  private static func isAlive(_ name: String, in folders: Folder) -> Bool {
    let lock = openat(folders.descriptor, name + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    return flock(lock, LOCK_EX | LOCK_NB) != 0
  }

}
