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
  /// as another user. If `path` is a link, the file that it leads to is replaced. A device, a pipe, and a file that
  /// `/dev/stdout` leads to, are written to.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written. In that case the old file is unchanged.
  static func replace(_ path: String, with text: String) throws {
    let text = Array(text.utf8)
    do {
      switch place(of: path) {
      case .file(let file): try replaceOwn(file, with: text)
      case .descriptor(let descriptor):
        try Files.write(text.span.bytes, to: descriptor)
      case .device:
        // The call must not wait for a reader. A pipe that nobody reads is an error.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, O_WRONLY | O_APPEND)
        try Files.write(text.span.bytes, to: descriptor)
      }
    } catch let error as SystemError {
      throw failure(path, error.code)
    }
  }

  /// Replaces a file of larder's own, which is no link; see ``replace(_:with:)``.
  static func replaceOwn(_ path: String, with bytes: [UInt8]) throws {
    sweep(path)
    do throws(SystemError) {
      try Files.replace(path, with: bytes.span.bytes, mode: 0o644)
    } catch {
      throw failure(path, error.code)
    }
  }

  /// Where the text for a path goes.
  private enum Place {
    /// A file to replace or to create, which is no link.
    case file(String)
    /// A file that this process has open, as `/dev/stdout` leads to. Replacing it would part the two.
    case descriptor(Int32)
    /// Something else to write to, such as a device or a pipe.
    case device
  }

  private static func place(of path: String) -> Place {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return .device }
    var file = FilePath(path)
    for _ in 0..<40 {
      guard lstat(file.string, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { break }
      let folder = file.removingLastComponent()
      guard let real = realpath(folder.isEmpty ? "." : folder.string, nil) else { break }
      defer { free(real) }
      let base = FilePath(platformString: real)
      if base.starts(with: "/proc") {
        guard base == FilePath("/proc/\(getpid())/fd"),
          let number = file.lastComponent.flatMap({ Int32($0.string) })
        else { return .device }
        return .descriptor(number)
      }
      var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      guard readlink(file.string, &target, Int(PATH_MAX)) > 0 else { break }
      file = base.pushing(FilePath(platformString: target))
    }
    return .file(file.string)
  }

  /// Removes the temporary files `FILE.PID.tmp` that killed runs left more than an hour ago.
  private static func sweep(_ path: String) {
    let path = FilePath(path)
    let folder = path.removingLastComponent()
    let root = open(folder.isEmpty ? "." : folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { return }
    defer { close(root) }
    let start = "\(path.lastComponent?.string ?? "")."
    for name in (try? Files.names(in: root)) ?? [] where name.hasPrefix(start) {
      var status = stat()
      let rest = name.dropFirst(start.count)
      // A process on another machine can have the same folder.
      guard rest.hasSuffix(".tmp"), let process = pid_t(rest.dropLast(4)), process > 0,
        kill(process, 0) != 0, errno == ESRCH,
        fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
        time(nil) - status.st_mtim.tv_sec > 3600
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
    guard case .file(let file) = place(of: path) else { return }
    let folder = FilePath(file).removingLastComponent().string
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
