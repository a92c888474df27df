import Glibc
import SystemPackage

/// Puts files on disk whole or not at all.
public enum WholeFile {
  /// Writes `bytes` to `path` so that a crash leaves a whole file or what was there before.
  ///
  /// Writes a sibling, syncs it, renames it, then syncs the folder. Blocks. Makes the folder if need
  /// be.
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
    let folder = path.removingLastComponent()
    try makeFolder(folder)
    if !overwrite { try checkAbsent(path) }
    let sibling = folder.appending(".\(path.lastComponent?.string ?? "").\(getpid()).part")
    do throws(ImagingError) {
      try fill(sibling, bytes, for: path)
      try rename(sibling, path, overwrite)
    } catch {
      unlink(sibling.string)
      throw error
    }
    if syncsFolder { try sync(folder) }
  }

  /// Whether a file is there.
  static func isThere(_ path: FilePath) -> Bool { access(path.string, F_OK) == 0 }

  /// Judges whether a file may be written without replacing another.
  static func checkAbsent(_ path: FilePath) throws(ImagingError) {
    guard !isThere(path) else { throw refusal(path, EEXIST) }
  }

  /// Makes a folder and those above it.
  private static func makeFolder(_ folder: FilePath) throws(ImagingError) {
    guard !folder.isEmpty, access(folder.string, F_OK) != 0 else { return }
    try makeFolder(folder.removingLastComponent())
    guard mkdir(folder.string, 0o777) == 0 || errno == EEXIST else {
      throw refusal(folder, errno)
    }
  }

  /// Fills the sibling of `path`, locked so that nobody sweeps it; errors name `path`.
  private static func fill(
    _ sibling: FilePath,
    _ bytes: [UInt8],
    for path: FilePath
  ) throws(ImagingError) {
    let file = open(sibling.string, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard file >= 0 else { throw refusal(path, errno) }
    flock(file, LOCK_EX | LOCK_NB)
    var failure: Int32 = 0
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty, failure == 0 {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = Glibc.write(file, part.baseAddress, part.count)
        if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { failure = errno }
      }
    }
    if failure == 0, fsync(file) != 0 { failure = errno }
    if close(file) != 0, failure == 0 { failure = errno }
    guard failure == 0 else { throw refusal(path, failure) }
  }

  private static func rename(
    _ sibling: FilePath,
    _ path: FilePath,
    _ overwrite: Bool
  ) throws(ImagingError) {
    if !overwrite {
      // A hard link, unlike a rename, never replaces a file that came in the meantime.
      if link(sibling.string, path.string) == 0 {
        unlink(sibling.string)
        return
      }
      // Some file systems have no hard links; there, the check before writing must suffice.
      guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS else {
        throw refusal(path, errno)
      }
    }
    guard Glibc.rename(sibling.string, path.string) == 0 else { throw refusal(path, errno) }
  }

  /// Removes what runs that were killed left in a folder: siblings whose process is gone, and that no
  /// process of another machine or container holds.
  static func sweep(_ folder: FilePath) {
    guard let entries = opendir(folder.isEmpty ? "." : folder.string) else { return }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      // `.NAME.PID.part`
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count >= 4, parts[0].isEmpty, parts[parts.count - 1] == "part",
        let process = pid_t(parts[parts.count - 2]), process > 0,
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      let path = folder.appending(name)
      let file = open(path.string, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard file >= 0 else { continue }
      var status = stat()
      if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        flock(file, LOCK_EX | LOCK_NB) == 0
      {
        unlink(path.string)
      }
      close(file)
    }
  }

  /// Puts the names in a folder on disk.
  static func sync(_ folder: FilePath) throws(ImagingError) {
    let file = open(folder.isEmpty ? "." : folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw refusal(folder, errno) }
    defer { close(file) }
    // Some file systems have nothing to sync in a folder and say so.
    guard fsync(file) == 0 || errno == EINVAL else { throw refusal(folder, errno) }
  }

  private static func refusal(_ path: FilePath, _ code: Int32) -> ImagingError {
    switch code {
    case EEXIST:
      ImagingError(
        .exists,
        "cannot write \(path): it is there already",
        remedy: .replace
      )
    case ENOSPC, EDQUOT:
      ImagingError(
        .diskFull,
        "cannot write \(path): no space left on the disk; free some and run again"
      )
    default:
      ImagingError(
        .disk,
        "cannot write \(path): \(ImagingError.words(for: code)); check the folder"
      )
    }
  }
}
