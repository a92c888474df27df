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
    sibling = folder.appending(".\(path.lastComponent?.string ?? "").\(getpid()).part")
    if !isNamed, let file = Self.unnamed(in: folder) {
      descriptor = file
      hasName = Atomic(false)
      return
    }
    let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    descriptor = open(sibling.string, flags, 0o666)
    hasName = Atomic(descriptor >= 0)
    guard descriptor >= 0 else { throw WholeFile.refusal(path, errno) }
    flock(descriptor, LOCK_EX | LOCK_NB)
  }

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
    let file = larder_unnamed(AT_FDCWD, folder.isEmpty ? "." : folder.string, 0o666)
    guard file >= 0 else { return nil }
    guard access("/proc/self/fd/\(file)", F_OK) == 0 else {
      close(file)
      return nil
    }
    return file
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if hasName.load(ordering: .relaxed) { unlink(sibling.string) }
  }

  /// Writes more of the file.
  ///
  /// - Throws: ``ImagingError`` of code `diskFull` or `disk`, which names the file that it was to become.
  func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImagingError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeBufferPointer(rebasing: rest)
      let count = write(descriptor, part.baseAddress, part.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw WholeFile.refusal(path, errno)
      }
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
        if hasName.exchange(false, ordering: .relaxed) { unlink(sibling.string) }
        return
      }
      // Some file systems have no hard links; there, the check before writing must suffice.
      guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS else {
        throw WholeFile.refusal(path, errno)
      }
    }
    if !hasName.load(ordering: .relaxed) {
      // Left by a process that had the same number.
      unlink(sibling.string)
      guard link(to: sibling) else { throw WholeFile.refusal(path, errno) }
      hasName.store(true, ordering: .relaxed)
    }
    guard rename(sibling.string, path.string) == 0 else { throw WholeFile.refusal(path, errno) }
    hasName.store(false, ordering: .relaxed)
  }

  /// Gives the file one more name; `errno` says why not.
  private func link(to name: FilePath) -> Bool {
    guard !hasName.load(ordering: .relaxed) else {
      return Glibc.link(sibling.string, name.string) == 0
    }
    // What /proc has is a symbolic link to the file.
    let file = "/proc/self/fd/\(descriptor)"
    return linkat(AT_FDCWD, file, AT_FDCWD, name.string, AT_SYMLINK_FOLLOW) == 0
  }

  /// All that was written.
  ///
  /// - Throws: ``ImagingError`` of code `disk`.
  func bytes() throws(ImagingError) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw WholeFile.refusal(path, errno) }
    let size = Int(status.st_size)
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
      while count < size {
        let got = pread(descriptor, room.baseAddress?.advanced(by: count), size - count, count)
        if got < 0, errno == EINTR { continue }
        if got <= 0 {
          failure = got < 0 ? errno : EIO
          return
        }
        count += got
      }
    }
    guard failure == 0 else { throw WholeFile.refusal(path, failure) }
    return bytes
  }
}
