import Base
import Hashing
import Synchronization
import Transport

/// An object store, such as S3, that has a cache's pictures instead of the folder `images/`.
///
/// An upload is atomic. The name of an object is the path that the picture would have in the cache's folder. The
/// metadata of an object contains the fields of the picture's row, so that a lost index can be rebuilt from the store.
/// The folder of such a cache has only the index, the lock and temporary files.
///
/// All calls block, except ``put(_:_:completion:)`` and ``part(_:of:completion:)``. Temporary failures are retried
/// before a call throws.
package protocol RemotePictures: Sendable {
  /// The name of the store for messages, such as `s3://bucket/prefix`.
  var name: String { get }

  /// Uploads a picture.
  ///
  /// If the store has a picture at this path, it is replaced.
  ///
  /// - Parameters:
  ///   - entry: The picture's row, without its stamp.
  ///   - file: The file with the picture's bytes.
  ///   - completion: Called once, on any thread, with the stamp of the stored object or the error.
  func put(
    _ entry: PictureEntry,
    _ file: OpenFile,
    completion: @escaping @Sendable (Result<FileStamp, LarderError>) -> Void
  )

  /// Lists the stored objects, by path, such as `images/3f/….jpg`.
  ///
  /// - Throws: ``LarderError`` when the list cannot be read.
  func objects() throws(LarderError) -> [String: RemoteObject]

  /// Reads the rows of these pictures from the metadata in the store.
  ///
  /// - Parameter paths: The paths of the pictures.
  /// - Returns: The rows of the pictures that exist, by path. If larder did not upload an object, its row has no
  ///   SHA-256. If the URL of a picture is too long for the metadata, its row has an empty URL.
  /// - Throws: ``LarderError`` when the store cannot be read.
  func rows(at paths: [String]) throws(LarderError) -> [String: PictureEntry]

  /// Reads a picture.
  ///
  /// - Parameters:
  ///   - path: The path of the picture.
  ///   - sink: The sink for the bytes, which is used on a thread of the store's transport.
  /// - Returns: The stamp; nil if there is no such picture.
  /// - Throws: ``LarderError`` when the picture cannot be read.
  func read(_ path: String, into sink: any BodySink) throws(LarderError) -> FileStamp?

  /// Reads a part of a picture, without blocking.
  ///
  /// - Parameters:
  ///   - range: The range of bytes, which is not empty.
  ///   - path: The path of the picture.
  ///   - completion: Called once, on any thread, with the part. The part is nil if there is no such picture, or if it
  ///     is too short.
  func part(
    _ range: Range<Int>,
    of path: String,
    completion: @escaping @Sendable (Result<RemotePart?, LarderError>) -> Void
  )

  /// Removes pictures.
  ///
  /// Pictures that do not exist are ignored.
  ///
  /// - Parameter paths: The paths of the pictures.
  /// - Throws: ``LarderError`` when a picture cannot be removed.
  func remove(_ paths: [String]) throws(LarderError)
}

/// A part of a picture in an object store.
package struct RemotePart: Sendable {
  /// The bytes of the requested range.
  package var bytes: [UInt8]
  /// The picture's row from the metadata, with its stamp; see ``RemotePictures/rows(at:)``.
  package var entry: PictureEntry

  /// Makes a part from its bytes and the picture's row.
  package init(bytes: [UInt8], entry: PictureEntry) {
    (self.bytes, self.entry) = (bytes, entry)
  }
}

/// The entry of one picture in the list of an object store.
package struct RemoteObject: Sendable, Equatable {
  /// The stamp, made of the object's size and entity-tag, so that different versions of an object have different
  /// stamps.
  package var stamp: FileStamp
  /// The time of the upload.
  package var changed: UnixTime

  /// Makes an entry from its parts.
  package init(stamp: FileStamp, changed: UnixTime) {
    (self.stamp, self.changed) = (stamp, changed)
  }
}

/// A list of all objects in an object store, which is requested once for many look-ups.
final class RemoteListing: Sendable {
  /// The store.
  let remote: any RemotePictures
  private let found = Mutex<[String: RemoteObject]?>(nil)

  init(_ remote: any RemotePictures) {
    self.remote = remote
  }

  /// The stored objects by path.
  ///
  /// They are requested when they are first used.
  ///
  /// - Throws: ``LarderError`` when the store cannot be read.
  func objects() throws(LarderError) -> [String: RemoteObject] {
    if let known = found.withLock({ $0 }) { return known }
    let objects = try remote.objects()
    found.withLock { $0 = objects }
    return objects
  }

  /// Discards the list, so that the next use requests it again.
  func forget() { found.withLock { $0 = nil } }
}

extension RemotePictures {
  /// Reads and hashes a picture; nil if there is no such picture.
  func digest(of path: String) throws(LarderError) -> FileDigest? {
    let digest = PictureDigest()
    return try read(path, into: digest).map { digest.file($0) }
  }

  /// Reads a whole picture into memory.
  ///
  /// - Parameters:
  ///   - path: The path of the picture.
  ///   - most: The maximum size in bytes.
  /// - Returns: The picture's bytes; nil if there is no such picture, or if it has more than `most` bytes.
  /// - Throws: ``LarderError`` when the picture cannot be read.
  package func bytes(of path: String, most: ByteCount) throws(LarderError) -> [UInt8]? {
    let sink = MemorySink(most: Int(most.count) + 1)
    let isThere = try read(path, into: sink) != nil
    return isThere && sink.bytes.count <= most.count ? sink.bytes : nil
  }
}

/// Hashes a picture while it is received, and detects its type from its first bytes.
final class PictureDigest: BodySink {
  private struct Input {
    var hash = SHA256()
    var start: [UInt8] = []
  }

  private let state = Mutex(Input())

  func restart() { state.withLock { $0 = Input() } }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    state.withLock { state in
      state.hash.add(bytes)
      bytes.withUnsafeBytes { buffer in
        let wanted = PictureType.sniffLength - state.start.count
        if wanted > 0 { state.start += buffer.prefix(wanted) }
      }
    }
    return .accept
  }

  /// The digest and the type of the received bytes, together with the given stamp.
  func file(_ stamp: FileStamp) -> FileDigest {
    state.withLock { state in
      FileDigest(
        sha256: state.hash.digest,
        type: PictureType(shown: state.start),
        stamp: stamp
      )
    }
  }
}
