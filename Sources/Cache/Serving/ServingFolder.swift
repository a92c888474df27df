import Base
import Glibc

/// The work folder of a server: a temporary cache below `serving/` for pictures that the server fetches and then moves
/// into the cache.
///
/// The server holds a lock on a file beside the folder. If a server was killed, its lock file is no longer locked, so
/// that the next server can remove the folder.
package final class ServingFolder: Sendable {
  /// The path of the work folder.
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
    // Make the lock before the folder, so that no process finds the folder without a lock.
    descriptor = open(lockPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("make", lockPath, errno: errno) }
    flock(descriptor, LOCK_EX)
    // If this throws, `deinit` removes the folder and closes the lock.
    _ = try Folder(path: path, creating: true)
    // Each fetch makes a folder in `shards`, and removes it at its end. The folder `kept` stays, so that `shards` is
    // never empty and is not removed with the last of these folders.
    for name in ["shards", "shards/kept"] {
      _ = try Folder(path: "\(path)/\(name)", creating: true)
    }
  }

  deinit {
    leave()
    close(descriptor)
  }

  /// Removes the work folder with its contents.
  ///
  /// Nothing is allowed to use the folder afterwards.
  package func leave() {
    try? folders.removeAll(name)
    unlink(path + ".lock")
    // While another server has a work folder, this fails, as it should.
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

  /// Whether a server still holds the lock beside its work folder.
  private static func isAlive(_ name: String, in folders: Folder) -> Bool {
    let lock = openat(folders.descriptor, name + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    return flock(lock, LOCK_EX | LOCK_NB) != 0
  }
}
