import Base
import Glibc
import SystemPackage

/// Puts files on disk whole or not at all.
public enum WholeFile {
  /// Writes `bytes` to `path` so that a crash leaves a whole file or what was there before.
  ///
  /// Writes another file, syncs it, gives it its name, then syncs the folder. Blocks. Makes the folder if
  /// need be.
  ///
  /// - Parameters:
  ///   - bytes: What the file is to hold.
  ///   - path: Where it is to be.
  ///   - overwrite: Whether a file that is there may be replaced.
  ///   - syncsFolder: Whether the name is to be on disk at return; false when the caller sees to it.
  /// - Throws: ``ImagingError``: `exists`, `diskFull` or `disk`. No file was left half written.
  public static func write(
    _ bytes: [UInt8],
    to path: FilePath,
    overwrite: Bool = false,
    syncsFolder: Bool = true
  ) throws(ImagingError) {
    if !overwrite { try checkAbsent(path) }
    let part = try PartFile(for: path)
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in try part.append(bytes) }
    try part.place(overwrite: overwrite)
    if syncsFolder { try sync(path.removingLastComponent()) }
  }

  /// Whether a file is there.
  static func isThere(_ path: FilePath) -> Bool {
    path.withPlatformString { access($0, F_OK) } == 0
  }

  /// Judges whether a file may be written without replacing another.
  static func checkAbsent(_ path: FilePath) throws(ImagingError) {
    guard !isThere(path) else { throw refusal(path, EEXIST) }
  }

  /// Makes a folder and those above it.
  static func makeFolder(_ folder: FilePath) throws(ImagingError) {
    guard !folder.isEmpty, !isThere(folder) else { return }
    try makeFolder(folder.removingLastComponent())
    guard folder.withPlatformString({ mkdir($0, 0o777) }) == 0 || errno == EEXIST else {
      throw refusal(folder, errno)
    }
  }

  /// Removes what runs that were killed left in a folder: siblings whose process is gone, and that no
  /// process of another machine or container holds.
  static func sweep(_ folder: FilePath) {
    let folder = folder.isEmpty ? "." : folder
    let entries = folder.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard entries >= 0 else { return }
    defer { close(entries) }
    for name in (try? Files.names(in: entries)) ?? [] {
      // `.NAME.PID.part`
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count >= 4, parts[0].isEmpty, parts[parts.count - 1] == "part",
        let process = pid_t(parts[parts.count - 2]), process > 0,
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      let path = folder.appending(name)
      let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      let file = path.withPlatformString { open($0, flags) }
      guard file >= 0 else { continue }
      var status = stat()
      if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        flock(file, LOCK_EX | LOCK_NB) == 0
      {
        _ = path.withPlatformString { unlink($0) }
      }
      close(file)
    }
  }

  /// Puts the names in a folder on disk.
  static func sync(_ folder: FilePath) throws(ImagingError) {
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

  /// Why a file cannot be written, by the system's error number.
  static func refusal(_ path: FilePath, _ code: Int32) -> ImagingError {
    switch code {
    case EEXIST:
      ImagingError(
        .exists,
        "cannot write \(path.shown): it is there already",
        remedy: .replace
      )
    case ENOSPC, EDQUOT:
      ImagingError(
        .diskFull,
        "cannot write \(path.shown): no space left on the disk; free some and run again"
      )
    default:
      ImagingError(
        .disk,
        "cannot write \(path.shown): \(ImagingError.words(for: code)); check the folder"
      )
    }
  }
}
