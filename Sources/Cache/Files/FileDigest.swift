import Base
import Crypto
import Glibc
import Imaging
import Transport

/// The type and digest of a picture file.
struct FileDigest: Equatable {
  /// The SHA-256 of the file.
  var sha256: [UInt8]
  /// The type, detected from the first bytes.
  var type: PictureType?
  /// The file's `stat`.
  var stamp: FileStamp
}

/// A function that reads and hashes a picture's file, and returns nil when there is no regular file.
typealias PictureReading = @Sendable (PictureName) throws(LarderError) -> FileDigest?

extension CacheLayout {
  /// Reads a picture's file and hashes it, 256 KiB at a time; nil when there is no regular file.
  func digest(of name: PictureName) throws(LarderError) -> FileDigest? {
    if let remote { return try remote.digest(of: name.path) }
    guard let folder = try existingFolder(name.folder) else { return nil }
    return try folder.digest(of: name.file)
  }

  /// The `stat` of a picture's file; nil if there is none.
  ///
  /// - Throws: ``LarderError`` when the file system or the store cannot be read.
  func find(_ name: PictureName) throws(LarderError) -> FileStamp? {
    if let listing { return try listing.objects()[name.path]?.stamp }
    return try existingFolder(name.folder)?.find(name.file)
  }

  /// Removes a file or a whole folder at a path in the cache; does nothing if it does not exist.
  ///
  /// Follows no link.
  func remove(_ path: String) throws(LarderError) {
    if let remote, path.hasPrefix("images/") { return try remote.remove([path]) }
    guard unlinkat(root.descriptor, path, 0) == 0 || errno == ENOENT else {
      guard errno == EISDIR else { throw .system("remove", self.path(path), errno: errno) }
      let folder = try Folder(path: self.path(path), creating: false)
      for name in try folder.names() { try remove("\(path)/\(name)") }
      guard unlinkat(root.descriptor, path, AT_REMOVEDIR) == 0 else {
        throw .system("remove", self.path(path), errno: errno)
      }
      return
    }
  }

  /// Removes the files of pictures; ignores those that do not exist.
  ///
  /// - Parameters:
  ///   - pictures: The pictures to remove.
  ///   - progress: Called for each removed file; with an object store, only after all are removed.
  /// - Throws: ``LarderError`` when a file cannot be removed.
  package func remove(
    _ pictures: [GcPlan.Picture],
    progress: () -> Void
  ) throws(LarderError) {
    let paths = pictures.map { PictureName(url: $0.url, id: $0.id).path }
    if let remote { try remote.remove(paths) }
    for path in paths {
      if remote == nil { try remove(path) }
      progress()
    }
  }

  /// Removes a stray file at a path below `images/`.
  package func removeStray(_ path: String) throws(LarderError) {
    try remove(path)
  }

  /// The time at which a file was placed at a path in the cache: its `ctime`, or the time of its upload.
  ///
  /// Nil when there is no file.
  package func changed(_ path: String) throws(LarderError) -> UnixTime? {
    if let listing { return try listing.objects()[path]?.changed }
    var status = stat()
    guard fstatat(root.descriptor, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return UnixTime(Int64(status.st_ctim.tv_sec))
  }
}

extension Folder {
  /// Reads a file and hashes it, 256 KiB at a time; nil when it is no regular file.
  func digest(of name: String) throws(LarderError) -> FileDigest? {
    // Non-blocking, so that a planted FIFO cannot block the process.
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let opened = openat(self.descriptor, name, flags)
    guard opened >= 0 else {
      // A symbolic link or a socket is no regular file either.
      if errno == ENOENT || errno == ELOOP || errno == ENXIO { return nil }
      throw .system("open", "\(path)/\(name)", errno: errno)
    }
    let file = OpenFile(name, in: self, descriptor: opened)
    // The `stat` of the open file, because the name may belong to another file by now.
    guard let stamp = try file.regularStamp() else { return nil }
    var hash = SHA256()
    var type: PictureType?
    var isFirst = true
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let count: Int
      do throws(SystemError) {
        count = try Files.read(opened, into: &buffer)
      } catch {
        throw .system("read", file.path, errno: error.code)
      }
      if isFirst { type = PictureType(shown: buffer.prefix(count)) }
      isFirst = false
      hash.update(data: buffer[..<count])
      if count < buffer.count { break }
    }
    return FileDigest(sha256: Array(hash.finalize()), type: type, stamp: stamp)
  }
}

/// The type detected from a file's first bytes, regardless of its name and of the origin's `Content-Type`.
package typealias PictureType = PictureFormat
