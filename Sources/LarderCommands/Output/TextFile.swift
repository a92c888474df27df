import Base
import Glibc
import SystemPackage

/// Small files for other programs to read at any moment.
enum TextFile {
  /// Puts `text` at `path` so that a reader sees the old file or the new one, never half.
  ///
  /// Everybody may read it, regardless of the umask: the collector of metrics is seldom the user who syncs. A device
  /// or a pipe receives the text and is not replaced: `/dev/null` must not become a file because root named it.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written; the old file is then unchanged.
  static func replace(_ path: String, with text: String) throws {
    func failure(_ code: Int32) -> CommandFailure {
      CommandFailure("cannot write \(path): \(systemMessage(code)); check its folder", .io)
    }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      // Without waiting for a reader: a pipe that nobody reads is an error.
      let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure(errno) }
      defer { close(descriptor) }
      _ = fcntl(descriptor, F_SETFL, O_WRONLY)
      do throws(SystemError) {
        try Files.write(Array(text.utf8).span.bytes, to: descriptor)
      } catch {
        throw failure(error.code)
      }
      return
    }
    do throws(SystemError) {
      try Files.replace(path, with: Array(text.utf8).span.bytes, mode: 0o644)
    } catch {
      throw failure(error.code)
    }
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
      throw CommandFailure("cannot write \(path): \(systemMessage(errno)); check its folder", .io)
    }
  }

  /// Whether anything is at `path`, even a broken link.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// The message for a file that would be overwritten.
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
      throw CommandFailure("cannot write \(path): \(systemMessage(errno)); check its folder", .io)
    }
    defer { close(descriptor) }
    do throws(SystemError) {
      try Files.write(Array(text.utf8).span.bytes, to: descriptor)
    } catch {
      unlink(path)
      throw CommandFailure("cannot write \(path): \(systemMessage(error.code))", .io)
    }
  }

  /// The folder that relative paths are relative to.
  static var workingFolder: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}
