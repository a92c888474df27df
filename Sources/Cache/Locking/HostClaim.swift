import Base
import CGlibc
import Dispatch
import Glibc
import Synchronization

/// A lease on a cache that several machines share: the file `lock.host`, renewed every 15 s.
///
/// On a network file system, each machine's kernel may grant `flock` on its own, so that two machines hold it at once.
/// But only one machine can create the claim's file, because the file server decides. (open(2), `O_EXCL`)
///
/// The claim of a killed run is taken over at once on the same machine, if the caller holds the `flock`. The kernel's
/// boot id identifies the machine, even if host names repeat. Another machine takes the claim over after two minutes
/// without a change, by its own monotonic clock. Clocks of different machines are never compared. A holder that was
/// suspended for longer finds another machine's token before its next commit, and stops: ``demandHold()``.
final class HostClaim: Sendable {
  private let folder: Folder
  private let mine: ClaimText
  private let state = Mutex(Heartbeat())
  /// The claim that was taken over from another machine; nil when there was none.
  let previousHolder: ClaimText?

  private struct Heartbeat {
    var beat = 0
    var loss: LarderError?
  }

  /// The name of the claim's file in the cache's folder.
  static let name = "lock.host"
  /// The file in which each waiting machine records, on its own line, since when it has seen the same claim; see
  /// ``silence(of:in:_:)``.
  private static let watchName = "lock.seen"
  /// The lease time: seconds without a renewal after which a holder counts as gone, eight missed renewals.
  private static let patience: Int64 = 120
  private static let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

  /// Claims the cache for this machine; the caller holds the cache's `flock`, if the file system supports it.
  ///
  /// - Parameters:
  ///   - folder: The cache.
  ///   - holder: One line for people, such as `larder sync, process 4711`.
  ///   - machine: This machine.
  ///   - isLocked: Whether the caller holds the `flock`. Otherwise a claim of this machine may belong to a running
  ///     process, and is treated like another machine's.
  ///   - pause: Called between the steps of a takeover with the step's number; for tests.
  /// - Throws: ``LarderError``, ``LarderError/Code/locked`` when another machine claims the cache.
  init(
    _ folder: Folder,
    holder: String,
    machine: Machine = Machine(),
    isLocked: Bool = true,
    pause: (Int) -> Void = { _ in }
  ) throws(LarderError) {
    self.folder = folder
    mine = ClaimText("\(holder) on \(machine.host)", boot: machine.boot, since: machine.now())
    if try Self.create(Self.name, mine, in: folder) {
      previousHolder = nil
      return
    }
    let text = Self.text(in: folder)
    let found = ClaimText(text)
    let newOwnerName = "\(Self.name).after-\(found.token)"
    let newOwner = folder.kind(of: newOwnerName).map { _ in
      folder.text(of: newOwnerName, limit: 4096) ?? ""
    }
    if found.boot == machine.boot, isLocked, newOwner == nil {
      previousHolder = nil
    } else {
      try Self.demandSilence(of: text, newOwner, in: folder, machine)
      previousHolder = found
      if newOwner != nil { unlinkat(folder.descriptor, newOwnerName, 0) }
    }
    try Self.take(text, by: newOwnerName, mine, in: folder, pause)
  }

  /// Requires that a claim's text is complete, and that this machine has seen no renewal for two minutes.
  ///
  /// - Throws: ``LarderError/Code/locked`` with the holder, the time of its claim, and the seconds without a renewal.
  private static func demandSilence(
    of text: String,
    _ newOwner: String?,
    in folder: Folder,
    _ machine: Machine
  ) throws(LarderError) {
    let (claim, taker) = (ClaimText(text), ClaimText(newOwner ?? ""))
    let found = taker.since == nil ? claim : taker
    var words = found.holder.isEmpty ? "another machine" : found.holder
    if claim.since != nil, let since = found.since {
      let seconds = silence(of: "\(text)\u{0}\(newOwner ?? "")", in: folder, machine)
      if seconds >= patience { return }
      words +=
        " has held it since \(since.rfc3339) and "
        + (seconds == 0 ? "may still be running" : "has not renewed its claim for \(seconds) s")
        + "; try again later: after \(patience) s without a renewal, the next run takes over the cache"
    } else {
      words += " is using it or was killed; on a network file system larder cannot tell which"
    }
    throw LarderError(
      .locked,
      "cannot change \(folder.path): \(words); if nothing runs there, remove \(folder.path)/\(name)"
    )
  }

  /// The seconds for which this machine has seen the same state of the claim.
  ///
  /// A run that is refused ends at once. So it records in `lock.seen`, for later runs, when its machine first saw the
  /// state. The line is `BOOT SECONDS DIGEST`, with a digest of BOOT, SECONDS and the state. A line that is damaged or
  /// belongs to another state is ignored. After a clock was set back, the wait begins again. If the line cannot be
  /// written, no run can take the cache over, but nothing else fails.
  private static func silence(
    of state: String,
    in folder: Folder,
    _ machine: Machine
  ) -> Int64 {
    let now = machine.monotonic()
    func line(_ seconds: Int64) -> String {
      let text = "\(machine.boot) \(seconds)"
      return "\(text) \(Hexadecimal.text(ContentDigest.sha256(Array("\(text) \(state)".utf8))))"
    }
    var lines = (folder.text(of: watchName, limit: 16 << 10) ?? "").split(separator: "\n")
      .map(String.init)
    if let noted = lines.first(where: { $0.hasPrefix("\(machine.boot) ") }),
      let seen = Int64(noted.dropFirst(machine.boot.count + 1).prefix { $0 != " " }), seen <= now,
      noted == line(seen)
    {
      return now - seen
    }
    lines.removeAll { $0.hasPrefix("\(machine.boot) ") }
    let text = (lines.suffix(31) + [line(now), ""]).joined(separator: "\n")
    let path = "\(folder.path)/\(watchName)"
    try? Files.replace(
      path,
      with: Array(text.utf8).span.bytes,
      by: "\(path).\(ClaimText.newToken())",
      isDurable: false
    )
    return 0
  }

  /// Replaces an expired claim, so that only one of several competitors succeeds.
  ///
  /// The steps:
  ///
  /// 1. Create the file `lock.host.after-TOKEN`, which only one process can do.
  /// 2. Check that the claim is unchanged.
  /// 3. Rename the file over the claim.
  /// 4. Read the claim: the process that finds its own token has the cache.
  ///
  /// If a process dies during these steps, its file must expire like a claim. If the process only stalls, it finds its
  /// file gone, or renames another process's file, and then reads another token.
  ///
  /// - Throws: ``LarderError/Code/locked`` with the holder, when the old holder renewed its claim, or another process
  ///   was faster.
  private static func take(
    _ text: String,
    by newOwnerName: String,
    _ mine: ClaimText,
    in folder: Folder,
    _ pause: (Int) -> Void
  ) throws(LarderError) {
    pause(1)
    guard try create(newOwnerName, mine, in: folder) else {
      throw overtaken(
        by: folder.text(of: newOwnerName, limit: 4096) ?? Self.text(in: folder),
        folder
      )
    }
    pause(2)
    guard Self.text(in: folder) == text else {
      unlinkat(folder.descriptor, newOwnerName, 0)
      throw overtaken(by: Self.text(in: folder), folder)
    }
    pause(3)
    renameat(folder.descriptor, newOwnerName, folder.descriptor, name)
    pause(4)
    let now = Self.text(in: folder)
    guard ClaimText(now).token == mine.token else { throw overtaken(by: now, folder) }
    unlinkat(folder.descriptor, watchName, 0)
  }

  private static func overtaken(by text: String, _ folder: Folder) -> LarderError {
    let holder = ClaimText(text).holder
    return LarderError(
      .locked,
      "cannot change \(folder.path): \(holder.isEmpty ? "another machine" : holder) has just taken it over; "
        + "try again when its run has ended"
    )
  }

  /// Creates the file of a claim; false when it exists.
  ///
  /// A file that cannot be written completely is removed.
  private static func create(
    _ name: String,
    _ claim: ClaimText,
    in folder: Folder
  ) throws(LarderError) -> Bool {
    let path = "\(folder.path)/\(name)"
    let descriptor = openat(folder.descriptor, name, flags | O_CREAT | O_EXCL, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return false }
      throw .system("lock", path, errno: errno)
    }
    defer { close(descriptor) }
    let text = claim.text
    let count = text.withCString { write(descriptor, $0, strlen($0)) }
    guard count == text.utf8.count else {
      let code = count < 0 ? errno : ENOSPC
      unlinkat(folder.descriptor, name, 0)
      throw .system("lock", path, errno: code)
    }
    return true
  }

  /// The text of the present claim; empty when it cannot be read.
  private static func text(in folder: Folder) -> String {
    // Tried twice, because an attempt fails if the file is replaced on the server while it is being opened.
    folder.text(of: name, limit: 4096) ?? folder.text(of: name, limit: 4096) ?? ""
  }

  private static let queue = DispatchQueue(label: "larder.claim", qos: .utility)

  /// Renews the claim every 15 s, for as long as it is held; most runs end before the first renewal.
  func beatLater() {
    Self.queue.asyncAfter(deadline: .now() + .seconds(ClaimText.interval)) { [weak self] in
      guard let self else { return }
      beat()
      beatLater()
    }
  }

  /// Overwrites the claim's file with the next beat, if this process still has the claim.
  ///
  /// Ignores errors. A machine that waits sees only that the claim was not renewed, and ``demandHold()`` reports that
  /// another machine took the cache over.
  func beat() {
    guard (try? demandHold()) != nil else { return }
    let descriptor = openat(folder.descriptor, Self.name, Self.flags)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var claim = mine
    claim.beat = state.withLock { state in
      state.beat += 1
      return state.beat
    }
    // The file may have been replaced after `demandHold()` read it and before it was opened: check the token again.
    guard ClaimText(Self.text(in: folder)).token == mine.token else { return }
    _ = claim.text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    fdatasync(descriptor)
  }

  /// Requires that no other machine has taken the cache over.
  ///
  /// Reads one small file. Called before files are renamed into place, and before each transaction.
  ///
  /// - Throws: ``LarderError/Code/locked`` when another machine has taken the cache over; every later call throws it
  ///   too.
  func demandHold() throws(LarderError) {
    if let loss = state.withLock({ $0.loss }) { throw loss }
    let found = ClaimText(Self.text(in: folder))
    if found.token == mine.token { return }
    let loss = LarderError(
      .locked,
      "cannot change \(folder.path) any more: this run did not renew its claim in time, and "
        + (found.holder.isEmpty ? "another machine" : found.holder)
        + " took over the cache; committed work is kept, run again for the rest"
    )
    state.withLock { $0.loss = $0.loss ?? loss }
    throw loss
  }

  /// Removes the claim; to be called before the `flock` is released.
  func release() {
    guard (try? demandHold()) != nil else { return }
    unlinkat(folder.descriptor, Self.name, 0)
  }

  /// Whether a file is on a file system that other machines may share.
  static func isNeeded(_ descriptor: Int32) -> Bool {
    var system = statfs()
    return fstatfs(descriptor, &system) == 0 && isShared(Int(system.f_type))
  }

  /// Whether a file system with this magic number may be shared with other machines. (statfs(2))
  static func isShared(_ kind: Int) -> Bool {
    let shared = [
      0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B,  // NFS, CIFS, SMB 2 and 3, SMB
      0x5346_414F, 0x6B41_4653, 0x00C3_6400, 0x0BD0_0BD0,  // AFS, the kernel's AFS, Ceph, Lustre
      0x4750_4653, 0x0102_1997, 0x1983_0326, 0x6573_5546,  // GPFS, 9P, BeeGFS, FUSE
      0x7461_636F, 0x0116_1970,  // OCFS2, GFS2
    ]
    return shared.contains(kind)
  }
}

/// The text of `lock.host`.
///
///     larder sync, process 4711 on pod-1
///     boot 3f2c…
///     claim 8f3a92bc01d4e5f6
///     since 1790000000
///     beat 0000000003 every 15 s
///     end
///
/// A text that differs from this format in any byte, for example from an older or newer larder, gets no `token` and no
/// `since`. Such a claim is not taken over from another machine.
struct ClaimText: Equatable, Sendable {
  /// The claiming process and its host; one line.
  let holder: String
  /// The boot id of the holder's kernel; nil when the text has none.
  private(set) var boot: String?
  /// 16 random hexadecimal digits that identify the claim.
  private(set) var token = ""
  /// The time of the claim by the holder's clock; for messages only.
  private(set) var since: UnixTime?
  /// The number of renewals.
  var beat = 0

  /// The seconds between renewals.
  static let interval = 15

  /// Makes a claim with a new token.
  init(_ holder: String, boot: String, since: UnixTime) {
    (self.holder, self.boot, self.since) = (holder, boot, since)
    token = Self.newToken()
  }

  /// Parses the text of a claim; an empty text gives an empty holder.
  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    func value(_ place: Int, _ key: String) -> Substring? {
      guard place < lines.count, lines[place].hasPrefix(key) else { return nil }
      return lines[place].dropFirst(key.count)
    }
    holder = String(lines[0])
    boot = value(1, "boot ").flatMap { $0.isEmpty ? nil : String($0) }
    guard boot != nil, let token = value(2, "claim "), token.utf8.count == 16,
      token.allSatisfy({ $0.isHexDigit && !$0.isUppercase }),
      let since = value(3, "since ").flatMap({ Int64($0) }),
      let beat = value(4, "beat ").flatMap({ Int($0.prefix { $0 != " " }) })
    else { return }
    (self.token, self.since, self.beat) = (String(token), UnixTime(since), beat)
    if self.text != text { (self.token, self.since) = ("", nil) }
  }

  /// The text of the file; its length is the same for every beat, so that a renewal overwrites exactly the old text.
  var text: String {
    let count = String(beat)
    let zeros = String(repeating: "0", count: max(0, 10 - count.utf8.count))
    return [
      holder, "boot \(boot ?? "")", "claim \(token)", "since \(since?.seconds ?? 0)",
      "beat \(zeros)\(count) every \(Self.interval) s", "end", "",
    ].joined(separator: "\n")
  }

  /// Sixteen random hexadecimal digits.
  static func newToken() -> String {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// The facts about a machine that a claim depends on; replaced in tests.
struct Machine: Sendable {
  /// The host's name.
  var host = Machine.hostName
  /// The boot id of this machine's kernel; the host's name when it is not available.
  var boot = PartialBody.boot.isEmpty ? Machine.hostName : PartialBody.boot
  /// The seconds of the monotonic clock, which counts from the boot.
  var monotonic: @Sendable () -> Int64 = {
    MonotonicTime.now().nanoseconds / 1_000_000_000
  }
  /// The wall clock, for people.
  var now: @Sendable () -> UnixTime = UnixTime.now

  /// A holder's line without " on HOST", if HOST is this machine.
  static func withoutHost(_ text: String) -> String {
    text.hasSuffix(" on \(hostName)") ? String(text.dropLast(" on \(hostName)".count)) : text
  }

  /// This machine's name.
  static let hostName: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "an unknown host" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()
}
