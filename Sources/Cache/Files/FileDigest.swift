import Base
import Crypto
import Glibc
import Imaging
import Transport

/// The type and digest of a picture file.
package struct FileDigest: Equatable, Sendable {
  /// The SHA-256 of the file.
  var sha256: [UInt8]
  /// The type, detected from the first bytes.
  var type: PictureType?
  /// The file's `stat`.
  var stamp: FileStamp
}

/// A function that reads and hashes a picture's file, and returns nil when there is no regular file.
package typealias PictureReading = @Sendable (PictureName) throws(LarderError) -> FileDigest?

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
  package func remove(_ path: String) throws(LarderError) {
    if let remote, path.hasPrefix("images/") { return try remote.remove([path]) }
    try root.removeAll(path)
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
    let file: OpenFile
    do throws(LarderError) {
      file = try openFile(name)
    } catch {
      // ELOOP is the error for a symbolic link, and ENXIO for a socket. Neither is a regular file.
      if [ENOENT, ELOOP, ENXIO].contains(error.errno) { return nil }
      throw error
    }
    // The `stat` of the open file, because the name may belong to another file by now.
    guard let stamp = try file.regularStamp() else { return nil }
    var hash = SHA256()
    var type: PictureType?
    var isFirst = true
    _ = try file.forEachPiece { piece in
      if isFirst { type = PictureType(shown: piece) }
      isFirst = false
      hash.update(data: piece)
    }
    return FileDigest(sha256: Array(hash.finalize()), type: type, stamp: stamp)
  }
}

/// The type detected from a file's first bytes, regardless of its name and of the origin's `Content-Type`.
package typealias PictureType = PictureFormat
