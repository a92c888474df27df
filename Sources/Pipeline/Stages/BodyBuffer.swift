import Cache
import Synchronization
import Transport

/// Gathers a document's body; the transport holds it to the request's limit.
final class BodyBuffer: BodySink {
  private let spool: Mutex<BodySpool>

  /// An empty one.
  ///
  /// - Parameter layout: The cache in which large bodies wait; nil leaves them in memory.
  init(in layout: CacheLayout? = nil) {
    spool = Mutex(BodySpool(in: layout))
  }

  func begin(_ head: ResponseHead, at offset: Int64) -> BodyDecision {
    // What is promised may be a lie: it is trusted for the first megabyte only.
    spool.withLock { $0.reserve(head.contentLength ?? 0) }
    return .accept
  }

  func receive(_ piece: RawSpan) -> BodyDecision {
    spool.withLock { spool in piece.withUnsafeBytes { spool.append($0) } }
    return .accept
  }

  func restart() {
    spool.withLock { $0.removeAll() }
  }

  /// What came; the buffer is empty afterwards.
  func take() -> DocumentBody {
    spool.withLock { $0.take() }
  }

  /// What came into a buffer that leaves all in memory; the buffer is empty afterwards.
  func takeBytes() -> [UInt8] {
    take().inMemory
  }
}
