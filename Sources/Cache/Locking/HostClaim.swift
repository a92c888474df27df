import Base
import CGlibc
import Dispatch
import Glibc
import Synchronization

/// A lease on a cache that several machines share, in the form of the file `lock.host`.
///
/// On a network file system, `flock` may only work between the processes of one machine, so that two machines hold the
/// lock at once. But only one machine can create the file `lock.host`, because the file server decides. (open(2),
/// `O_EXCL`)
///
/// The holder renews its claim every 15 s by writing to the file. Two rules decide when a claim is taken over from a
/// run that was killed:
///
/// - On the same machine, at once, if the caller holds the `flock`. The boot id of the kernel identifies the machine,
///   because two machines can have the same host name.
/// - On another machine, if it has seen no renewal for two minutes by its own monotonic clock. Clocks of different
///   machines are never compared.
///
/// If a holder was suspended for more than two minutes, another machine may have taken over the cache. The holder then
/// finds another token in the file before its next commit, and stops; see ``demandHold()``.
final class HostClaim: Sendable {
  private let folder: Folder
  private let mine: ClaimText
  /// The number of renewals so far.
  private let beats = Atomic(0)
  /// Whether another machine has taken over the cache.
  ///
  /// It stays so: a network file system can show an old file once more.
  private let isLost = Atomic(false)
  /// The claim that was taken over from another machine; nil if there was none.
  let previousHolder: ClaimText?

  /// The name of the claim's file in the cache's folder.
  static let name = "lock.host"
  /// The file in which each waiting machine has a line with the time at which it first saw the present claim; see
  /// ``silence(of:in:_:)``.
  private static let watchName = "lock.seen"
  /// The number of seconds without a renewal after which a claim can be taken over.
  ///
  /// A holder would have renewed its claim eight times meanwhile.
  private static let patience: Int64 = 120
  private static let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

  /// Claims the cache for this machine.
  ///
  /// If the file system supports `flock`, the caller holds it.
  ///
  /// - Parameters:
  ///   - folder: The cache.
  ///   - holder: A line for people that names this process, such as `larder sync, process 4711`.
  ///   - machine: This machine.
  ///   - isLocked: Whether the caller holds the `flock`. If not, even a claim of this machine may belong to a running
  ///     process, so it is treated like the claim of another machine.
  ///   - pause: Called between the steps of a takeover with the number of the step, for tests.
  /// - Throws: ``LarderError/Code/locked`` if another machine has claimed the cache; ``LarderError`` for other errors.
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
    let isContested = folder.kind(of: newOwnerName) != nil
    if found.boot == machine.boot, isLocked, !isContested {
      previousHolder = nil
    } else {
      let newOwner = folder.text(of: newOwnerName, limit: 4096) ?? ""
      try Self.demandSilence(of: text, newOwner, in: folder, machine)
      previousHolder = found
      if isContested { unlinkat(folder.descriptor, newOwnerName, 0) }
    }
    try Self.take(text, by: newOwnerName, mine, in: folder, pause)
  }

  /// Requires that a claim can be taken over: its text is complete, and this machine has seen no renewal for two
  /// minutes.
  ///
  /// - Throws: ``LarderError/Code/locked``. The message names the holder, the time of its claim, and the number of
  ///   seconds without a renewal.
  private static func demandSilence(
    of text: String,
    _ newOwner: String,
    in folder: Folder,
    _ machine: Machine
  ) throws(LarderError) {
    let (claim, taker) = (ClaimText(text), ClaimText(newOwner))
    let found = taker.since == nil ? claim : taker
    var words = found.name
    if claim.since != nil, let since = found.since {
      let seconds = silence(of: "\(text)\u{0}\(newOwner)", in: folder, machine)
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

  /// The number of seconds for which this machine has seen the same state of the claim.
  ///
  /// A run that does not get the cache ends at once, so it cannot wait for two minutes itself. Instead, it records in
  /// `lock.seen` when its machine first saw the state, and later runs read that line. The line is `BOOT SECONDS
  /// DIGEST`, where the digest is that of BOOT, SECONDS and the state.
  ///
  /// A line that is damaged or belongs to another state is ignored. If the clock was set back, the two minutes begin
  /// again. If the line cannot be written, no run can take over the cache, but nothing else fails.
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

  /// Replaces an expired claim in such a way that only one of several competing processes succeeds.
  ///
  /// 1. Create the file `lock.host.after-TOKEN`, where TOKEN is the token of the expired claim. Only one process can
  ///    create it.
  /// 2. Check that the claim is unchanged.
  /// 3. Rename the file over the claim.
  /// 4. Read the claim. The process that finds its own token has the cache.
  ///
  /// If a process dies between these steps, its file expires like a claim. If a process only stalls, another process
  /// may remove its file, or rename a file of its own over the claim. The stalled process then finds another token in
  /// step 4.
  ///
  /// - Throws: ``LarderError/Code/locked`` with the holder's name, if the old holder renewed its claim or another
  ///   process was faster.
  private static func take(
    _ text: String,
    by newOwnerName: String,
    _ mine: ClaimText,
    in folder: Folder,
    _ pause: (Int) -> Void
  ) throws(LarderError) {
    pause(1)
    guard try create(newOwnerName, mine, in: folder) else {
      let now = folder.text(of: newOwnerName, limit: 4096) ?? Self.text(in: folder)
      throw overtaken(by: now, folder)
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
    LarderError(
      .locked,
      "cannot change \(folder.path): \(ClaimText(text).name) has just taken it over; "
        + "try again when its run has ended"
    )
  }

  /// Creates the file of a claim; returns false if the file exists.
  ///
  /// If the file cannot be written completely, it is removed.
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
    do throws(SystemError) {
      try Files.write(Array(claim.text.utf8).span.bytes, to: descriptor)
      return true
    } catch {
      unlinkat(folder.descriptor, name, 0)
      throw .system("lock", path, errno: error.code)
    }
  }

  /// The text of the present claim; empty if it cannot be read.
  private static func text(in folder: Folder) -> String {
    // Try twice, because the first attempt fails if the file is replaced on the server while it is opened.
    folder.text(of: name, limit: 4096) ?? folder.text(of: name, limit: 4096) ?? ""
  }

  private static let queue = DispatchQueue(label: "larder.claim", qos: .utility)

  /// Renews the claim every 15 s until this object is released.
  func beatLater() {
    Self.queue.asyncAfter(deadline: .now() + .seconds(ClaimText.interval)) { [weak self] in
      guard let self else { return }
      beat()
      beatLater()
    }
  }

  /// Renews the claim by writing its text with the next number, if this process still has the claim.
  ///
  /// Errors are ignored. Other machines see that the claim was not renewed, and ``demandHold()`` reports if another
  /// machine took over the cache.
  func beat() {
    let descriptor = openat(folder.descriptor, Self.name, Self.flags)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // Check the token after the file is open. If another file replaces it later, the renewal goes to the old file.
    guard (try? demandHold()) != nil else { return }
    var claim = mine
    claim.beat = beats.add(1, ordering: .relaxed).newValue
    try? Files.write(Array(claim.text.utf8).span.bytes, to: descriptor, at: 0)
    fdatasync(descriptor)
  }

  /// Requires that no other machine has taken over the cache.
  ///
  /// This reads one small file. It is called before files are renamed into place, and before each transaction.
  ///
  /// - Throws: ``LarderError/Code/locked`` if another machine has taken over the cache. From then on, every call
  ///   throws it.
  func demandHold() throws(LarderError) {
    let found = ClaimText(Self.text(in: folder))
    if found.token != mine.token { isLost.store(true, ordering: .relaxed) }
    guard !isLost.load(ordering: .relaxed) else {
      throw LarderError(
        .locked,
        "cannot change \(folder.path) any more: this run did not renew its claim in time, and "
          + "\(found.name) took over the cache; committed work is kept, run again for the rest"
      )
    }
  }

  /// Removes the claim; call it before the `flock` is released.
  func release() {
    guard (try? demandHold()) != nil else { return }
    unlinkat(folder.descriptor, Self.name, 0)
  }

  /// Whether an open file is on a file system that other machines may share.
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

/// The content of the file `lock.host`.
///
/// For example:
///
///     larder sync, process 4711 on pod-1
///     boot 3f2c…
///     claim 8f3a92bc01d4e5f6
///     since 1790000000
///     beat 0000000003 every 15 s
///     end
///
/// If a text differs from this format in any byte, for example because an older or newer version of larder wrote it,
/// it gets no `token` and no `since`. Other machines do not take over such a claim.
struct ClaimText: Equatable, Sendable {
  /// The line that names the claiming process and its host.
  let holder: String
  /// The boot id of the kernel of the holder's machine; nil if the text has none.
  private(set) var boot: String?
  /// Sixteen random hexadecimal digits that identify the claim; empty if the text has another format.
  private(set) var token = ""
  /// The time of the claim by the holder's clock, which is only used in messages; nil if the text has another format.
  private(set) var since: UnixTime?
  /// The number of renewals of the claim so far.
  var beat = 0

  /// The holder for messages.
  var name: String { holder.isEmpty ? "another machine" : holder }

  /// The number of seconds between two renewals.
  static let interval = 15

  /// Makes a claim with a new token.
  init(_ holder: String, boot: String, since: UnixTime) {
    (self.holder, self.boot, self.since) = (holder, boot, since)
    token = Self.newToken()
  }

  /// Parses the text of a claim.
  ///
  /// An empty text has an empty holder.
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

  /// The text of the file.
  ///
  /// It has the same length for each `beat`, so that a renewal overwrites exactly the old text.
  var text: String {
    let count = String(beat)
    let zeros = String(repeating: "0", count: max(0, 10 - count.utf8.count))
    return [
      holder, "boot \(boot ?? "")", "claim \(token)", "since \(since?.seconds ?? 0)",
      "beat \(zeros)\(count) every \(Self.interval) s", "end", "",
    ].joined(separator: "\n")
  }

  static func newToken() -> String {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// The facts about this machine that a claim needs.
///
/// Tests replace them.
struct Machine: Sendable {
  /// The name of the host, for messages.
  var host = Machine.hostName
  /// The boot id of the kernel, or the host's name if there is no boot id.
  var boot = PartialBody.boot.isEmpty ? Machine.hostName : PartialBody.boot
  /// Returns the seconds of the monotonic clock, which counts from the boot.
  var monotonic: @Sendable () -> Int64 = {
    MonotonicTime.now().nanoseconds / 1_000_000_000
  }
  /// Returns the time of the wall clock, which is only shown to people.
  var now: @Sendable () -> UnixTime = UnixTime.now

  /// Removes " on HOST" from the line of a holder if HOST is this machine.
  static func withoutHost(_ text: String) -> String {
    text.hasSuffix(" on \(hostName)") ? String(text.dropLast(" on \(hostName)".count)) : text
  }

  static let hostName: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "an unknown host" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()
}
