import Glibc
import Transport

extension Folder {
  /// The text of a small regular file; nil when there is none, or it has `limit` bytes or more.
  ///
  /// Follows no link, and waits for no pipe's other end.
  func text(of name: String, limit: Int) -> String? {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = openat(self.descriptor, name, flags)
    guard descriptor >= 0 else { return nil }
    let file = OpenFile(name, in: self, descriptor: descriptor)
    guard let stamp = stamp(of: name), stamp.bytes < ByteCount(limit) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(stamp.bytes.count))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      filled += count
    }
    withExtendedLifetime(file) {}
    return filled > 0 ? String(decoding: bytes[..<filled], as: UTF8.self) : nil
  }
}
