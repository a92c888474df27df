import Base
import CGlibc
import Glibc
import Synchronization

/// The operations on files that the cache needs to commit pictures.
///
/// Nearly every operation is a single system call.
///
/// They are in a protocol, so that a test can make each operation fail in turn. The test then checks that the reopened
/// cache is whole.
///
/// All calls block. A failed sync is never retried, because the kernel may have discarded the data that it could not
/// write. Instead, the caller removes the file and fetches it again.
package protocol Disk: Sendable {
  /// Creates the empty file `name` in `folder` for writing.
  ///
  /// If the file exists, it is truncated.
  func create(_ name: String, in folder: Folder) throws(LarderError) -> OpenFile
  /// Opens the file `name` in `folder`, truncates it to its first `size` bytes, and prepares to append to them.
  ///
  /// Fails if the file is not a regular file, or if it has fewer than `size` bytes.
  func reopen(_ name: String, in folder: Folder, keeping size: ByteCount) throws(LarderError)
    -> OpenFile
  /// Appends all of `bytes` to the file.
  func append(_ bytes: RawSpan, to file: OpenFile) throws(LarderError)
  /// Sets the file's modification time.
  func setModified(_ time: UnixTime, of file: OpenFile) throws(LarderError)
  /// Syncs the file's bytes and size to the device.
  func sync(_ file: OpenFile) throws(LarderError)
  /// Renames `name` atomically, replacing an existing file.
  func rename(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError)
  /// Creates a hard link named `new` to the file `name`.
  ///
  /// - Returns: Whether the link was created. It is false after any failure.
  func link(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError) -> Bool
  /// Removes the file `name`.
  ///
  /// Does nothing if the file does not exist.
  func remove(_ name: String, in folder: Folder) throws(LarderError)
  /// Syncs the names of the folder's files to the device.
  func sync(_ folder: Folder) throws(LarderError)
}

/// An open folder, which is closed when this object is released.
package final class Folder: Sendable {
  /// The path of the folder, for messages.
  package let path: String
  let descriptor: Int32

  /// Opens the folder at `path`.
  ///
  /// If `creating` is true, a missing folder is created with mode 0700.
  ///
  /// If the path is a symbolic link, it is refused, because an attacker could plant a link to another folder. Only a
  /// path that the user named is allowed to be a link.
  ///
  /// - Parameters:
  ///   - path: The folder's path.
  ///   - creating: Whether to create the folder if it does not exist.
  ///   - isNamed: Whether the user named this path, so that it is allowed to be a link.
  /// - Throws: ``LarderError`` when the folder cannot be created or opened.
  package init(path: String, creating: Bool, isNamed: Bool = false) throws(LarderError) {
    if creating, mkdir(path, 0o700) != 0, errno != EEXIST {
      throw .system("make", path, errno: errno)
    }
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isNamed ? 0 : O_NOFOLLOW)
    descriptor = open(path, flags)
    guard descriptor >= 0 else { throw .system("open", path, errno: errno) }
    self.path = path
  }

  /// Opens the subfolder `name` of `parent`.
  ///
  /// A symbolic link is refused.
  ///
  /// This works even if `parent` was moved after it was opened.
  init(_ name: String, in parent: Folder) throws(LarderError) {
    path = "\(parent.path)/\(name)"
    descriptor = openat(
      parent.descriptor,
      name,
      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
    )
    guard descriptor >= 0 else { throw .system("open", path, errno: errno) }
  }

  deinit { close(descriptor) }
}

/// An open file, which is closed when this object is released.
package final class OpenFile: Sendable {
  /// The path of the file, for messages.
  package let path: String
  let descriptor: Int32

  /// Takes ownership of a descriptor.
  package init(_ path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}

/// The inode, size and modification time of a file, which the index stores.
///
/// If the stamp of a file differs from the stored stamp, the file was replaced or changed.
package struct FileStamp: Hashable, Sendable {
  /// The inode number, which changes when another file is renamed to this name.
  package var inode: Int64
  /// The size in bytes.
  package var bytes: ByteCount
  /// The modification time, to the second.
  package var modified: UnixTime

  /// Whether the file that has this stamp in the index was changed in place, which larder never does.
  package func isSpoiled(_ found: FileStamp) -> Bool {
    inode == found.inode && bytes != found.bytes
  }

  /// Makes a stamp from its parts.
  package init(inode: Int64, bytes: ByteCount, modified: UnixTime) {
    self.inode = inode
    self.bytes = bytes
    self.modified = modified
  }
}

/// The file operations of the operating system.
package struct SystemDisk: Disk {
  /// Whether files and folders are synced; only tests set it to false, to save time.
  private let durable: Bool

  /// Makes a disk.
  ///
  /// Only tests set `durable` to false.
  package init(durable: Bool = true) {
    self.durable = durable
  }

  /// Creates the file with `openat`, and follows no link.
  package func create(_ name: String, in folder: Folder) throws(LarderError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    let descriptor = openat(folder.descriptor, name, flags, 0o644)
    guard descriptor >= 0 else { throw .system("create", "\(folder.path)/\(name)", errno: errno) }
    return OpenFile("\(folder.path)/\(name)", descriptor: descriptor)
  }

  /// Opens the file with `openat`.
  ///
  /// It follows no link, and does not wait for the other end of a named pipe.
  package func reopen(_ name: String, in folder: Folder, keeping size: ByteCount)
    throws(LarderError)
    -> OpenFile
  {
    let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = openat(folder.descriptor, name, flags)
    guard descriptor >= 0 else { throw .system("open", "\(folder.path)/\(name)", errno: errno) }
    let file = OpenFile("\(folder.path)/\(name)", descriptor: descriptor)
    guard let stamp = folder.stamp(of: name), stamp.bytes >= size else {
      throw .system("resume", file.path, errno: ENODATA)
    }
    if stamp.bytes > size, ftruncate(descriptor, Int(size.count)) != 0 {
      throw .system("cut", file.path, errno: errno)
    }
    return file
  }

  /// Writes all the bytes.
  ///
  /// A write that a signal interrupts is repeated.
  package func append(_ bytes: RawSpan, to file: OpenFile) throws(LarderError) {
    try file.write(bytes)
  }

  /// Sets the modification time with `futimens`.
  package func setModified(_ time: UnixTime, of file: OpenFile) throws(LarderError) {
    // The value of the macro `UTIME_OMIT`, which Swift does not import. It leaves the access time unchanged.
    let omit = 0x3FFF_FFFE
    let times = [
      timespec(tv_sec: 0, tv_nsec: omit), timespec(tv_sec: Int(time.seconds), tv_nsec: 0),
    ]
    guard futimens(file.descriptor, times) == 0 else {
      throw .system("date", file.path, errno: errno)
    }
  }

  /// Syncs the file with `fsync`.
  package func sync(_ file: OpenFile) throws(LarderError) {
    guard durable else { return }
    guard fsync(file.descriptor) == 0 else { throw .system("sync", file.path, errno: errno) }
  }

  /// Renames the file with `renameat`.
  package func rename(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError)
  {
    guard renameat(old.descriptor, name, folder.descriptor, new) == 0 else {
      throw .system("rename", "\(old.path)/\(name) to \(folder.path)/\(new)", errno: errno)
    }
  }

  /// Makes the link with `linkat`.
  package func link(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError) -> Bool
  {
    guard linkat(old.descriptor, name, folder.descriptor, new, 0) == 0 else {
      // This is no error, because the caller can store a copy instead.
      FileSystemGap.note(link: errno)
      return false
    }
    return true
  }

  /// Removes the file with `unlinkat`.
  package func remove(_ name: String, in folder: Folder) throws(LarderError) {
    guard unlinkat(folder.descriptor, name, 0) == 0 || errno == ENOENT else {
      throw .system("remove", "\(folder.path)/\(name)", errno: errno)
    }
  }

  /// Syncs the folder with `fsync`.
  package func sync(_ folder: Folder) throws(LarderError) {
    guard durable else { return }
    do throws(SystemError) {
      if try !Files.sync(folder: folder.descriptor) { FileSystemGap.folderSync.note() }
    } catch {
      throw .system("sync", folder.path, errno: error.code)
    }
  }
}

extension Folder {
  /// The stamp of the regular file `name`; nil if there is no such file, or if the system call fails.
  package func stamp(of name: String) -> FileStamp? { try? find(name) }

  /// The stamp of the regular file `name`; nil if there is no such file.
  ///
  /// - Throws: ``LarderError`` when the system call fails, so that it is not known whether the file exists.
  func find(_ name: String) throws(LarderError) -> FileStamp? {
    guard let status = try status(of: name), status.st_mode & S_IFMT == S_IFREG else { return nil }
    return FileStamp(status)
  }

  /// The type of the file `name` as one of the system's constants, such as `S_IFREG` or `S_IFDIR`.
  ///
  /// It is nil if there is no such file.
  ///
  /// - Throws: ``LarderError`` when the call fails.
  func findKind(_ name: String) throws(LarderError) -> mode_t? {
    try status(of: name).map { $0.st_mode & S_IFMT }
  }

  /// The `stat` of the file `name`; nil if there is no such file.
  ///
  /// For a symbolic link, it is the `stat` of the link itself.
  ///
  /// - Throws: ``LarderError`` when the call fails.
  func status(of name: String) throws(LarderError) -> stat? {
    var status = Glibc.stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw .system("look at", "\(path)/\(name)", errno: errno)
    }
    return nil
  }

  /// The type of the file `name`, as in ``findKind(_:)``; nil if there is no such file or the system call fails.
  func kind(of name: String) -> mode_t? { try? findKind(name) }

  /// Removes a file, or a folder with its contents; does nothing if there is neither.
  ///
  /// Symbolic links are removed and never followed.
  ///
  /// - Parameter name: The name, which may be a path below this folder, such as `images/3f`.
  /// - Throws: ``LarderError`` when a file or folder cannot be removed.
  package func removeAll(_ name: String) throws(LarderError) {
    guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
    guard errno == EISDIR else { throw .system("remove", "\(path)/\(name)", errno: errno) }
    let folder = try Folder(name, in: self)
    var failure: LarderError?
    for name in try folder.names() {
      do throws(LarderError) {
        try folder.removeAll(name)
      } catch {
        // Remove the rest all the same.
        failure = failure ?? error
      }
    }
    if unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
    throw failure ?? LarderError.system("remove", "\(path)/\(name)", errno: errno)
  }

  /// Opens the file `name` for reading; follows no link, and does not wait for the writer of a named pipe.
  ///
  /// `verb` is the verb of the error message, as in "cannot open …".
  ///
  /// - Throws: ``LarderError`` with the system's error number when there is no such file or it cannot be opened.
  package func openFile(_ name: String, to verb: String = "open") throws(LarderError) -> OpenFile {
    let descriptor = openat(self.descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system(verb, "\(path)/\(name)", errno: errno) }
    return OpenFile("\(path)/\(name)", descriptor: descriptor)
  }

  /// The names in the folder, without `.` and `..`, in the system's order.
  package func names() throws(LarderError) -> [String] {
    do throws(SystemError) {
      return try Files.names(in: descriptor)
    } catch {
      throw .system("list", path, errno: error.code)
    }
  }
}

extension OpenFile {
  /// Creates an unnamed temporary file in a cache, for example for a body that is too large for memory.
  ///
  /// The kernel removes the file when this object is released or the process ends.
  ///
  /// - Parameter layout: The cache, in whose folder `partial/` the file is created.
  /// - Throws: ``LarderError`` when the file cannot be created.
  package convenience init(unnamedIn layout: CacheLayout) throws(LarderError) {
    let partial = layout.partial
    var descriptor = larder_unnamed(partial.descriptor, ".", 0o600)
    if descriptor < 0 {
      // The file system does not support `O_TMPFILE`, so create a file with a name and unlink it. If the process is
      // killed in between, the next run removes the file.
      let name = "body-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
      let flags = O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL
      descriptor = openat(partial.descriptor, name, flags, 0o600)
      if descriptor >= 0 { unlinkat(partial.descriptor, name, 0) }
    }
    guard descriptor >= 0 else { throw .system("make a file in", partial.path, errno: errno) }
    self.init(partial.path, descriptor: descriptor)
  }

  /// Writes bytes at an offset, or where the last write ended.
  ///
  /// - Throws: ``LarderError`` when the bytes cannot be written.
  package func write(_ bytes: RawSpan, at offset: Int? = nil) throws(LarderError) {
    do throws(SystemError) {
      try Files.write(bytes, to: descriptor, at: offset)
    } catch {
      throw .system("write", path, errno: error.code)
    }
  }

  /// Fills a buffer with the bytes at an offset.
  ///
  /// - Throws: ``LarderError`` when the bytes cannot be read, or the file ends earlier.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer,
    at offset: Int
  ) throws(LarderError) {
    do throws(SystemError) {
      let count = try Files.read(descriptor, into: buffer, at: offset)
      guard count == buffer.count else { throw SystemError(code: ENODATA) }
    } catch {
      throw .system("read", path, errno: error.code)
    }
  }

  /// Reads all bytes of a range.
  ///
  /// - Throws: ``LarderError`` when the bytes cannot be read, or the file ends earlier.
  package func bytes(_ range: Range<Int>) throws(LarderError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(LarderError) in try read(into: buffer, at: range.lowerBound) }
    }
    try result.get()
    return bytes
  }

  /// The stamp of the open file.
  func stamp() throws(LarderError) -> FileStamp { FileStamp(try status()) }

  /// The stamp of the open file; nil if it is not a regular file.
  package func regularStamp() throws(LarderError) -> FileStamp? {
    let status = try status()
    return status.st_mode & S_IFMT == S_IFREG ? FileStamp(status) : nil
  }

  private func status() throws(LarderError) -> stat {
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("stat", path, errno: errno) }
    return status
  }

  /// Calls `body` with the bytes from the file's beginning, 256 KiB at a time.
  ///
  /// - Parameters:
  ///   - most: The maximum number of bytes to read.
  ///   - body: Called with each piece of the file.
  /// - Returns: The number of bytes read, which is less than `most` if the file ends earlier.
  /// - Throws: ``LarderError`` when the file cannot be read.
  package func forEachPiece(
    upTo most: ByteCount = ByteCount(Int64.max),
    _ body: (ArraySlice<UInt8>) -> Void
  ) throws(LarderError) -> ByteCount {
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    var done: ByteCount = 0
    while done < most {
      let wanted = Int(min(most - done, ByteCount(buffer.count)).count)
      let count: Int
      do throws(SystemError) {
        count = try Files.read(descriptor, into: &buffer, most: wanted, at: Int(done.count))
      } catch {
        throw .system("read", path, errno: error.code)
      }
      body(buffer[..<count])
      done += ByteCount(count)
      if count < wanted { break }
    }
    return done
  }
}

extension FileStamp {
  /// Takes the fields of a `stat`.
  package init(_ status: stat) {
    self.init(
      inode: Int64(truncatingIfNeeded: status.st_ino),
      bytes: ByteCount(status.st_size),
      modified: UnixTime(Int64(status.st_mtim.tv_sec))
    )
  }
}

extension Folder {
  /// Requires that the folder belongs to the user of this process.
  ///
  /// Root could write to another user's folder too. But then the owner could neither change nor remove the files that
  /// root creates.
  ///
  /// - Throws: ``LarderError/Code/unfitFolder``.
  func demandOwnership() throws(LarderError) {
    var status = Glibc.stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("stat", path, errno: errno) }
    if let error = Self.refusal(of: path, owner: status.st_uid, user: geteuid()) { throw error }
  }

  /// The error for a folder whose owner is not `user`; nil if `owner` and `user` are the same.
  static func refusal(of path: String, owner: uid_t, user: uid_t) -> LarderError? {
    guard owner != user else { return nil }
    let problem = "cannot change \(path): it belongs to user \(owner), and you are \(user)"
    guard user == 0 else {
      return LarderError(.unfitFolder, problem, remedy: .ownFolder, thing: path)
    }
    return LarderError(
      .unfitFolder,
      problem + "; run larder as that user, or give the cache to root with chown -R",
      thing: path
    )
  }
}

extension Folder {
  /// The text of a small regular file; nil if there is no such file, if it is empty, or if it has `limit` bytes or
  /// more.
  ///
  /// Follows no link, and does not wait for the other end of a named pipe.
  func text(of name: String, limit: Int) -> String? {
    guard let bytes = Files.contents(of: name, in: descriptor, most: limit - 1), !bytes.isEmpty
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A feature that a file system may lack, for example hard links.
///
/// If the cache's file system lacks it, larder uses an alternative.
///
/// When an operation fails because the feature is missing, the gap is recorded, so that the run can report it.
package enum FileSystemGap: CaseIterable, Sendable {
  /// Hard links.
  case links
  /// `flock`.
  case locks
  /// `fsync` of a folder.
  case folderSync

  /// The gaps that were recorded so far.
  private static let met = Mutex<Set<FileSystemGap>>([])

  /// The gaps that were recorded so far, in the order of the cases.
  package static var found: [FileSystemGap] {
    let met = met.withLock { $0 }
    return allCases.filter(met.contains)
  }

  /// The gap and its consequence, as a sentence for the user.
  package var words: String {
    switch self {
    case .links:
      "the cache's file system does not support hard links: equal pictures are stored as copies"
    case .locks:
      "the cache's file system has no flock: only the file lock.host keeps runs apart; "
        + "after a killed run, the next one may have to wait two minutes"
    case .folderSync:
      "the cache's file system does not sync folders: a power cut may undo the last renames"
    }
  }

  /// Records that an operation failed because of this gap.
  func note() { Self.met.withLock { _ = $0.insert(self) } }

  /// Records that the file system has no hard links, if the `errno` of a failed link means that.
  static func note(link code: Int32) {
    if [ENOSYS, EOPNOTSUPP, EPERM, EINVAL].contains(code) { links.note() }
  }

  /// Whether the `errno` of a failed `flock` means that the file system does not support `flock`, as some NFS, Lustre
  /// and FUSE file systems do not.
  static func isMissing(lock code: Int32) -> Bool { [ENOSYS, ENOLCK, EOPNOTSUPP].contains(code) }
}
