import Synchronization
import Transport

/// Gathers a JSON body in memory; the transport holds it to the request's limit.
final class BodyBuffer: BodySink {
  private let bytes = Mutex<[UInt8]>([])

  func begin(_ head: ResponseHead, at offset: Int64) -> BodyDecision {
    // What is promised may be a lie: trust it for the first megabyte only.
    bytes.withLock { $0.reserveCapacity(Int(min(max(head.contentLength ?? 0, 0), 1 << 20))) }
    return .accept
  }

  func receive(_ piece: RawSpan) -> BodyDecision {
    bytes.withLock { bytes in piece.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    return .accept
  }

  func restart() {
    bytes.withLock { $0.removeAll(keepingCapacity: true) }
  }

  /// What came; the buffer is empty afterwards.
  func take() -> [UInt8] {
    bytes.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
  }
}
