import Base
import Glibc
import Hashing
import Imaging

/// The result of reading a whole picture file: its SHA-256, its type and its stamp.
package struct FileDigest: Equatable, Sendable {
  var sha256: [UInt8]
  /// The type, detected from the first bytes; nil if the file is not a picture.
  var type: PictureType?
  package var stamp: FileStamp

  /// The SHA-256 in hexadecimal digits.
  package var hexadecimal: String { Hexadecimal.text(sha256) }
}

extension FileDigest {
  /// Reads and hashes the file at a path; nil if it is not a regular file or cannot be read.
  package init?(ofFile path: String) {
    guard let slash = path.lastIndex(of: "/"),
      let folder = try? Folder(path: String(path[..<slash]), creating: false, isNamed: true),
      let digest = try? folder.digest(of: String(path[path.index(after: slash)...]))
    else { return nil }
    self = digest
  }
}

/// A function that reads and hashes the file of a picture.
///
/// It returns nil if there is no regular file of that name.
package typealias PictureReading = @Sendable (PictureName) throws(LarderError) -> FileDigest?

extension CacheLayout {
  /// Reads and hashes the file of a picture; nil if there is no regular file of that name.
  func digest(of name: PictureName) throws(LarderError) -> FileDigest? {
    if let remote { return try remote.digest(of: name.path) }
    guard let folder = try existingFolder(name.folder) else { return nil }
    return try folder.digest(of: name.file)
  }

  /// The stamp of a picture's file; nil if there is no such file.
  ///
  /// - Throws: ``LarderError`` when the file system or the store cannot be read.
  func find(_ name: PictureName) throws(LarderError) -> FileStamp? {
    if let listing { return try listing.objects()[name.path]?.stamp }
    return try existingFolder(name.folder)?.find(name.file)
  }

  /// Whether a picture that is held according to its row has no file, because another program removed it from a folder
  /// that a run was filling.
  ///
  /// False if an object store has the pictures, because each run lists its objects first.
  package func isGone(_ entry: PictureEntry) -> Bool {
    guard entry.isHeld, listing == nil else { return false }
    // After a system error the file may still exist.
    do throws(LarderError) { return try find(entry.name) == nil } catch { return false }
  }

  /// Removes the file or folder at a path in the cache, such as `images/3f/a.jpg`.
  ///
  /// Does nothing if there is neither.
  ///
  /// A folder is removed with its contents. Links are removed and never followed.
  package func remove(_ path: String) throws(LarderError) {
    if let remote, path.hasPrefix("images/") { return try remote.remove([path]) }
    try root.removeAll(path)
  }

  /// Removes the files of the given pictures.
  ///
  /// Files that do not exist are ignored.
  ///
  /// - Parameters:
  ///   - pictures: The pictures to remove.
  ///   - progress: Called once for each picture. If an object store has the pictures, it is called after all are
  ///     removed.
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

  /// The time at which the file at a path in the cache was put there; nil if there is no such file.
  ///
  /// It is the file's `ctime`, or the time of the upload if an object store has the pictures.
  package func changed(_ path: String) throws(LarderError) -> UnixTime? {
    if let listing { return try listing.objects()[path]?.changed }
    var status = stat()
    guard fstatat(root.descriptor, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return UnixTime(Int64(status.st_ctim.tv_sec))
  }
}

extension Folder {
  /// Reads and hashes the file `name`; nil if it is not a regular file.
  func digest(of name: String) throws(LarderError) -> FileDigest? {
    let file: OpenFile
    do throws(LarderError) {
      file = try openFile(name)
    } catch {
      // ELOOP is the error for a symbolic link, and ENXIO for a socket. Neither is a regular file.
      if [ENOENT, ELOOP, ENXIO].contains(error.errno) { return nil }
      throw error
    }
    // Use the `stat` of the open file, because another file may have the name by now.
    guard let stamp = try file.regularStamp() else { return nil }
    var hash = SHA256()
    var type: PictureType?
    var isFirst = true
    _ = try file.forEachPiece { piece in
      if isFirst { type = PictureType(shown: piece) }
      isFirst = false
      hash.add(piece.span.bytes)
    }
    return FileDigest(sha256: hash.digest, type: type, stamp: stamp)
  }
}

/// The type detected from a file's first bytes, regardless of its name and of the origin's `Content-Type`.
package typealias PictureType = PictureFormat
