import Base
import Glibc
import Synchronization

/// An object store that has a cache's pictures instead of the folder `images/`.
///
/// Uploads are atomic. An object has the path that the picture would have in the cache's folder. Its metadata has the
/// fields of the picture's row, so that a lost index can be rebuilt from the store. The cache's folder has only the
/// index, the lock and temporary files.
///
/// All calls block, except ``put(_:_:completion:)`` and ``part(_:of:completion:)``. When a call throws, temporary
/// failures have been retried already.
package protocol RemotePictures: Sendable {
  /// The store's name for messages: `s3://bucket/prefix`.
  var name: String { get }

  /// Uploads a picture, replacing an existing one.
  ///
  /// - Parameters:
  ///   - entry: The picture's row, without its stamp.
  ///   - bytes: The picture's bytes, which must stay readable until `completion` is called.
  ///   - completion: Called once, on any thread, with the stamp of the stored object.
  func put(
    _ entry: PictureEntry,
    _ bytes: RemoteBytes,
    completion: @escaping @Sendable (Result<FileStamp, LarderError>) -> Void
  )

  /// Lists the stored objects, in the order of their paths.
  ///
  /// - Parameter body: Called with each object.
  /// - Throws: ``LarderError`` when the list cannot be read; errors of `body`.
  func forEach(_ body: (RemoteObject) throws(LarderError) -> Void) throws(LarderError)

  /// Requests the metadata of these pictures.
  ///
  /// - Parameter paths: The pictures' paths.
  /// - Returns: The rows of the pictures that exist, by path. A picture that larder did not upload has no SHA-256. A
  ///   picture whose URL is too long for the metadata has an empty URL.
  /// - Throws: ``LarderError`` when the store cannot be read.
  func rows(at paths: [String]) throws(LarderError) -> [String: PictureEntry]

  /// Reads a picture.
  ///
  /// - Parameters:
  ///   - path: The picture's path.
  ///   - restart: Called after a transfer broke, before `piece` gets the bytes again from the beginning.
  ///   - piece: Called with the bytes, piece by piece, on a thread of the store's transport.
  /// - Returns: The stamp; nil when there is no such picture.
  /// - Throws: ``LarderError`` when it cannot be read.
  func read(
    _ path: String,
    restart: @escaping @Sendable () -> Void,
    piece: @escaping @Sendable (RawSpan) -> Void
  ) throws(LarderError) -> FileStamp?

  /// Reads a part of a picture; does not block.
  ///
  /// - Parameters:
  ///   - range: The range of bytes, not empty.
  ///   - path: The picture's path.
  ///   - completion: Called once, on any thread, with the part; nil when there is no such picture, or it is too short.
  func part(
    _ range: Range<Int>,
    of path: String,
    completion: @escaping @Sendable (Result<RemotePart?, LarderError>) -> Void
  )

  /// Moves pictures to other paths, with their metadata; ignores pictures that do not exist.
  ///
  /// An object at a new path is replaced. After an error, each picture is at one of its two paths or at both.
  ///
  /// - Parameter paths: The present and the new path of each picture.
  /// - Throws: ``LarderError`` when a picture cannot be moved.
  func move(_ paths: [(from: String, to: String)]) throws(LarderError)

  /// Removes pictures; ignores those that do not exist.
  ///
  /// - Parameter paths: The pictures' paths.
  /// - Throws: ``LarderError`` when a picture cannot be removed.
  func remove(_ paths: [String]) throws(LarderError)
}

/// A part of a stored picture.
package struct RemotePart: Sendable {
  /// The requested bytes.
  package var bytes: [UInt8]
  /// The row in the picture's metadata, with its stamp; see ``RemotePictures/rows(at:)``.
  package var entry: PictureEntry

  /// Memberwise initializer.
  package init(bytes: [UInt8], entry: PictureEntry) {
    (self.bytes, self.entry) = (bytes, entry)
  }
}

/// One picture's entry in a store's list.
package struct RemoteObject: Sendable, Equatable {
  /// The picture's path, as in a cache's folder.
  package var path: String
  /// The stamp, made of the object's size and entity-tag; every version has a different stamp.
  package var stamp: FileStamp
  /// The time of its upload.
  package var changed: UnixTime

  /// Memberwise initializer.
  package init(path: String, stamp: FileStamp, changed: UnixTime) {
    (self.path, self.stamp, self.changed) = (path, stamp, changed)
  }
}

/// The bytes of a picture to upload, read a piece at a time.
package struct RemoteBytes: Sendable {
  /// The number of bytes.
  package let count: ByteCount
  private let read: @Sendable (Range<Int>) throws(LarderError) -> [UInt8]

  /// Makes the bytes from any source.
  ///
  /// - Parameters:
  ///   - count: The number of bytes.
  ///   - read: Reads a range of the bytes completely.
  package init(
    count: ByteCount,
    read: @escaping @Sendable (Range<Int>) throws(LarderError) -> [UInt8]
  ) {
    self.count = count
    self.read = read
  }

  /// Makes the bytes of a file.
  init(_ file: OpenFile, count: ByteCount) {
    self.init(count: count) { range throws(LarderError) in try file.bytes(range) }
  }

  /// Reads a range of the bytes.
  ///
  /// - Parameter range: The range to read.
  /// - Returns: The bytes of the whole range.
  /// - Throws: ``LarderError`` when the file cannot be read or is too short.
  package func bytes(_ range: Range<Int>) throws(LarderError) -> [UInt8] { try read(range) }
}

extension OpenFile {
  /// Reads bytes of the file.
  ///
  /// - Throws: ``LarderError`` when the file cannot be read or is too short.
  fileprivate func bytes(_ range: Range<Int>) throws(LarderError) -> [UInt8] {
    do throws(SystemError) {
      let bytes = try Files.bytes(of: descriptor, range.count, at: range.lowerBound)
      guard bytes.count == range.count else { throw SystemError(code: ENODATA) }
      return bytes
    } catch {
      throw .system("read", path, errno: error.code)
    }
  }
}

/// A list of all objects of a store, requested once for many look-ups.
final class RemoteListing: Sendable {
  /// The store.
  let remote: any RemotePictures
  private let found = Mutex<[String: RemoteObject]?>(nil)

  init(_ remote: any RemotePictures) {
    self.remote = remote
  }

  /// The stored objects by path; requested on first use.
  ///
  /// - Throws: ``LarderError`` when the store cannot be read.
  func objects() throws(LarderError) -> [String: RemoteObject] {
    if let known = found.withLock({ $0 }) { return known }
    var objects: [String: RemoteObject] = [:]
    try remote.forEach { object in objects[object.path] = object }
    found.withLock { [objects] in $0 = objects }
    return objects
  }

  /// Discards the list, so that the next look-up requests it again.
  func forget() { found.withLock { $0 = nil } }
}

/// A temporary copy of a stored picture on this machine.
package struct RemoteCopy {
  /// The path of the copy.
  package let path: String
  /// Whether the store has the picture.
  package let isThere: Bool

  /// Downloads a picture into a file.
  ///
  /// - Parameters:
  ///   - source: The picture's path in the store.
  ///   - remote: The store.
  ///   - path: The path of the file, which is overwritten.
  /// - Throws: ``LarderError`` when the store cannot be read, or the file cannot be written.
  package init(
    of source: String,
    in remote: any RemotePictures,
    to path: String
  ) throws(LarderError) {
    self.path = path
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .system("create", path, errno: errno) }
    defer { close(descriptor) }
    let failure = Mutex<LarderError?>(nil)
    let stamp = try remote.read(
      source,
      restart: {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
          return failure.withLock { $0 = .system("cut", path, errno: errno) }
        }
      },
      piece: { bytes in
        guard failure.withLock({ $0 == nil }) else { return }
        do throws(SystemError) {
          try Files.write(bytes, to: descriptor)
        } catch {
          failure.withLock { $0 = .system("write", path, errno: error.code) }
        }
      }
    )
    if let failure = failure.withLock({ $0 }) { throw failure }
    isThere = stamp != nil
  }

  /// Removes the file.
  package func remove() { unlink(path) }

  /// The SHA-256 of a file in hexadecimal; nil when there is no readable regular file.
  package static func digest(ofFile path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"),
      let folder = try? Folder(path: String(path[..<slash]), creating: false)
    else { return nil }
    let name = String(path[path.index(after: slash)...])
    guard let digest = try? folder.digest(of: name)?.sha256 else { return nil }
    return Hexadecimal.text(digest)
  }
}
