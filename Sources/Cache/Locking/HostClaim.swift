import Dispatch
import Glibc
import Synchronization

/// The right to change a cache that other machines see too, held by one of them at a time.
///
/// Over a network file system the kernel may grant `flock` by itself, and so to two machines at once,
/// as it would to two whose timers ring in the same second. Making a file that must not be there yet
/// is the server's to grant. (open(2), `O_EXCL`)
///
/// What a killed run left is taken over at once on its own machine, where the caller holds the `flock`:
/// its own machine is the kernel that it ran on, whatever the host was called. On others it is taken
/// over when they have seen no renewal for eight intervals, by their own clocks. (``LockHolder``,
/// ``ClaimWatch``) A holder that was frozen so long, and comes back, finds another's claim in place of
/// its own before it commits anything more. (``demandHold()``)
final class HostClaim: Sendable {
  private let folder: Folder
  private let machine: Machine
  private let mine: ClaimText
  private let state = Mutex(State())
  /// What was taken over from another machine; nil when nothing was.
  let predecessor: ClaimText?

  private struct State {
    var beat = 0
    var loss: CacheError?
  }

  /// The file, in the cache's folder.
  static let name = "lock.host"
  /// Where waiting machines note since when they see the same claim.
  static let watchName = "lock.seen"
  private static let textLimit = 4096

  /// Claims the cache for this machine; the caller holds its `flock`, where the file system has one.
  ///
  /// - Parameters:
  ///   - folder: the cache.
  ///   - holder: what a person understands, such as `larder sync, process 4711`.
  ///   - machine: this machine.
  ///   - isLocked: whether the caller holds the `flock`; without it, a claim of this machine's own kernel may be that
  ///     of a run at work, and counts as another machine's.
  /// - Throws: ``CacheError``, ``CacheError/Code/locked`` when another machine claims it.
  init(
    _ folder: Folder,
    holder: String,
    machine: Machine = Machine(),
    isLocked: Bool = true
  ) throws(CacheError) {
    self.folder = folder
    self.machine = machine
    mine = ClaimText(
      holder: "\(holder) on \(machine.host)",
      boot: machine.boot.isEmpty ? nil : machine.boot,
      pulse: machine.boot.isEmpty ? nil : .init(token: machine.token(), since: machine.now())
    )
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = openat(folder.descriptor, Self.name, flags | O_CREAT | O_EXCL, 0o600)
    if descriptor >= 0 {
      try Self.write(mine, to: descriptor, named: Self.name, in: folder)
      predecessor = nil
      return
    }
    guard errno == EEXIST else {
      throw .system("lock", "\(folder.path)/\(Self.name)", errno: errno)
    }
    let succession = Succession(folder, mine, machine, isLocked: isLocked)
    let standing = succession.standing
    switch standing {
    case .free where succession.claim.pulse == nil || mine.pulse == nil:
      let descriptor = openat(folder.descriptor, Self.name, flags | O_TRUNC)
      guard descriptor >= 0 else {
        throw .system("lock", "\(folder.path)/\(Self.name)", errno: errno)
      }
      try Self.write(mine, to: descriptor, named: Self.name, in: folder)
      predecessor = nil
    case .free, .gone:
      try succession.takeOver()
      predecessor = standing == .gone ? succession.claim : nil
    case .foreign, .silent:
      throw CacheError(
        .locked,
        "cannot change \(folder.path): \(standing.words); "
          + "if nothing runs there, remove \(folder.path)/\(Self.name)"
      )
    }
  }

  /// Writes a claim into an empty file and closes it; what cannot be written whole is removed.
  static func write(
    _ claim: ClaimText,
    to descriptor: Int32,
    named name: String,
    in folder: Folder
  ) throws(CacheError) {
    defer { close(descriptor) }
    let text = claim.text
    let count = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
    guard count == text.utf8.count else {
      let code = count < 0 ? errno : ENOSPC
      unlinkat(folder.descriptor, name, 0)
      throw .system("lock", "\(folder.path)/\(name)", errno: code)
    }
  }

  /// The claim that is there now; nil when there is none that can be read.
  static func text(in folder: Folder) -> String? {
    // A file that was replaced on the server while it was opened is there under the same name.
    folder.text(of: name, limit: textLimit) ?? folder.text(of: name, limit: textLimit)
  }

  /// Renews the claim after an interval, and again and again for as long as it is held.
  ///
  /// Most runs are over before the first time.
  func beatLater() {
    guard let pulse = mine.pulse else { return }
    Self.queue.asyncAfter(deadline: .now() + .seconds(pulse.interval)) { [weak self] in
      guard let self else { return }
      beat()
      beatLater()
    }
  }

  private static let queue = DispatchQueue(label: "larder.claim", qos: .utility)

  /// Renews the claim, if it is still ours.
  ///
  /// Ignores errors. A machine that waits sees only that the claim was not renewed, and ``demandHold()`` reports a
  /// claim that was lost.
  func beat() {
    guard mine.pulse != nil, (try? demandHold()) != nil else { return }
    let descriptor = openat(
      folder.descriptor,
      Self.name,
      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    )
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var claim = mine
    claim.pulse?.beat = state.withLock { state in
      state.beat += 1
      return state.beat
    }
    // The file may have been replaced after `demandHold()` read it and before it was opened: check the token again.
    guard let found = Self.text(in: folder), ClaimText(found).pulse?.token == mine.pulse?.token
    else { return }
    _ = claim.text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    fdatasync(descriptor)
  }

  /// Demands that no other machine has taken the cache over.
  ///
  /// Reads one small file. Called before whatever others see: placing files, and each transaction.
  ///
  /// - Throws: ``CacheError/Code/locked`` from the first time on that it is not so.
  func demandHold() throws(CacheError) {
    // A kernel that does not tell its boot makes claims that nobody takes over.
    guard mine.pulse != nil else { return }
    if let loss = state.withLock({ $0.loss }) { throw loss }
    let text = Self.text(in: folder)
    if let text, ClaimText(text).pulse?.token == mine.pulse?.token { return }
    let other = text.map { ClaimText($0).holder } ?? ""
    let loss = CacheError(
      .locked,
      "cannot change \(folder.path) any more: this run did not renew its claim in time, and "
        + (other.isEmpty ? "another machine" : other)
        + " took the cache over; what was committed stays, run again for the rest"
    )
    state.withLock { $0.loss = $0.loss ?? loss }
    throw loss
  }

  /// Lets other machines have the cache; before the `flock` goes.
  func release() {
    guard (try? demandHold()) != nil else { return }
    unlinkat(folder.descriptor, Self.name, 0)
  }
}
