import Base
import Synchronization
import Transport

/// Takes the body of one picture as it arrives: the first bytes are sniffed, the rest gathered.
///
/// A body up to ``spillSize`` stays in memory until it is whole, so that a small picture costs one
/// open and one write; a larger one goes to its partial file a piece at a time, hashed on the
/// way. Runs on the transfer thread; the pieces are worked on in one of the store's lanes, in order.
///
/// The bytes before a failure are kept, in memory or on disk, so that the next attempt can continue
/// after them when the origin's validator is strong. Beyond the run they are kept on disk: all but
/// the last 256 KiB in any case, and those too unless the process is killed.
package final class PictureSink: BodySink {
  /// How many bytes are gathered before they are handed on: 256 KiB.
  static let spillSize = 256 * 1024

  /// The picture that is being fetched.
  package let id: PictureID
  /// Its URL, as it is sent.
  package let url: String
  private let store: PictureStore
  private let state: Mutex<Body>

  private struct Body {
    var gathered: [UInt8] = []
    var handedOn: ByteCount = 0
    var type: PictureType?
    var spill: PartialPicture?
    /// The lane of this picture's pieces, once one went there: later pieces must not overtake them.
    var lane: WriterQueue?
    /// The head of the response; read only when a transfer breaks or a body is large.
    var head: ResponseHead?
    /// The partial body of an earlier run.
    var held: PartialBody?

    var count: ByteCount { handedOn + ByteCount(gathered.count) }

    /// Forgets all but the lane.
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

  /// Where to resume: after the bytes that came so far; nil when the origin cannot be asked for the rest.
  package var resumePoint: ResumePoint? {
    state.withLock { state in
      guard state.count > 0, let body = body(state) else { return nil }
      return ResumePoint(offset: state.count, validator: body.validator, source: body.source)
    }
  }

  /// The first bytes of a body that was refused, until the sink is used again.
  package var refused: [UInt8] { state.withLock { Array($0.gathered.prefix(8192)) } }

  /// The data that a later run needs to resume the arriving body; nil when it cannot be resumed.
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

  /// Readies the sink for a body, or for the rest of one.
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

  /// Takes a piece of the body, refusing it as soon as its first bytes are of no picture.
  package func receive(_ bytes: RawSpan) -> BodyDecision {
    let piece = state.withLock { state -> (bytes: [UInt8], spill: PartialPicture)?? in
      // Handed on before it overflows: an array that grows is copied to one of twice the size.
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

  /// Takes the gathered bytes out of memory, to be written.
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

  /// Ends a transfer that failed for good in this run: keeps its bytes for the next run to resume, when there are
  /// enough and a validator.
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

  /// Discards the bytes so far: the attempt failed and another begins.
  package func restart() {
    let spill = state.withLock { state in
      let spill = state.spill
      state.clear()
      return spill
    }
    if let spill { spill.lane.submit(.discard(spill)) }
  }

  /// Hands out the received body, once the transfer has succeeded, and keeps nothing.
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
        // Fewer bytes than any picture has were never sniffed, and so have no type.
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
