import Glibc

/// The right to change a cache that other machines see too, held by one of them at a time.
///
/// Over a network file system the kernel may grant `flock` by itself, and so to two machines at once,
/// as it would to two whose timers ring in the same second. Making a file that must not be there yet
/// is the server's to grant. (open(2), `O_EXCL`) Nobody takes it back from a holder that was killed:
/// what it left is taken over on its own machine, where the caller holds the `flock`, and refused on
/// others, which cannot tell. Its own machine is the kernel that it ran on, whatever the host was called:
/// a container that comes back under a new name on the same node goes on at once. (``LockStanding``)
final class HostClaim: Sendable {
  private let folder: Folder

  /// The file, in the cache's folder; its text is the holder's line.
  static let name = "lock.host"

  /// Claims the cache for this machine; the caller holds its `flock`.
  ///
  /// - Parameters:
  ///   - folder: the cache.
  ///   - holder: what a person understands, such as `larder sync, process 4711`.
  ///   - host: this machine's name.
  ///   - boot: what this machine's kernel calls its boot.
  /// - Throws: ``CacheError``, ``CacheError/Code/locked`` when another machine claims it.
  init(
    _ folder: Folder,
    holder: String,
    host: String = LockStanding.host,
    boot: String = PartialBody.boot
  ) throws(CacheError) {
    self.folder = folder
    let path = "\(folder.path)/\(Self.name)"
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    var descriptor = openat(folder.descriptor, Self.name, flags | O_CREAT | O_EXCL, 0o600)
    if descriptor < 0, errno == EEXIST {
      let text = folder.text(of: Self.name, limit: 4096) ?? ""
      if case .foreign(let other) = LockStanding(text: text, host: host, boot: boot) {
        throw CacheError(
          .locked,
          "cannot change \(folder.path): \(other) holds it or was killed, which cannot be told "
            + "over a network file system; when nothing runs there, remove \(path)"
        )
      }
      descriptor = openat(folder.descriptor, Self.name, flags | O_TRUNC)
    }
    guard descriptor >= 0 else { throw .system("lock", path, errno: errno) }
    defer { close(descriptor) }
    let line = "\(holder) on \(host)" + (boot.isEmpty ? "" : "\nboot \(boot)")
    let count = line.withCString { write(descriptor, $0, strlen($0)) }
    guard count == line.utf8.count else {
      let code = count < 0 ? errno : ENOSPC
      unlinkat(folder.descriptor, Self.name, 0)
      throw .system("lock", path, errno: code)
    }
  }

  /// Lets other machines have the cache; before the `flock` goes.
  func release() {
    unlinkat(folder.descriptor, Self.name, 0)
  }
}
