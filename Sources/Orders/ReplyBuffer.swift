import Synchronization
import Transport

/// Keeps the beginning of a webhook's answer and lets the rest go by.
final class ReplyBuffer: BodySink {
  /// As much as tells any answer of Slack's from any other page.
  private static let limit = 1 << 10

  private let kept = Mutex<[UInt8]>([])

  /// The first bytes that came.
  var bytes: [UInt8] { kept.withLock { $0 } }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    kept.withLock { kept in
      bytes.withUnsafeBytes { kept.append(contentsOf: $0.prefix(Self.limit - kept.count)) }
    }
    return .accept
  }

  func restart() { kept.withLock { $0 = [] } }
}
