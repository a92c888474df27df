import Base
import Synchronization
import Transport

/// Receives the body of one picture: detects its type from the first bytes, and collects the rest.
///
/// A body of up to ``spillSize`` bytes stays in memory until it is complete, so that a small picture costs one open and
/// one write. A larger body is written to its partial file a piece at a time, and hashed on the way. The sink runs on
/// the transfer thread. One of the store's writer queues handles the pieces in order.
///
/// After a failure the bytes are kept in memory or on disk. The next attempt resumes after these bytes, if the origin
/// gave a strong validator. For the next run they are kept on disk only. If the process is killed, at most the last 256
/// KiB are lost.
package final class PictureSink: BodySink {
  /// The size of the pieces that are passed to a writer queue: 256 KiB.
  static let spillSize = 256 * 1024

  /// The picture that is being fetched.
  package let id: PictureID
  /// The picture's URL, as in the request.
  package let url: String
  private let store: PictureStore
  private let state: Mutex<Body>

  private struct Body {
    /// The received bytes that were not passed to the writer queue yet.
    var gathered: [UInt8] = []
    /// The number of bytes that were passed to the writer queue, or are held from an earlier run.
    var handedOn: ByteCount = 0
    var type: PictureType?
    /// The partial file of a large body; nil while all bytes are in memory.
    var spill: PartialPicture?
    /// The writer queue of this picture, chosen with the first piece; all pieces use the same queue to stay in order.
    var lane: WriterQueue?
    /// The head of the response; only needed when a transfer breaks or a body is large.
    var head: ResponseHead?
    /// The partial body of an earlier run.
    var held: PartialBody?

    var count: ByteCount { handedOn + ByteCount(gathered.count) }

    /// Resets everything except the writer queue.
    mutating func clear() {
      self = Body(lane: lane)
    }
  }

  init(id: PictureID, url: String, store: PictureStore, resuming held: PartialBody? = nil) {
    self.id = id
    self.url = url
    self.store = store
    var state = Body()
    if let held {
      state.held = held
      state.type = held.type
      state.handedOn = held.offset
      let lane = store.nextLane()
      state.lane = lane
      state.spill = PartialPicture(id: id, resuming: held, lane: lane)
    }
    self.state = Mutex(state)
  }

  /// The position to resume at, after the bytes so far; nil when the body cannot be resumed.
  package var resumePoint: ResumePoint? {
    state.withLock { state in
      guard state.count > 0, let body = body(state) else { return nil }
      return ResumePoint(offset: state.count, validator: body.validator, source: body.source)
    }
  }

  /// The first bytes of a refused body, until the sink is used again.
  package var refused: [UInt8] { state.withLock { Array($0.gathered.prefix(8192)) } }

  /// The data that a later run needs to resume this body; nil when it cannot be resumed.
  private func body(_ state: Body) -> PartialBody? {
    if let held = state.held { return held }
    guard let head = state.head, !head.isEncoded, head.status == 200, let type = state.type,
      let validator = Validators(head.headers).resumeValidator(date: head.headers["Date"])
    else { return nil }
    return PartialBody(
      url: url,
      validator: validator,
      source: head.url.resource,
      type: type,
      length: head.contentLength
    )
  }

  /// Prepares for a body, or for the rest of a resumed body.
  package func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    let promised = max(.zero, head.contentLength ?? .zero)
    state.withLock { state in
      if offset == 0 { state.head = head }
      if promised > ByteCount(Self.spillSize), state.gathered.isEmpty {
        state.gathered = store.pieces.take()
      } else {
        state.gathered.reserveCapacity(Int(min(promised, ByteCount(Self.spillSize)).count))
      }
    }
    return .accept
  }

  /// Receives a piece of the body; refuses it as soon as the first bytes show that it is no picture.
  package func receive(_ bytes: RawSpan) -> BodyDecision {
    let piece = state.withLock { state -> (bytes: [UInt8], spill: PartialPicture)?? in
      // A piece is passed on before it exceeds its capacity, because an array that grows is copied to an array of twice
      // the size.
      let isFull =
        !state.gathered.isEmpty && bytes.byteCount > Self.spillSize - state.gathered.count
      let piece = isFull ? handOn(&state) : nil
      if isFull { state.gathered = store.pieces.take() }
      bytes.withUnsafeBytes { state.gathered.append(contentsOf: $0) }
      if state.type == nil, state.gathered.count >= PictureType.leastSniffed {
        state.type = PictureType(shown: state.gathered)
        if state.type == nil, !PictureType.isUndecided(state.gathered) { return .none }
      }
      return .some(piece)
    }
    switch piece {
    case .none:
      return .refuse(.notAPicture)
    case .some(let (bytes, spill)?):
      spill.lane.submit(.piece(bytes, spill))
      return spill.failure.withLock { $0 == nil } ? .accept : .refuse(.disk)
    case .some(.none):
      return .accept
    }
  }

  /// Takes the collected bytes, to be written as a piece.
  private func handOn(_ state: inout Body) -> (bytes: [UInt8], spill: PartialPicture) {
    let lane = state.lane ?? store.nextLane()
    let spill = state.spill ?? PartialPicture(id: id, body: body(state), lane: lane)
    state.lane = lane
    state.spill = spill
    let piece = state.gathered
    state.handedOn += ByteCount(piece.count)
    state.gathered = []
    return (piece, spill)
  }

  /// Ends a transfer that is not retried in this run.
  ///
  /// Keeps its bytes for the next run, if there are enough and they can be resumed.
  package func leave() {
    let (piece, spill, pays) = state.withLock { state in
      defer { state.clear() }
      let pays = state.count >= PartialBodies.leastSize && body(state) != nil
      let piece = pays && !state.gathered.isEmpty ? handOn(&state).bytes : nil
      return (piece, state.spill, pays)
    }
    guard let spill else { return }
    if let piece { spill.lane.submit(.piece(piece, spill)) }
    if pays { spill.lane.submit(.leave(spill)) } else { spill.lane.submit(.discard(spill)) }
  }

  /// Discards the bytes so far, because the attempt failed and another one begins.
  package func restart() {
    let spill = state.withLock { state in
      let spill = state.spill
      state.clear()
      return spill
    }
    if let spill { spill.lane.submit(.discard(spill)) }
  }

  /// Returns the received body after the transfer has succeeded, and resets the sink.
  func finish(
    as entry: @escaping @Sendable () -> PictureEntry,
    replacing previous: PictureEntry?,
    connectionIsOpen isOpen: Bool,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) -> ReceivedPicture {
    state.withLock { state in
      defer { state.clear() }
      return ReceivedPicture(
        entry: entry,
        // The type is nil if there were too few bytes to detect one.
        type: state.type,
        rest: state.gathered,
        spill: state.spill,
        lane: state.lane,
        provesEnd: state.head?.provesEnd(connectionIsOpen: isOpen) ?? true,
        previous: previous,
        completion: completion
      )
    }
  }
}
