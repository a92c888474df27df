import Base
import Hashing
import Synchronization
import Transport

/// Compares the pictures in an object store with their rows in the index, for ``Verification``.
///
/// If another machine has replaced a picture, it is compared with the metadata of the new upload.
struct RemoteVerification {
  /// The number of pictures that are read at the same time.
  private static let readers = 16

  private let remote: any RemotePictures
  private let objects: [String: RemoteObject]

  /// Requests the list of all stored objects.
  ///
  /// - Throws: ``LarderError`` when the store cannot be read.
  init(_ listing: RemoteListing) throws(LarderError) {
    (remote, objects) = (listing.remote, try listing.objects())
  }

  /// Reads the rows of these pictures from the store's metadata; see ``RemotePictures/rows(at:)``.
  func rows(at paths: Set<String>) throws(LarderError) -> [String: PictureEntry] {
    try remote.rows(at: paths.sorted())
  }

  /// The number of threads that check pictures.
  ///
  /// Reading waits for the network, so there are more of them than processors.
  func readers(_ depth: Verification.Depth) -> Int { depth == .full ? Self.readers : 1 }

  /// Checks a picture.
  ///
  /// - Parameters:
  ///   - entry: The row of the picture.
  ///   - depth: Whether to compare metadata or to read every byte.
  ///   - rows: The rows from the store's metadata, by path; nil to use the stamps in the list of objects.
  /// - Returns: The result.
  func verdict(
    _ entry: PictureEntry,
    _ depth: Verification.Depth,
    rows: [String: PictureEntry]?
  ) -> CheckedFile {
    let path = entry.name.path
    let there = rows?[path]
    guard let stamp = rows == nil ? objects[path]?.stamp : there?.stamp else { return .missing }
    let isAgreed = stamp == entry.stamp
    let known = isAgreed ? entry : there?.row(of: entry)
    guard depth == .full else { return known == nil ? .damaged(isNewer: true) : .good }
    do throws(LarderError) {
      guard let digest = try remote.digest(of: path) else { return .missing }
      return digest.sha256 == (known ?? entry).sha256 ? .good : .damaged(isNewer: !isAgreed)
    } catch {
      return .unreadable
    }
  }
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
