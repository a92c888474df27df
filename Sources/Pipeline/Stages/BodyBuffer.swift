import Cache
import Dispatch
import Synchronization
import Transport

/// Gathers a document's body; the transport holds it to the request's limit.
///
/// The transfer thread only gathers: what makes a piece is written on a queue of its own.
final class BodyBuffer: BodySink {
  private struct State {
    /// What came and makes no piece yet.
    var waiting: [UInt8] = []
    /// What came before; nobody has it while the queue adds to it.
    var spool: BodySpool
    /// Whether the queue had anything to do.
    var isSpooled = false
  }

  private let state: Mutex<State>
  private let empty: BodySpool

  /// Writes the pieces of all bodies.
  private static let queue = DispatchQueue(label: "larder.bodies")

  /// An empty one.
  ///
  /// - Parameter layout: The cache in which large bodies wait; nil leaves them in memory.
  init(in layout: CacheLayout? = nil) {
    empty = BodySpool(in: layout)
    state = Mutex(State(spool: empty))
  }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    // What is promised may be a lie: it is trusted for the first megabyte only.
    let promised = Int(clamping: head.contentLength?.count ?? 0)
    state.withLock { $0.waiting.reserveCapacity(min(max(promised, 0), BodySpool.piece)) }
    return .accept
  }

  func receive(_ piece: RawSpan) -> BodyDecision {
    let full: [UInt8]? = state.withLock { state in
      piece.withUnsafeBytes { state.waiting.append(contentsOf: $0) }
      guard state.waiting.count >= BodySpool.piece else { return nil }
      defer { state.waiting = [] }
      state.isSpooled = true
      return state.waiting
    }
    if let full { Self.queue.async { [self] in change { $0.append(full) } } }
    return .accept
  }

  func restart() {
    let isSpooled = state.withLock { state in
      state.waiting.removeAll(keepingCapacity: true)
      return state.isSpooled
    }
    if isSpooled { Self.queue.async { [self] in change { $0.removeAll() } } }
  }

  /// What came; the buffer is empty afterwards.
  ///
  /// Waits until all of it is where it belongs.
  func take() -> DocumentBody {
    let (rest, isSpooled) = state.withLock { state in
      defer { state.waiting = [] }
      return (state.waiting, state.isSpooled)
    }
    guard isSpooled else { return DocumentBody(rest) }
    return Self.queue.sync {
      change { spool in
        spool.append(rest)
        return spool.take()
      }
    }
  }

  /// What came into a buffer that leaves all in memory; the buffer is empty afterwards.
  func takeBytes() -> [UInt8] {
    take().inMemory
  }

  /// Changes the spool, on the queue: files are written while no lock is held.
  private func change<Value>(_ body: (inout BodySpool) -> Value) -> Value {
    var spool = state.withLock { state in
      defer { state.spool = empty }
      return state.spool
    }
    let value = body(&spool)
    state.withLock { [spool] in $0.spool = spool }
    return value
  }
}
