import Glibc

/// What the file of a ``HostClaim`` says to who finds it there.
enum LockStanding: Equatable {
  /// A run on this machine left it, which cannot be at work any more.
  case free
  /// Another machine wrote it, and may still be at work.
  case foreign(String)

  /// Judges the file's text; it is empty for a moment after the file was made.
  ///
  /// A second line names the boot of the kernel that the holder ran on. Where it is ours, the name of the
  /// host says nothing: a container that was started anew has another, and two containers may share one,
  /// yet all of them ask the same kernel for the `flock`, and the caller has it. Where it is another's,
  /// equal names say nothing either. Claims of older larders have the name alone.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - host: this machine's name.
  ///   - boot: what this machine's kernel calls its boot; empty when it does not tell.
  init(text: String, host: String, boot: String) {
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let line = lines.first.map(String.init) ?? ""
    let isOurs =
      lines.count > 1 && !boot.isEmpty
      ? lines[1] == "boot \(boot)" : line.hasSuffix(" on \(host)")
    self = isOurs ? .free : .foreign(line.isEmpty ? "another machine" : line)
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
