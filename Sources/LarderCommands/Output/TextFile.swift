import Glibc
import SystemPackage
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

  /// Looks whether a file can be put at `path`, before the work that it is to tell of.
  ///
  /// - Throws: ``CommandFailure`` when it cannot.
  static func demandRoom(at path: String) throws {
    guard !path.isEmpty else {
      throw CommandFailure("cannot write a file without a name; name a file", .usage)
    }
    if FileReading.isFolder(path) {
      throw CommandFailure("cannot write \(path): it is a folder; name a file", .usage)
    }
    let folder = FilePath(path).removingLastComponent().string
    guard access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 else {
      throw CommandFailure("cannot write \(path): \(systemWords(errno)); check its folder", .io)
    }
  }

  /// Whether something stands at `path`, be it a link to nothing.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// What to say of a file that would be written over.
  static func refusal(_ path: String) -> CommandFailure {
    CommandFailure(
      "cannot write \(path): it exists, and is not written over; name another with --out",
      .failed
    )
  }

  /// Writes a new file, and never over another.
  ///
  /// - Throws: ``CommandFailure`` when there is one, or it cannot be written; nothing is left then.
  static func create(_ path: String, with text: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw refusal(path) }
      throw CommandFailure("cannot write \(path): \(systemWords(errno)); check its folder", .io)
    }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let code = count == 0 ? ENOSPC : errno
        close(descriptor)
        unlink(path)
        throw CommandFailure("cannot write \(path): \(systemWords(code))", .io)
      }
      rest = rest.dropFirst(count)
    }
    close(descriptor)
  }

  /// The folder that relative paths are relative to.
  static var workingFolder: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}
