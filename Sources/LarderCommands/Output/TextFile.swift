import Base
import Glibc
import SystemPackage

/// Writes small text files, such as metrics and reports, that other programs can read at any time.
enum TextFile {
  /// Replaces a file atomically.
  ///
  /// A reader sees either the old file or the whole new file.
  ///
  /// The file is readable by everyone, regardless of the umask, because the program that collects metrics usually runs
  /// as another user. If `path` is a link, the file that it leads to is replaced. If it is a device or a pipe, the text is
  /// written to it. Otherwise root could replace `/dev/null` or `/dev/stdout` with a file.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written. In that case the old file is unchanged.
  static func replace(_ path: String, with text: String) throws {
    let text = Array(text.utf8)
    var status = stat()
    do throws(SystemError) {
      let isThere = stat(path, &status) == 0
      if !isThere || status.st_mode & S_IFMT == S_IFREG {
        let real = realpath(path, nil)
        defer { free(real) }
        // `/dev/stdout` can lead to a file whose name is gone.
        if !isThere || real != nil {
          let file = real.map { String(cString: $0) } ?? path
          sweep(file)
          return try Files.replace(file, with: text.span.bytes, mode: 0o644)
        }
      }
      // The call must not wait for a reader. A pipe that nobody reads is an error.
      let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError(code: errno) }
      defer { close(descriptor) }
      _ = fcntl(descriptor, F_SETFL, O_WRONLY)
      try Files.write(text.span.bytes, to: descriptor)
    } catch {
      throw failure(path, error.code)
    }
  }

  /// Removes the temporary files `FILE.PID.tmp` of killed runs.
  private static func sweep(_ path: String) {
    let path = FilePath(path)
    let folder = path.removingLastComponent()
    let root = open(folder.isEmpty ? "." : folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { return }
    defer { close(root) }
    let start = "\(path.lastComponent?.string ?? "")."
    for name in (try? Files.names(in: root)) ?? [] where name.hasPrefix(start) {
      let rest = name.dropFirst(start.count)
      guard rest.hasSuffix(".tmp"), let process = pid_t(rest.dropLast(4)), process > 0,
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      unlinkat(root, name, 0)
    }
  }

  private static func failure(_ path: String, _ errno: Int32) -> CommandFailure {
    CommandFailure("cannot write \(path): \(systemMessage(errno)); check its folder", .io)
  }

  /// Checks that a file can be written at `path`.
  ///
  /// Call it before the work that produces the content.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written.
  static func demandRoom(at path: String) throws {
    if FileReading.isFolder(path) {
      throw CommandFailure("cannot write \(path): it is a folder; name a file")
    }
    let folder = FilePath(path).removingLastComponent().string
    guard access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 else {
      throw failure(path, errno)
    }
  }

  /// Whether there is anything at `path`, even a broken link.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// The message for a file that would be overwritten.
  static func refusal(_ path: String) -> CommandFailure {
    CommandFailure("cannot write \(path): it exists; choose another name with --out", .failed)
  }

  /// Writes a new file.
  ///
  /// An existing file is never overwritten.
  ///
  /// - Throws: ``CommandFailure`` when the file exists or cannot be written. No incomplete file is left.
  static func create(_ path: String, with text: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw refusal(path) }
      throw failure(path, errno)
    }
    defer { close(descriptor) }
    do throws(SystemError) {
      try Files.write(Array(text.utf8).span.bytes, to: descriptor)
    } catch {
      unlink(path)
      throw CommandFailure("cannot write \(path): \(systemMessage(error.code))", .io)
    }
  }
}
