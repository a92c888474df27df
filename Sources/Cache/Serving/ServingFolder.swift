import Base
import Glibc

/// A server's work folder: a temporary cache below `serving/`, for fetched pictures that will be moved into the cache.
///
/// The server holds a lock file beside the folder. The next server removes the folders of killed servers, whose lock
/// files are no longer locked.
package final class ServingFolder: Sendable {
  /// The work folder's path.
  package let path: String
  private let lockPath: String
  private let descriptor: Int32

  private static let folder = "serving"

  /// Makes a work folder, and removes the work folders of servers that were killed.
  ///
  /// - Parameter cache: The cache's path.
  /// - Throws: ``LarderError`` when the folder cannot be made.
  package init(in cache: String) throws(LarderError) {
    let rooms = try Folder(path: "\(cache)/\(Self.folder)", creating: true)
    try rooms.demandOwnership()
    Self.removeDead(rooms)
    let name = "\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
    path = "\(rooms.path)/\(name)"
    lockPath = path + ".lock"
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
    Self.remove(path)
    unlink(lockPath)
    // Fails while another server has a work folder, as intended.
    if let slash = path.lastIndex(of: "/") { rmdir(String(path[..<slash])) }
  }

  /// Removes the work folders of servers that were killed.
  ///
  /// - Parameter cache: The cache's path.
  package static func removeDead(in cache: String) {
    let path = "\(cache)/\(folder)"
    guard let rooms = try? Folder(path: path, creating: false) else { return }
    removeDead(rooms)
    rmdir(path)
  }

  private static func removeDead(_ rooms: Folder) {
    let names = (try? rooms.names()) ?? []
    for name in names where !name.hasSuffix(".lock") && !isAlive(name, in: rooms) {
      remove("\(rooms.path)/\(name)")
      unlinkat(rooms.descriptor, name + ".lock", 0)
    }
    for name in names where name.hasSuffix(".lock") && !names.contains(String(name.dropLast(5))) {
      guard !isAlive(String(name.dropLast(5)), in: rooms) else { continue }
      unlinkat(rooms.descriptor, name, 0)
    }
  }

  /// Whether a server still holds the lock of its work folder.
  private static func isAlive(_ name: String, in rooms: Folder) -> Bool {
    let lock = openat(rooms.descriptor, name + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    return flock(lock, LOCK_EX | LOCK_NB) != 0
  }

  /// Removes a folder and its contents, without following links.
  private static func remove(_ path: String) {
    if let folder = try? Folder(path: path, creating: false) {
      for name in (try? folder.names()) ?? [] where unlinkat(folder.descriptor, name, 0) != 0 {
        remove("\(path)/\(name)")
      }
    }
    rmdir(path)
  }
}
