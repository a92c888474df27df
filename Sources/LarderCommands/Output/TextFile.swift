import Glibc
import Transport

/// Small files for other programs to read at any moment.
enum TextFile {
  /// Puts `text` at `path` so that a reader sees the old file or the new one, never half.
  ///
  /// Everybody may read it, whatever the umask: who collects metrics is seldom who syncs.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written; the old file then stands.
  static func replace(_ path: String, with text: String) throws {
    let temporary = "\(path).\(getpid()).tmp"
    func failure(_ code: Int32) -> CommandFailure {
      unlink(temporary)
      let words = systemWords(code)
      return CommandFailure("cannot write \(path): \(words); check its folder", .io)
    }
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    let descriptor = open(temporary, flags, 0o644)
    guard descriptor >= 0 else { throw failure(errno) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let code = count == 0 ? ENOSPC : errno
        close(descriptor)
        throw failure(code)
      }
      rest = rest.dropFirst(count)
    }
    guard fchmod(descriptor, 0o644) == 0, fsync(descriptor) == 0 else {
      let code = errno
      close(descriptor)
      throw failure(code)
    }
    guard close(descriptor) == 0, rename(temporary, path) == 0 else { throw failure(errno) }
  }
}
