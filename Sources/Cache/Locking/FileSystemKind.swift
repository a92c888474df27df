import Glibc

/// What kind of file system a file lies on, and whether other machines may see it.
enum FileSystemKind {
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
    let kind = name(
      ofDevice: "\(major):\(minor)",
      in: String(decoding: text, as: UTF8.self)
    )
    return kind.map { isShared(kind: $0) } ?? false
  }

  /// The kind of file system that a device is mounted as. (proc_pid_mountinfo(5))
  static func name(ofDevice device: String, in mounts: String) -> String? {
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
