import Base
import Cache
import HTTPServing
import NIOCore
import Synchronization

/// A picture, or its square version, that is ready to send.
struct ServedImage: Sendable {
  /// The file's path in the cache.
  let path: String
  private let stamp: FileStamp?
  private let type: String
  /// The answers with bytes from elsewhere than the file.
  let prepared: PreparedAnswer

  /// Prepares the answers.
  ///
  /// A client may keep a picture for 300 seconds. The time is short, because the URL stays the same when the shop
  /// replaces the picture.
  ///
  /// - Parameters:
  ///   - path: The file's path in the cache.
  ///   - sha256: The digest of the file's bytes, which becomes the entity tag.
  ///   - type: The type of the file; nil if it is unknown.
  ///   - stamp: The size, inode and modification time that the index has for the file.
  ///   - changed: The time for `Last-Modified`. Pass nil to use the modification time.
  init(
    path: String,
    sha256: [UInt8],
    type: PictureType?,
    stamp: FileStamp?,
    changed: UnixTime? = nil
  ) {
    (self.path, self.stamp) = (path, stamp)
    self.type = type?.mediaType ?? "application/octet-stream"
    let version = ServedVersion(
      etag: "\"\(Hexadecimal.text(sha256))\"",
      modified: changed ?? stamp?.modified
    )
    prepared = PreparedAnswer(
      self.type,
      version,
      caching: "public, max-age=300",
      [("Accept-Ranges", "bytes")]
    )
  }

  /// The approximate size of this value in memory, in bytes.
  var cost: Int { 1024 + 2 * path.utf8.count }

  /// Answers a request with the file; nil if the file does not exist, or is damaged.
  ///
  /// This opens the file on the event loop, as other servers do, because that takes only one or two system calls.
  func answer(_ request: ServerRequest, from files: ServedFiles) -> Answer? {
    guard let (descriptor, found) = files.open(path) else { return nil }
    let file = SentFile(descriptor: descriptor)
    let size = Int(found.bytes.count)
    // An equal inode or an equal time is enough, because a restored backup has new inodes but the same times.
    let isMeant =
      found.bytes == stamp?.bytes
      && (found.inode == stamp?.inode || found.modified == stamp?.modified)
    if stamp?.isSpoiled(found) == true { return nil }
    guard isMeant else {
      // A run has just replaced the file, and will update the index row next. Send the new bytes, but forbid clients to
      // cache them.
      let fields = [(name: "Content-Type", value: type), ("Cache-Control", "no-store")]
      return Answer(200, fields + SafetyFields.data, .file(file, 0..<size))
    }
    return prepared.answer(request, size: size) { .file(file, $0) }
  }
}

/// Forwards pictures from an object store to clients, without writing them to files.
///
/// Only one piece of each picture is in memory at a time.
final class KeptImages: Sendable {
  private let remote: any RemotePictures
  private let underWay = Atomic<Int>(0)

  /// At most this many answers wait for their first piece; further requests get status 503.
  private static let most = 512

  init(_ remote: any RemotePictures) {
    self.remote = remote
  }

  /// Answers a request for a picture.
  ///
  /// A HEAD, or an answer with status 304, is made from the index row, without a request to the store.
  ///
  /// - Parameters:
  ///   - picture: The index row of a picture that is in the store.
  ///   - request: The request.
  ///   - isRenewed: Whether the row is not from the index, but from the store, which has a newer version.
  ///   - done: Called once with the answer, on any thread. It is called with nil if the store does not have the
  ///     picture.
  func send(
    _ picture: PictureEntry,
    _ request: ServerRequest,
    isRenewed: Bool = false,
    _ done: @escaping @Sendable (Answer?) -> Void
  ) {
    guard let digest = picture.sha256, let stamp = picture.stamp else { return done(nil) }
    let path = picture.name.path
    let source = SentPicture(remote: remote, path: path, stamp: stamp)
    let image = ServedImage(
      path: path,
      sha256: digest,
      type: picture.type,
      stamp: stamp,
      changed: picture.fetched
    )
    let size = Int(stamp.bytes.count)
    let answer = image.prepared.answer(request, size: size) { .kept(source, $0) }
    guard request.method == .get, case .kept(_, let range) = answer.body, !range.isEmpty else {
      return done(answer)
    }
    guard underWay.add(1, ordering: .relaxed).newValue <= Self.most else {
      underWay.subtract(1, ordering: .relaxed)
      return done(.busy)
    }
    remote.part(range.prefix(SentPicture.piece), of: path) { [self] result in
      underWay.subtract(1, ordering: .relaxed)
      switch result {
      case .success(nil): done(nil)
      case .success(let part?) where part.entry.stamp == stamp:
        var (answer, source) = (answer, source)
        source.first = ByteBuffer(bytes: part.bytes)
        answer.body = .kept(source, range)
        done(answer)
      case .success(let part?):
        // Another machine has uploaded a newer version of the picture, which this machine's index does not have yet.
        guard !isRenewed, let row = part.entry.row(of: picture) else { return done(nil) }
        send(row, request, isRenewed: true, done)
      case .failure(let error):
        let words = "the store does not deliver the picture now"
        done(.problem(503, words, [("Retry-After", "10")]).caused(by: error))
      }
    }
  }
}

/// A picture in an object store that an answer sends to a client.
struct SentPicture: Sendable {
  /// The size of a piece in bytes.
  ///
  /// It is the size of one request to the store, and of the memory that a connection needs.
  static let piece = 512 << 10

  let remote: any RemotePictures
  /// The picture's path in the store.
  let path: String
  /// The size and the entity tag of this version of the picture.
  let stamp: FileStamp
  /// The first bytes of the body, if they were already received.
  var first = ByteBuffer()

  /// Fetches the next piece of a range.
  ///
  /// - Parameters:
  ///   - start: The number of bytes of the range that were already sent.
  ///   - range: The range of the picture's bytes that the answer sends.
  ///   - done: Called once with the piece, on any thread. It is called with nil if the picture was deleted or replaced
  ///     in the meantime.
  func piece(
    from start: Int,
    of range: Range<Int>,
    _ done: @escaping @Sendable (ByteBuffer?) -> Void
  ) {
    if start == 0, first.readableBytes > 0 { return done(first) }
    remote.part(range.dropFirst(start).prefix(Self.piece), of: path) { result in
      guard case .success(let part?) = result, part.entry.stamp == stamp else { return done(nil) }
      done(ByteBuffer(bytes: part.bytes))
    }
  }
}
