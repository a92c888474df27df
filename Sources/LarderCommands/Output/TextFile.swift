import Base
import Glibc
import SystemPackage

/// Writes small text files, such as metrics and reports, that other programs may read at any time.
enum TextFile {
  /// Replaces a file atomically: a reader sees the old file or the new one, never a part.
  ///
  /// The file is readable by everyone, regardless of the umask, because the collector of metrics usually runs as
  /// another user. If `path` is a device or a pipe, the text is written to it, so that root cannot turn `/dev/null`
  /// into a file.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written; the old file is then unchanged.
  static func replace(_ path: String, with text: String) throws {
    func failure(_ code: Int32) -> CommandFailure {
      CommandFailure("cannot write \(path): \(systemMessage(code)); check its folder", .io)
    }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      // Do not wait for a reader: a pipe that nobody reads is an error.
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

  /// Checks that a file can be written at `path`, before the work that produces its content.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written.
  static func demandRoom(at path: String) throws {
    guard !path.isEmpty else {
      throw CommandFailure("the name of the output file is empty; give one", .usage)
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
      "cannot write \(path): it exists; choose another name with --out",
      .failed
    )
  }

  /// Writes a new file; never overwrites one.
  ///
  /// - Throws: ``CommandFailure`` when the file exists or cannot be written. No partial file is left.
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

  /// The current working folder.
  static var workingFolder: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}
