import Base
import Glibc

/// The write lock of a cache, held by one process at a time.
///
/// The lock is an exclusive `flock` on the file `lock`. The kernel releases it when the process ends, even after a
/// crash. The file's text names the holder, for the message of a process that cannot take the lock. Readers need no
/// lock. On a file system that other machines may share, a ``HostClaim`` is needed too. Without support for `flock`,
/// the claim is the only lock.
package final class CacheLock: Sendable {
  private let descriptor: Int32
  private let claim: HostClaim?
  private let layout: CacheLayout

  /// The name of a holder that releases the lock within milliseconds: a server that stores a picture.
  static let briefHolder = "larder serve"

  /// The number of attempts to get the lock from the holder ``briefHolder``, with a pause of 10 ms after each: three
  /// seconds in all.
  private static let patience = 300
  private static let pause: useconds_t = 10_000

  /// A sentence about the holder from which this run took over the cache; nil if there was none.
  package var notice: String? {
    claim?.previousHolder.map {
      "took over \(layout.root.path) from \($0.holder), which no longer renewed its claim"
    }
  }

  /// Takes the lock at once, or throws ``LarderError/Code/locked`` with the holder's name.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - holder: One line for people, such as `larder sync, process 4711`.
  /// - Throws: ``LarderError``, ``LarderError/Code/locked`` when another run holds the cache.
  package convenience init(_ layout: CacheLayout, holder: String) throws(LarderError) {
    try self.init(
      layout,
      holder: holder,
      machine: Machine(),
      isShared: { HostClaim.isNeeded($0) }
    )
  }

  /// Takes the lock with a given machine, a given `flock` and a given test for shared file systems; for tests.
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
      // A holder that has just locked, or is about to unlock, has no name in the file for a moment.
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

  /// Calls the function `flock`; in Swift, the name alone means the structure `flock`.
  static func lock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
    flock(descriptor, operation)
  }

  /// Claims the cache, and moves the previous holder's `partial/` aside, so that late writes of that holder do no harm.
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
    // The file stays: after a removal, two runs could lock two different files with the same name.
    ftruncate(descriptor, 0)
    // Closing is not enough: a child process that another thread forked holds the descriptor, and thus the lock, until
    // it calls `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Whether a run holds the cache's lock now.
  ///
  /// The lock is tried only if the file names a holder, because that process may have ended. If the file names no
  /// holder, the lock is not tried: an attempt could make a run fail that starts at that moment.
  static func isHeld(_ layout: CacheLayout) throws(LarderError) -> Bool {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = openat(layout.root.descriptor, "lock", flags)
    guard descriptor >= 0 else {
      if errno == ENOENT { return false }
      throw .system("open", layout.path("lock"), errno: errno)
    }
    defer { close(descriptor) }
    // A claim file counts only on a file system that other machines may share.
    if layout.kind(of: HostClaim.name) != nil, HostClaim.isNeeded(descriptor) { return true }
    guard !text(of: descriptor).isEmpty else { return false }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
      return FileSystemGap.isMissing(lock: errno) ? layout.kind(of: HostClaim.name) != nil : true
    }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// The holder's line in the lock file; empty when there is none.
  private static func text(of descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
      .split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
  }
}
