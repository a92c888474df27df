import Base
import CGlibc
import Glibc
import Synchronization
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
    if !overwrite { try checkAbsent(path) }
    let part = try PartFile(for: path)
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in try part.append(bytes) }
    try part.place(overwrite: overwrite)
    if syncsFolder { try sync(path.removingLastComponent()) }
  }

  /// Whether a file exists at `path`.
  static func isThere(_ path: FilePath) -> Bool {
    path.withPlatformString { access($0, F_OK) } == 0
  }

  /// Checks that there is no file at `path` that writing would replace.
  static func checkAbsent(_ path: FilePath) throws(LarderError) {
    guard !isThere(path) else { throw refusal(path, EEXIST) }
  }

  /// Creates a folder, and its parent folders if necessary.
  static func makeFolder(_ folder: FilePath) throws(LarderError) {
    guard !folder.isEmpty, !isThere(folder) else { return }
    try makeFolder(folder.removingLastComponent())
    guard folder.withPlatformString({ mkdir($0, 0o777) }) == 0 || errno == EEXIST else {
      throw refusal(folder, errno)
    }
  }

  /// Removes the temporary files `.NAME.PID.part` that killed runs left in a folder.
  ///
  /// A file is removed if no process has that PID, and if no process on another machine or in another container has
  /// locked the file.
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

  /// Syncs a folder, so that the names of its files survive a crash.
  static func sync(_ folder: FilePath) throws(LarderError) {
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
/// If the file system allows it, the temporary file has no name at first, so that it disappears even if the process is
/// killed. ``place(overwrite:)`` gives it the final name. On other file systems, and while an existing file is
/// replaced, the temporary file is a locked file `.NAME.PID.part` in the same folder; the next run removes it after a
/// crash. Append on one thread at a time, and then call ``place(overwrite:)`` once.
final class PartFile: Sendable {
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
  private let sibling: FilePath
  private let descriptor: Int32
  private let hasName: Atomic<Bool>

  /// Creates the temporary file for `path`, and its folder if necessary.
  ///
  /// - Parameters:
  ///   - path: The path of the final file.
  ///   - isNamed: Whether the temporary file has the name `.NAME.PID.part` from the beginning.
  /// - Throws: ``LarderError`` of code `diskFull` or `disk`.
  init(for path: FilePath, isNamed: Bool = false) throws(LarderError) {
    let folder = path.removingLastComponent()
    try WholeFile.makeFolder(folder)
    self.path = path
    sibling = folder.appending(Self.siblingName(of: path))
    if !isNamed, let file = Self.unnamed(in: folder) {
      descriptor = file
      hasName = Atomic(false)
      return
    }
    let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    descriptor = sibling.withPlatformString { open($0, flags, 0o666) }
    hasName = Atomic(descriptor >= 0)
    guard descriptor >= 0 else { throw WholeFile.refusal(path, errno) }
    flock(descriptor, LOCK_EX | LOCK_NB)
  }

  /// The name of the temporary file for `path`: `.NAME.PID.part`.
  ///
  /// NAME is the name of the final file. If that name is too long or is not UTF-8, NAME is a counter.
  private static func siblingName(of path: FilePath) -> String {
    let name = path.lastComponent?.withPlatformString { String(validatingCString: $0) } ?? ""
    let sibling = ".\(name).\(getpid()).part"
    guard name.isEmpty || sibling.utf8.count > longestName else { return sibling }
    return ".\(count.add(1, ordering: .relaxed).newValue).\(getpid()).part"
  }

  /// The longest file name that Linux accepts, in bytes.
  private static let longestName = 255
  private static let count = Atomic(0)

  /// Takes over a temporary file that another process has created, and to which that process will give its final name.
  ///
  /// - Parameters:
  ///   - descriptor: The file. It is closed when this object is freed.
  ///   - path: The path of the final file.
  init(begun descriptor: Int32, for path: FilePath) {
    (self.path, sibling, self.descriptor) = (path, path, descriptor)
    hasName = Atomic(false)
  }

  /// Calls `body` with the descriptor, so that another process can append to the file.
  func lend(_ body: (Int32) throws(WorkerLoss) -> Void) throws(WorkerLoss) {
    try body(descriptor)
  }

  /// Creates a file without a name, which can get a name later; nil if the system cannot do that.
  private static func unnamed(in folder: FilePath) -> Int32? {
    let file = (folder.isEmpty ? "." : folder).withPlatformString {
      larder_unnamed(AT_FDCWD, $0, 0o666)
    }
    guard file >= 0 else { return nil }
    guard access("/proc/self/fd/\(file)", F_OK) == 0 else {
      close(file)
      return nil
    }
    return file
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if hasName.load(ordering: .relaxed) { removeSibling() }
  }

  /// Appends bytes.
  ///
  /// - Throws: ``LarderError`` of code `diskFull` or `disk`, with the path of the final file.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(LarderError) {
    try append(bytes, to: descriptor)
  }

  private func append(
    _ bytes: UnsafeBufferPointer<UInt8>,
    to descriptor: Int32
  ) throws(LarderError) {
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
    if !overwrite {
      // Unlike a rename, a hard link never replaces a file that was created in the meantime.
      if link(to: path) {
        if hasName.exchange(false, ordering: .relaxed) { removeSibling() }
        return
      }
      // Some file systems have no hard links. On these, the check before writing must suffice.
      guard errno != EEXIST else { throw WholeFile.refusal(path, EEXIST) }
    }
    if !hasName.load(ordering: .relaxed) {
      // The name may belong to a file that an earlier process with the same PID has left.
      removeSibling()
      if !link(to: sibling) { try copyToSibling() }
      hasName.store(true, ordering: .relaxed)
    }
    let isPlaced = sibling.withPlatformString { sibling in
      path.withPlatformString { rename(sibling, $0) == 0 }
    }
    guard isPlaced else { throw WholeFile.refusal(path, errno) }
    hasName.store(false, ordering: .relaxed)
  }

  private func removeSibling() { _ = sibling.withPlatformString { unlink($0) } }

  /// Copies the file to the name `.NAME.PID.part`, because some file systems have no hard links.
  private func copyToSibling() throws(LarderError) {
    let bytes = try bytes()
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let copy = sibling.withPlatformString { open($0, flags, 0o666) }
    guard copy >= 0 else { throw WholeFile.refusal(path, errno) }
    defer { close(copy) }
    hasName.store(true, ordering: .relaxed)
    try bytes.withUnsafeBufferPointer { (bytes) throws(LarderError) in
      try append(bytes, to: copy)
    }
    guard fsync(copy) == 0 else { throw WholeFile.refusal(path, errno) }
  }

  /// Gives the file another name by a hard link.
  ///
  /// Returns false and sets `errno` if that fails.
  private func link(to name: FilePath) -> Bool {
    guard !hasName.load(ordering: .relaxed) else {
      return sibling.withPlatformString { sibling in
        name.withPlatformString { Glibc.link(sibling, $0) == 0 }
      }
    }
    // The entry in /proc is a symbolic link to the file.
    let file = "/proc/self/fd/\(descriptor)"
    return name.withPlatformString {
      linkat(AT_FDCWD, file, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) == 0
    }
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

  static func == (left: EncodedFile, right: EncodedFile) -> Bool {
    switch (left, right) {
    case (.held(let left), .held(let right)): left == right
    case (.waiting(let left), .waiting(let right)): left === right
    default: false
    }
  }
}
