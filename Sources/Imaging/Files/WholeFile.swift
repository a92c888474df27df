import Base
import CGlibc
import Glibc
import SystemPackage

/// Writes files atomically: a file is written as a whole or not at all.
public enum WholeFile {
  /// Writes `bytes` to `path`; a crash leaves either the whole new file or the old state.
  ///
  /// This writes a temporary file, syncs it, gives it its name, and then syncs the folder. It creates the folder if
  /// necessary. It blocks.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - path: The path of the file.
  ///   - overwrite: Whether an existing file is allowed to be replaced.
  ///   - syncsFolder: Whether the folder is synced before this returns. If not, the caller must sync it.
  /// - Throws: ``LarderError`` of code `exists`, `diskFull` or `disk`. No incomplete file is left.
  public static func write(
    _ bytes: [UInt8],
    to path: FilePath,
    overwrite: Bool = false,
    syncsFolder: Bool = true
  ) throws(LarderError) {
    if !overwrite, isThere(path) { throw refusal(path, EEXIST) }
    let folder = path.removingLastComponent()
    try makeFolder(folder)
    let number = "\(run)-\(UInt64.random(in: 0...UInt64.max))"
    let part = folder.appending(".\(number).\(getpid()).part")
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let file = part.withPlatformString { open($0, flags, 0o666) }
    guard file >= 0 else { throw refusal(path, errno) }
    defer {
      // Once the file has its final name, it does not need this one.
      _ = part.withPlatformString { unlink($0) }
      close(file)
    }
    flock(file, LOCK_EX | LOCK_NB)
    do throws(SystemError) {
      try Files.write(bytes.span.bytes, to: file)
    } catch {
      throw refusal(path, error.code)
    }
    guard fsync(file) == 0, place(part, at: path, overwrite) else { throw refusal(path, errno) }
    if syncsFolder { try sync(folder) }
  }

  /// Gives a temporary file its final name; false, with the reason in `errno`, if that is not possible.
  private static func place(_ part: FilePath, at path: FilePath, _ overwrite: Bool) -> Bool {
    part.withPlatformString { part in
      path.withPlatformString { path in
        // Unlike a rename, a hard link never replaces a file that was created in the meantime. Some file systems have
        // no hard links. On these, the check before writing must suffice.
        if !overwrite, link(part, path) == 0 { return true }
        return (overwrite || errno != EEXIST) && rename(part, path) == 0
      }
    }
  }

  /// Begins the names of this process's temporary files, because a killed run may have had the same PID.
  private static let run = UInt64.random(in: 0...UInt64.max)

  /// Whether a file exists at `path`.
  static func isThere(_ path: FilePath) -> Bool {
    path.withPlatformString { access($0, F_OK) } == 0
  }

  /// Creates a folder, and its parent folders if necessary.
  package static func makeFolder(_ folder: FilePath) throws(LarderError) {
    guard !folder.isEmpty, !isThere(folder) else { return }
    try makeFolder(folder.removingLastComponent())
    guard folder.withPlatformString({ mkdir($0, 0o777) }) == 0 || errno == EEXIST else {
      throw refusal(folder, errno)
    }
  }

  /// Removes the temporary files `.NUMBER-NUMBER.PID.part` that killed runs left in a folder.
  ///
  /// A file is removed if no process has that PID, and if no process on another machine or in another container has
  /// locked the file.
  static func sweep(_ folder: FilePath) {
    let folder = folder.isEmpty ? "." : folder
    for name in (try? Files.names(in: folder.string)) ?? [] {
      // Other programs have temporary files with similar names, such as `.film.2019.part`.
      guard name.hasPrefix("."), name.hasSuffix(".part"),
        let own = name.wholeMatch(of: /\.([0-9]{1,20})-[0-9]{1,20}\.([0-9]{1,10})\.part/),
        let process = pid_t(own.2), process > 0, own.1 != "\(run)",
        process == getpid() || (kill(process, 0) != 0 && errno == ESRCH)
      else { continue }
      let path = folder.appending(name)
      let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      let file = path.withPlatformString { open($0, flags) }
      guard file >= 0 else { continue }
      if flock(file, LOCK_EX | LOCK_NB) == 0 { _ = path.withPlatformString { unlink($0) } }
      close(file)
    }
  }

  /// Syncs a folder, so that the names of its files survive a crash.
  package static func sync(_ folder: FilePath) throws(LarderError) {
    let file = (folder.isEmpty ? "." : folder).withPlatformString {
      open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard file >= 0 else { throw refusal(folder, errno) }
    defer { close(file) }
    do throws(SystemError) {
      try Files.sync(folder: file)
    } catch {
      throw refusal(folder, error.code)
    }
  }

  /// The error for a file that cannot be written; `code` is the system's error number (errno).
  static func refusal(_ path: FilePath, _ code: Int32) -> LarderError {
    switch code {
    case EEXIST:
      LarderError(
        .exists,
        "cannot write \(path.shown): it exists already",
        remedy: .replace
      )
    case ENOSPC, EDQUOT:
      LarderError(
        .diskFull,
        "cannot write \(path.shown): no space left on the disk; free some and run again"
      )
    default:
      LarderError(
        .disk,
        "cannot write \(path.shown): \(systemMessage(code)); check the folder"
      )
    }
  }
}
