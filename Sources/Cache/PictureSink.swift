import Synchronization
import Transport

/// Takes the body of one picture as it arrives: the first bytes are sniffed, the rest gathered.
///
/// A body up to ``spillSize`` stays in memory until it is whole, so that a small picture costs one
/// open and one write; a larger one goes to its partial file a piece at a time, hashed on the
/// way. Runs on the transfer thread; the pieces are worked on by the store's own queue, in order.
public final class PictureSink: BodySink {
  /// How many bytes are gathered before they are handed on: 256 KiB.
  static let spillSize = 256 * 1024

  /// The picture that is being fetched.
  public let id: PictureID
  /// Its URL, as it is sent.
  public let url: String
  private let store: PictureStore
  private let state: Mutex<State>

  private struct State {
    var gathered: [UInt8] = []
    var handedOn: Int64 = 0
    var type: PictureType?
    var spill: PictureSpill?
  }

  init(id: PictureID, url: String, store: PictureStore) {
    self.id = id
    self.url = url
    self.store = store
    self.state = Mutex(State())
  }

  /// Readies the sink for a body.
  public func begin(_ head: ResponseHead, at offset: Int64) -> BodyDecision {
    let promised = head.contentLength ?? 0
    state.withLock { state in
      state.gathered.reserveCapacity(Int(min(max(promised, 0), Int64(Self.spillSize))))
    }
    return .accept
  }

  /// Takes a piece of the body, refusing it as soon as its first bytes are of no picture.
  public func receive(_ bytes: RawSpan) -> BodyDecision {
    let piece = state.withLock { state -> (bytes: [UInt8], spill: PictureSpill)?? in
      bytes.withUnsafeBytes { state.gathered.append(contentsOf: $0) }
      if state.type == nil, state.gathered.count >= PictureType.sniffLength {
        guard let type = PictureType(sniffing: state.gathered) else { return .none }
        state.type = type
      }
      guard state.gathered.count >= Self.spillSize else { return .some(nil) }
      let spill = state.spill ?? PictureSpill(id: id)
      state.spill = spill
      let piece = state.gathered
      state.handedOn += Int64(piece.count)
      state.gathered = []
      state.gathered.reserveCapacity(Self.spillSize)
      return (piece, spill)
    }
    switch piece {
    case .none:
      return .refuse(.notAPicture)
    case .some(let piece?):
      return store.spill(piece.bytes, into: piece.spill) ? .accept : .refuse(.disk)
    case .some(.none):
      return .accept
    }
  }

  /// Forgets what came so far: the attempt failed and another begins.
  public func restart() {
    let spill = state.withLock { state in
      let spill = state.spill
      state = State()
      return spill
    }
    if let spill { store.discard(spill) }
  }

  /// What arrived, once the transfer has ended well: the type, and the bytes not yet handed on.
  func finish() -> (type: PictureType?, rest: [UInt8], spill: PictureSpill?) {
    state.withLock { state in
      defer { state = State() }
      // Fewer bytes than any picture has were never sniffed, and so have no type.
      return (state.type, state.gathered, state.spill)
    }
  }
}
