import Base
import CGlibc
import Glibc
import Synchronization
import SystemPackage

/// A file that is being written and becomes `path` once it is whole; nothing is left of one that does not.
///
/// It has no name until then, where the file system can do without: whatever ends the process, the system removes it.
/// Else, and while it replaces another, it is `.NAME.PID.part` beside that, locked, and what a crash leaves of it the next
/// run removes. One thread at a time appends, and then places it, once.
final class PartFile: Sendable {
  /// The file that it becomes.
  private let path: FilePath
  private let sibling: FilePath
  private let descriptor: Int32
  /// Whether it is to be found as its sibling.
  private let hasName: Atomic<Bool>

  /// Begins the file that is to become `path`; makes the folder if need be.
  ///
  /// - Parameters:
  ///   - path: The file that it becomes.
  ///   - isNamed: Whether it has a name from the beginning.
  /// - Throws: ``ImagingError`` of code `diskFull` or `disk`.
  init(for path: FilePath, isNamed: Bool = false) throws(ImagingError) {
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

  /// The name of the file beside `path`: `.NAME.PID.part`, or a number of this process in place of a name that leaves no
  /// room for that, or that is no UTF-8.
  private static func siblingName(of path: FilePath) -> String {
    let name = path.lastComponent?.withPlatformString { String(validatingCString: $0) } ?? ""
    let sibling = ".\(name).\(getpid()).part"
    guard name.isEmpty || sibling.utf8.count > longestName else { return sibling }
    return ".\(count.add(1, ordering: .relaxed).newValue).\(getpid()).part"
  }

  /// The longest name that Linux takes, in bytes.
  private static let longestName = 255
  private static let count = Atomic(0)

  /// Takes a file that another process has begun, and will place.
  ///
  /// - Parameters:
  ///   - descriptor: The file, which is closed with this.
  ///   - path: The file that it becomes.
  init(begun descriptor: Int32, for path: FilePath) {
    (self.path, sibling, self.descriptor) = (path, path, descriptor)
    hasName = Atomic(false)
  }

  /// Lends the file to another process, which appends to it.
  func lend<Result>(_ body: (Int32) -> Result) -> Result { body(descriptor) }

  /// A new file without a name, which can be given one; nil where there is no such thing.
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

  /// Writes more of the file.
  ///
  /// - Throws: ``ImagingError`` of code `diskFull` or `disk`, which names the file that it was to become.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImagingError) {
    try append(bytes, to: descriptor)
  }

  private func append(
    _ bytes: UnsafeBufferPointer<UInt8>,
    to descriptor: Int32
  ) throws(ImagingError) {
    do throws(SystemError) {
      try Files.write(bytes.span.bytes, to: descriptor)
    } catch {
      throw WholeFile.refusal(path, error.code)
    }
  }

  /// Puts the file on disk, and gives it its name.
  ///
  /// - Parameter overwrite: Whether a file that is there may be replaced.
  /// - Throws: ``ImagingError`` of code `exists`, `diskFull` or `disk`.
  func place(overwrite: Bool) throws(ImagingError) {
    guard fsync(descriptor) == 0 else { throw WholeFile.refusal(path, errno) }
    if !overwrite {
      // A hard link, unlike a rename, never replaces a file that came in the meantime.
      if link(to: path) {
        if hasName.exchange(false, ordering: .relaxed) { removeSibling() }
        return
      }
      // Some file systems have no hard links; there, the check before writing must suffice.
      guard errno != EEXIST else { throw WholeFile.refusal(path, EEXIST) }
    }
    if !hasName.load(ordering: .relaxed) {
      // Left by a process that had the same number.
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

  /// Writes the file once more under its sibling's name, for file systems that give a file no second one.
  private func copyToSibling() throws(ImagingError) {
    let bytes = try bytes()
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let copy = sibling.withPlatformString { open($0, flags, 0o666) }
    guard copy >= 0 else { throw WholeFile.refusal(path, errno) }
    defer { close(copy) }
    hasName.store(true, ordering: .relaxed)
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
      try append(bytes, to: copy)
    }
    guard fsync(copy) == 0 else { throw WholeFile.refusal(path, errno) }
  }

  /// Gives the file one more name; `errno` says why not.
  private func link(to name: FilePath) -> Bool {
    guard !hasName.load(ordering: .relaxed) else {
      return sibling.withPlatformString { sibling in
        name.withPlatformString { Glibc.link(sibling, $0) == 0 }
      }
    }
    // What /proc has is a symbolic link to the file.
    let file = "/proc/self/fd/\(descriptor)"
    return name.withPlatformString {
      linkat(AT_FDCWD, file, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) == 0
    }
  }

  /// All that was written.
  ///
  /// - Throws: ``ImagingError`` of code `disk`.
  func bytes() throws(ImagingError) -> [UInt8] {
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
