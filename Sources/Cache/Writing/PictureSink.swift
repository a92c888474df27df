import Base
import Synchronization
import Transport

/// Receives one picture: detects its type from the first bytes, and collects or writes the rest.
///
/// A picture of up to ``pieceSize`` bytes stays in memory until it is complete, so that it takes only one open and one
/// write. A larger picture is written to its file in `partial/` and hashed piece by piece. The sink is called on the
/// transfer thread. It passes the pieces to one of the store's writer queues, which handles them in order.
///
/// If the transfer fails, the received bytes are kept in memory or on disk. If the origin sent a strong validator, the
/// next attempt of this run continues after these bytes. For the next run, only bytes on disk are kept. If the process
/// is killed, at most the last 256 KiB are lost.
package final class PictureSink: BodySink {
  /// The size of the pieces that are passed to a writer queue, in bytes.
  static let pieceSize = 256 * 1024

  package let id: PictureID
  /// The URL that is requested.
  package let url: String
  private let store: PictureStore
  private let state: Mutex<Body>

  private struct Body {
    /// The received bytes that are not passed to the writer queue yet.
    var gathered: [UInt8] = []
    /// The number of bytes that were passed to the writer queue, or that an earlier run left.
    var passedOn: ByteCount = 0
    var type: PictureType?
    /// The file of a large picture; nil while all bytes are in memory.
    var partial: PartialPicture?
    /// The writer queue of this picture, which is chosen with the first piece.
    ///
    /// All pieces use the same queue, so that they stay in order.
    var queue: WriterQueue?
    /// The head of the response.
    ///
    /// It is needed if the transfer breaks, or if the picture is large.
    var head: ResponseHead?
    /// The unfinished download of an earlier run.
    var held: PartialBody?

    var count: ByteCount { passedOn + ByteCount(gathered.count) }

    /// Discards everything except the choice of the writer queue.
    mutating func clear() {
      self = Body(queue: queue)
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
      state.passedOn = held.offset
      let queue = store.nextQueue()
      state.queue = queue
      state.partial = PartialPicture(id: id, resuming: held, queue: queue)
    }
    self.state = Mutex(state)
  }

  /// The point at which the transfer can be resumed, after the bytes so far; nil if it cannot be resumed.
  package var resumePoint: ResumePoint? {
    state.withLock { state in
      guard state.count > 0, let body = body(state) else { return nil }
      return ResumePoint(
        offset: state.count,
        validator: body.validator,
        source: body.source,
        whole: body.length
      )
    }
  }

  /// The first bytes of a body that the sink refused, for the error message.
  ///
  /// They are kept until the sink is used again.
  package var refused: [UInt8] { state.withLock { Array($0.gathered.prefix(8192)) } }

  /// The description with which this download can be resumed; nil if it cannot be resumed.
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

  /// Prepares to receive a body, or the rest of a body that is resumed.
  package func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    let promised = max(.zero, head.contentLength ?? .zero)
    state.withLock { state in
      if offset == 0 { state.head = head }
      if promised > ByteCount(Self.pieceSize), state.gathered.isEmpty {
        state.gathered = store.buffers.take()
      } else {
        state.gathered.reserveCapacity(Int(min(promised, ByteCount(Self.pieceSize)).count))
      }
    }
    return .accept
  }

  /// Receives a piece of the body.
  ///
  /// Refuses the body as soon as its first bytes show that it is not a picture.
  package func receive(_ bytes: RawSpan) -> BodyDecision {
    let piece = state.withLock { state -> (bytes: [UInt8], partial: PartialPicture)?? in
      // Pass the collected bytes on before they exceed the array's capacity, because an array that grows is copied to
      // an array of twice the size.
      let isFull =
        !state.gathered.isEmpty && bytes.byteCount > Self.pieceSize - state.gathered.count
      let piece = isFull ? takePiece(&state) : nil
      if isFull { state.gathered = store.buffers.take() }
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
    case .some(let (bytes, partial)?):
      partial.queue.submit(.piece(bytes, partial))
      return partial.failure.withLock { $0 == nil } ? .accept : .refuse(.disk)
    case .some(.none):
      return .accept
    }
  }

  /// Takes the collected bytes, and chooses the file and the writer queue to which they go.
  private func takePiece(_ state: inout Body) -> (bytes: [UInt8], partial: PartialPicture) {
    let queue = state.queue ?? store.nextQueue()
    let partial = state.partial ?? PartialPicture(id: id, body: body(state), queue: queue)
    state.queue = queue
    state.partial = partial
    let piece = state.gathered
    state.passedOn += ByteCount(piece.count)
    state.gathered = []
    return (piece, partial)
  }

  /// Ends a transfer that failed and is not retried in this run.
  ///
  /// The received bytes are kept for the next run if there are at least ``PartialBodies/leastSize`` and the transfer
  /// can be resumed.
  package func leave() {
    let (piece, partial, isResumable) = state.withLock { state in
      defer { state.clear() }
      let isResumable = state.count >= PartialBodies.leastSize && body(state) != nil
      let piece = isResumable && !state.gathered.isEmpty ? takePiece(&state).bytes : nil
      return (piece, state.partial, isResumable)
    }
    guard let partial else { return }
    if let piece { partial.queue.submit(.piece(piece, partial)) }
    partial.queue.submit(isResumable ? .leave(partial) : .discard(partial))
  }

  /// Discards the received bytes, because the attempt failed and the next attempt begins at the start of the picture.
  package func restart() {
    let partial = state.withLock { state in
      let partial = state.partial
      state.clear()
      return partial
    }
    if let partial { partial.queue.submit(.discard(partial)) }
  }

  /// Returns the received picture after a successful transfer, and resets the sink.
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
        // The type is nil if there were too few bytes to detect it.
        type: state.type,
        rest: state.gathered,
        partial: state.partial,
        queue: state.queue,
        provesEnd: state.head?.provesEnd(connectionIsOpen: isOpen) ?? true,
        previous: previous,
        completion: completion
      )
    }
  }
}
