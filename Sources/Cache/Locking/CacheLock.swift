import Base
import Glibc

/// The lock that a process holds while it changes a cache; readers need no lock.
///
/// The lock is an exclusive `flock` on the file `lock`. The kernel releases it when the process ends, even after a
/// crash. The text in the file names the process, so that another process can say in its message who holds the lock.
///
/// On a file system that several machines may share, a ``HostClaim`` is needed too. If the file system does not
/// support `flock`, the claim is the only lock.
package final class CacheLock: Sendable {
  private let descriptor: Int32
  private let claim: HostClaim?
  private let layout: CacheLayout

  /// The name in the lock file while a server stores a picture.
  ///
  /// A process that finds this name waits, because the server releases the lock within milliseconds.
  static let briefHolder = "larder serve"

  /// The number of attempts to get the lock from ``briefHolder``.
  ///
  /// After each attempt there is a pause of 10 ms, so that the attempts take three seconds in all.
  private static let patience = 300
  private static let pause: useconds_t = 10_000

  /// A sentence about the machine from which this run took over the cache; nil if the cache was not taken over.
  package var notice: String? {
    claim?.previousHolder.map {
      "took over \(layout.root.path) from \($0.holder), which no longer renewed its claim"
    }
  }

  /// Takes the lock; does not wait for another run to end.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - holder: A line for people that names this process, such as `larder sync, process 4711`.
  /// - Throws: ``LarderError/Code/locked`` with the holder's name if another run holds the lock; ``LarderError`` for
  ///   other errors.
  package convenience init(_ layout: CacheLayout, holder: String) throws(LarderError) {
    try self.init(
      layout,
      holder: holder,
      machine: Machine(),
      isShared: { HostClaim.isNeeded($0) }
    )
  }

  /// Takes the lock.
  ///
  /// Tests replace the machine, the function `flock` and the test for shared file systems.
  init(
    _ layout: CacheLayout,
    holder: String,
    machine: Machine,
    lock: (Int32, Int32) -> Int32 = CacheLock.lock,
    isShared: (Int32) -> Bool
  ) throws(LarderError) {
    try layout.root.demandOwnership()
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    let path = layout.path("lock")
    let descriptor = openat(layout.root.descriptor, "lock", flags, 0o600)
    guard descriptor >= 0 else { throw .system("open", path, errno: errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw LarderError(.unfitFolder, "cannot lock \(path): it is not a regular file; remove it")
    }
    var patience = Self.patience
    var isLocked = true
    while lock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      if FileSystemGap.isMissing(lock: code) {
        FileSystemGap.locks.note()
        isLocked = false
        break
      }
      let text = Self.text(of: descriptor)
      // Wait for a holder without a name too. A process has no name in the file right after it took the lock, and
      // right before it releases the lock.
      if code == EWOULDBLOCK, patience > 0, text.isEmpty || text.hasPrefix(Self.briefHolder) {
        patience -= text.isEmpty ? 15 : 1
        usleep(Self.pause)
        continue
      }
      let other = Machine.withoutHost(text)
      close(descriptor)
      guard code == EWOULDBLOCK else { throw .system("lock", path, errno: code) }
      throw LarderError(
        .locked,
        "cannot change \(layout.root.path): \(other.isEmpty ? "another run" : other) is using it; "
          + "try again when that run has ended",
        thing: layout.root.path
      )
    }
    do throws(LarderError) {
      claim =
        !isLocked || isShared(descriptor)
        ? try Self.claim(layout, holder: holder, machine: machine, isLocked: isLocked) : nil
    } catch {
      close(descriptor)
      throw error
    }
    ftruncate(descriptor, 0)
    let line = "\(holder) on \(Machine.hostName)"
    _ = line.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    self.descriptor = descriptor
    self.layout = layout
    layout.holds(claim)
    claim?.beatLater()
  }

  /// Calls the function `flock`.
  ///
  /// It is wrapped because in Swift, the name `flock` alone means the structure of that name.
  static func lock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
    flock(descriptor, operation)
  }

  /// Claims the cache for this machine.
  ///
  /// If the claim was taken over, the `partial/` of the previous holder is renamed, so that late writes of that
  /// process do no harm.
  private static func claim(
    _ layout: CacheLayout,
    holder: String,
    machine: Machine,
    isLocked: Bool
  ) throws(LarderError) -> HostClaim {
    let claim = try HostClaim(layout.root, holder: holder, machine: machine, isLocked: isLocked)
    guard let lost = claim.previousHolder else { return claim }
    do throws(LarderError) {
      try layout.leavePartials(to: lost.token)
      return claim
    } catch {
      claim.release()
      throw error
    }
  }

  deinit {
    layout.holds(nil)
    claim?.release()
    // Do not remove the file. Otherwise two runs could lock two different files of the same name.
    ftruncate(descriptor, 0)
    // Unlock before closing. Otherwise a child process that another thread has just forked would hold the lock until
    // it calls `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Whether another process holds the cache's lock now.
  ///
  /// If the lock file names a holder, this function tries the lock, because that process may have ended. Without a
  /// name, the lock is not tried: the attempt could make another process fail that takes the lock at the same moment.
  static func isHeld(_ layout: CacheLayout) throws(LarderError) -> Bool {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = openat(layout.root.descriptor, "lock", flags)
    guard descriptor >= 0 else {
      if errno == ENOENT { return false }
      throw .system("open", layout.path("lock"), errno: errno)
    }
    defer { close(descriptor) }
    // The file of a claim is only relevant if other machines may share the file system.
    if layout.kind(of: HostClaim.name) != nil, HostClaim.isNeeded(descriptor) { return true }
    guard !text(of: descriptor).isEmpty else { return false }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
      return FileSystemGap.isMissing(lock: errno) ? layout.kind(of: HostClaim.name) != nil : true
    }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// The first line of the lock file, which names the holder; empty if there is none.
  private static func text(of descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
      .split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
  }
}
