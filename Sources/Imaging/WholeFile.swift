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
      try fill(sibling, bytes)
      try rename(sibling, path, overwrite)
    } catch {
      unlink(sibling.string)
      throw error
    }
    if syncsFolder { try sync(folder) }
  }

  /// Judges whether a file may be written without replacing another.
  static func checkAbsent(_ path: FilePath) throws(ImagingError) {
    guard access(path.string, F_OK) != 0 else { throw refusal(path, EEXIST) }
  }

  /// Makes a folder and those above it.
  private static func makeFolder(_ folder: FilePath) throws(ImagingError) {
    guard !folder.isEmpty, access(folder.string, F_OK) != 0 else { return }
    try makeFolder(folder.removingLastComponent())
    guard mkdir(folder.string, 0o777) == 0 || errno == EEXIST else {
      throw refusal(folder, errno)
    }
  }

  private static func fill(_ path: FilePath, _ bytes: [UInt8]) throws(ImagingError) {
    let file = open(path.string, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard file >= 0 else { throw refusal(path, errno) }
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
      // A second name, unlike a rename, never replaces a file that came in the meantime.
      if link(sibling.string, path.string) == 0 {
        unlink(sibling.string)
        return
      }
      // Some file systems have no second names; the look before writing has to do for them.
      guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS else {
        throw refusal(path, errno)
      }
    }
    guard Glibc.rename(sibling.string, path.string) == 0 else { throw refusal(path, errno) }
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
        "cannot write \(path): it is there already; add --force to replace it"
      )
    case ENOSPC, EDQUOT:
      ImagingError(
        .diskFull,
        "cannot write \(path): no space left on the disk; free some and run again"
      )
    default:
      ImagingError(.disk, "cannot write \(path): \(ImagingError.words(for: code))")
    }
  }
}
