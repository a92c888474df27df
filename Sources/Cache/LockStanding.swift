import Glibc

/// How the claim that somebody finds in the way stands to who finds it.
enum LockStanding: Equatable {
  /// A run on this machine left it, which cannot be at work any more.
  case free
  /// Another machine wrote it, and there is no telling whether it is at work.
  case foreign(String)
  /// Another machine wrote it, and has not renewed it for so many seconds that this one has watched; nor
  /// since it was made, at a moment in seconds since 1970 by its own clock.
  case silent(String, since: Int64, seconds: Int64, patience: Int64)
  /// Another machine wrote it, and has left out all the renewals that it could.
  case gone

  /// Judges a claim; its text is empty for a moment after the file was made.
  ///
  /// Where the boot of the holder's kernel is ours, the name of the host says nothing: a container that
  /// was started anew has another, and two containers may share one, yet all of them ask the same kernel
  /// for the `flock`, and the caller has it. Where it is another's, equal names say nothing either. Claims
  /// of older larders have the name alone, or no heartbeat: from another machine they are never taken over.
  ///
  /// - Parameters:
  ///   - claim: the claim.
  ///   - host: this machine's name.
  ///   - boot: what this machine's kernel calls its boot; empty when it does not tell.
  ///   - heir: what somebody has written who is taking the claim over; nil when nobody is.
  ///   - seconds: for how long this machine has seen the claim, and the heir's file, unchanged.
  init(
    _ claim: ClaimText,
    host: String,
    boot: String,
    heir: String? = nil,
    unchangedFor seconds: Int64 = 0
  ) {
    let isOurs =
      if let other = claim.boot, !boot.isEmpty {
        other == boot
      } else {
        claim.holder.hasSuffix(" on \(host)")
      }
    if isOurs, heir == nil {
      self = .free
    } else if let pulse = claim.pulse, claim.boot != nil, !boot.isEmpty {
      self =
        seconds >= pulse.patience
        ? .gone
        : .silent(
          claim.holder,
          since: pulse.since,
          seconds: seconds,
          patience: pulse.patience
        )
    } else {
      self = .foreign(claim.holder.isEmpty ? "another machine" : claim.holder)
    }
  }

  /// Who holds the cache, since when, and what is known of its life, for a message.
  var words: String {
    switch self {
    case .free, .gone: "nobody holds it"
    case .foreign(let holder):
      "\(holder) holds it or was killed, which cannot be told over a network file system"
    case .silent(let holder, let since, let seconds, let patience):
      "\(holder) holds it since \(Self.moment(since)) and "
        + (seconds == 0 ? "may be at work" : "gave no sign of life for \(seconds) s")
        + "; try again: once it has given none for \(patience) s, a run takes the cache over"
    }
  }

  /// A moment as RFC 3339 writes it, in seconds since 1970.
  private static func moment(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&time, &parts) != nil else { return "an unknown time" }
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// A holder's line without the name of this machine, which says nothing to who reads it here.
  static func withoutHost(_ text: String) -> String {
    text.hasSuffix(" on \(host)") ? String(text.dropLast(" on \(host)".count)) : text
  }

  /// This machine's name.
  static let host: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "an unknown host" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()

  /// Whether a file lies on a file system that other machines may share.
  static func isShared(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    // Linux packs a device's two numbers as makedev(3) says.
    let device = UInt64(status.st_dev)
    let major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
    let minor = (device & 0xFF) | (device >> 12 & ~0xFF)
    let mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard mounts >= 0 else { return false }
    defer { close(mounts) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while case let count = read(mounts, &buffer, buffer.count), count > 0 {
      text += buffer[..<count]
    }
    let kind = fileSystem(
      ofDevice: "\(major):\(minor)",
      in: String(decoding: text, as: UTF8.self)
    )
    return kind.map { isShared(kind: $0) } ?? false
  }

  /// The kind of file system that a device is mounted as. (proc_pid_mountinfo(5))
  static func fileSystem(ofDevice device: String, in mounts: String) -> String? {
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 4, fields[2] == device, let dash = fields.firstIndex(of: "-"),
        dash + 1 < fields.count
      else { continue }
      return String(fields[dash + 1])
    }
    return nil
  }

  /// Whether other machines may see a file system of that kind.
  static func isShared(kind: String) -> Bool {
    let shared: Set<Substring> = [
      "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "9p", "glusterfs",
      "beegfs", "fuse", "ocfs2", "gfs2",
    ]
    return shared.contains(kind.prefix { $0 != "." })
  }
}
