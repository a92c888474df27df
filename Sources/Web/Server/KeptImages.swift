import Cache
import NIOCore
import Synchronization
import Transport

/// Pictures that an object store keeps, sent on as they come: of each answer one piece at a time is here, and no file.
final class KeptImages: Sendable {
  private let keeper: any PictureKeeping
  private let underWay = Atomic<Int>(0)

  /// How many answers may wait for their first piece.
  private static let most = 512

  init(_ keeper: any PictureKeeping) {
    self.keeper = keeper
  }

  /// Answers a request for a picture.
  ///
  /// What the client has already is told from the row, without a question to the store; so is the head alone.
  ///
  /// - Parameters:
  ///   - picture: Its row, which is held.
  ///   - request: The request.
  ///   - done: Told once, on any thread; nil when the store has no such picture.
  func send(
    _ picture: PictureEntry,
    _ request: ServerRequest,
    _ done: @escaping @Sendable (Answer?) -> Void
  ) {
    guard underWay.add(1, ordering: .relaxed).newValue <= Self.most else {
      underWay.subtract(1, ordering: .relaxed)
      return done(.busy)
    }
    send(picture, request, isRenewed: false) { [self] answer in
      underWay.subtract(1, ordering: .relaxed)
      done(answer)
    }
  }

  private func send(
    _ picture: PictureEntry,
    _ request: ServerRequest,
    isRenewed: Bool,
    _ done: @escaping @Sendable (Answer?) -> Void
  ) {
    guard let digest = picture.sha256, let stamp = picture.stamp else { return done(nil) }
    let path = picture.name.path
    let source = SentPicture(keeper, path, stamp)
    let image = ServedImage(
      path: path,
      sha256: digest,
      type: picture.type,
      stamp: stamp,
      changed: picture.fetched
    )
    let answer = image.answer(request, size: Int(stamp.bytes.count)) { .kept(source, $0) }
    guard request.method == .get, case .kept(_, let range) = answer.body, !range.isEmpty else {
      return done(answer)
    }
    let first = range.prefix(SentPicture.piece)
    keeper.part(first, of: path) { [self] result in
      switch result {
      case .success(nil): done(nil)
      case .success(let part?) where part.entry.stamp == stamp:
        var answer = answer
        answer.body = .kept(SentPicture(keeper, path, stamp, first: part.bytes), range)
        done(answer)
      case .success(let part?):
        // Another machine has put a newer one, of which this one's index does not know yet.
        guard !isRenewed, let row = part.entry.row(of: picture) else { return done(nil) }
        send(row, request, isRenewed: true, done)
      case .failure(let error):
        let words = "the store does not deliver the picture now"
        done(.problem(503, words, [("Retry-After", "10")]).caused(by: error))
      }
    }
  }
}

/// A picture of a store that an answer sends on.
struct SentPicture: Sendable {
  /// How many bytes are asked for at once: what a connection holds of a picture.
  static let piece = 512 << 10

  private let keeper: any PictureKeeping
  private let path: String
  private let stamp: FileStamp
  private let first: ByteBuffer

  /// A picture.
  ///
  /// - Parameters:
  ///   - keeper: The store.
  ///   - path: Where it is.
  ///   - stamp: What tells it from another version.
  ///   - first: The first bytes of what is sent, which are here already.
  init(
    _ keeper: any PictureKeeping,
    _ path: String,
    _ stamp: FileStamp,
    first: [UInt8] = []
  ) {
    (self.keeper, self.path, self.stamp) = (keeper, path, stamp)
    self.first = ByteBuffer(bytes: first)
  }

  /// Fetches the piece with which a range goes on.
  ///
  /// - Parameters:
  ///   - start: How much of the range was sent.
  ///   - range: What is sent of the picture.
  ///   - done: Told once, on any thread; nil when the picture cannot be had any more, or is another one by now.
  func piece(
    from start: Int,
    of range: Range<Int>,
    _ done: @escaping @Sendable (ByteBuffer?) -> Void
  ) {
    if start == 0, first.readableBytes > 0 { return done(first) }
    keeper.part(range.dropFirst(start).prefix(Self.piece), of: path) { result in
      guard case .success(let part?) = result, part.entry.stamp == stamp else { return done(nil) }
      done(ByteBuffer(bytes: part.bytes))
    }
  }
}
