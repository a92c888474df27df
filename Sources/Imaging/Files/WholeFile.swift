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
    guard overwrite || !isThere(path) else { throw refusal(path, EEXIST) }
    let part = try PartFile(for: path)
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in try part.append(bytes) }
    try part.place(overwrite: overwrite)
    if syncsFolder { try sync(path.removingLastComponent()) }
  }

  /// Begins the names of this process's temporary files, because a killed run may have had the same PID.
  fileprivate static let run = UInt64.random(in: 0...UInt64.max)

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

/// A temporary file that gets its final name once it is complete, and is deleted otherwise.
///
/// It is a locked file `.NUMBER-NUMBER.PID.part` in the folder of the final file; the next run removes it after a crash.
/// Append on one thread at a time, and then call ``place(overwrite:)`` once.
final class PartFile: Sendable, Equatable {
  /// Creates a temporary file at the moment at which it is needed.
  ///
  /// It is created by this process or, for a worker, by the process that started it.
  typealias Opening = @Sendable () throws(LarderError) -> PartFile

  /// Returns a function that creates the temporary file for `path` in this process.
  static func opening(_ path: FilePath) -> Opening {
    { () throws(LarderError) in try PartFile(for: path) }
  }

  /// The path of the final file.
  private let path: FilePath
  /// The path of the temporary file; nil if another process gives it its final name.
  private let sibling: FilePath?
  /// The open temporary file; another process can append to it while this object exists.
  let descriptor: Int32

  /// Creates the temporary file for `path`, and its folder if necessary.
  ///
  /// - Throws: ``LarderError`` of code `diskFull` or `disk`.
  init(for path: FilePath) throws(LarderError) {
    let folder = path.removingLastComponent()
    try WholeFile.makeFolder(folder)
    let number = "\(WholeFile.run)-\(UInt64.random(in: 0...UInt64.max))"
    let sibling = folder.appending(".\(number).\(getpid()).part")
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = sibling.withPlatformString { open($0, flags, 0o666) }
    guard descriptor >= 0 else { throw WholeFile.refusal(path, errno) }
    flock(descriptor, LOCK_EX | LOCK_NB)
    (self.path, self.sibling, self.descriptor) = (path, sibling, descriptor)
  }

  /// Takes over a temporary file that another process has created, and to which that process will give its final name.
  ///
  /// - Parameters:
  ///   - descriptor: The file. It is closed when this object is freed.
  ///   - path: The path of the final file.
  init(begun descriptor: Int32, for path: FilePath) {
    (self.path, sibling, self.descriptor) = (path, nil, descriptor)
  }

  static func == (left: PartFile, right: PartFile) -> Bool { left === right }

  deinit {
    close(descriptor)
    // Once the file has its final name, no file has this name.
    _ = sibling?.withPlatformString { unlink($0) }
  }

  /// Appends bytes.
  ///
  /// - Throws: ``LarderError`` of code `diskFull` or `disk`, with the path of the final file.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(LarderError) {
    do throws(SystemError) {
      try Files.write(bytes.span.bytes, to: descriptor)
    } catch {
      throw WholeFile.refusal(path, error.code)
    }
  }

  /// Syncs the file, and gives it its final name.
  ///
  /// - Parameter overwrite: Whether an existing file is allowed to be replaced.
  /// - Throws: ``LarderError`` of code `exists`, `diskFull` or `disk`.
  func place(overwrite: Bool) throws(LarderError) {
    guard fsync(descriptor) == 0 else { throw WholeFile.refusal(path, errno) }
    let isPlaced = sibling?.withPlatformString { sibling in
      path.withPlatformString { path in
        // Unlike a rename, a hard link never replaces a file that was created in the meantime. Some file systems have
        // no hard links. On these, the check before writing must suffice.
        if !overwrite, link(sibling, path) == 0 {
          unlink(sibling)
          return true
        }
        return (overwrite || errno != EEXIST) && rename(sibling, path) == 0
      }
    }
    guard isPlaced == true else { throw WholeFile.refusal(path, errno) }
  }

  /// Reads all bytes that were written.
  ///
  /// - Throws: ``LarderError`` of code `disk`.
  func bytes() throws(LarderError) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw WholeFile.refusal(path, errno) }
    let size = Int(status.st_size)
    do throws(SystemError) {
      let bytes = try Files.bytes(of: descriptor, size, at: 0)
      guard bytes.count == size else { throw SystemError(code: EIO) }
      return bytes
    } catch {
      throw WholeFile.refusal(path, error.code)
    }
  }
}

/// The encoded file of a picture, in memory or on the disk.
///
/// Only a large file that is made for an output is on the disk.
enum EncodedFile: Sendable, Equatable {
  /// The bytes of the file.
  case held([UInt8])
  /// A temporary file, which does not have its final name yet.
  case waiting(PartFile)

  /// The bytes of the file; a temporary file is read from the disk.
  ///
  /// - Throws: ``LarderError`` of code `disk`.
  func bytes() throws(LarderError) -> [UInt8] {
    switch self {
    case .held(let bytes): bytes
    case .waiting(let part): try part.bytes()
    }
  }

  /// Writes the file to `path`, as ``WholeFile/write(_:to:overwrite:syncsFolder:)`` does.
  ///
  /// A temporary file ignores `path`, and gets the name for which it was created.
  func write(to path: FilePath, overwrite: Bool) throws(LarderError) {
    switch self {
    case .held(let bytes):
      try WholeFile.write(bytes, to: path, overwrite: overwrite, syncsFolder: false)
    case .waiting(let part): try part.place(overwrite: overwrite)
    }
  }
}
