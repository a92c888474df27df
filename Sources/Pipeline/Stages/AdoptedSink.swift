import Cache
import Synchronization
import Transport

/// Refuses a body that is as long as the file that is already held.
///
/// For pictures whose row was lost and whose origin sends no date: there is no validator to ask with, so the origin
/// answers with the whole body. When its length is that of the file, the file is kept until the response expires;
/// then the picture is fetched in full.
final class AdoptedSink: BodySink {
  /// The reason of a transfer that this sink ended.
  static let sameLength = FailureReason(rawValue: "same-length")

  private let sink: any BodySink
  private let bytes: ByteCount
  private let refused = Mutex<ResponseHead?>(nil)

  /// A sink before another, for a held file of so many bytes.
  init(_ sink: any BodySink, bytes: ByteCount) {
    self.sink = sink
    self.bytes = bytes
  }

  /// What the origin said of the body that was not taken.
  var head: ResponseHead? { refused.withLock { $0 } }

  var resumePoint: ResumePoint? { sink.resumePoint }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    guard offset == 0, head.status == 200, !head.isEncoded, head.contentLength == bytes
    else {
      return sink.begin(head, at: offset)
    }
    refused.withLock { $0 = head }
    return .refuse(Self.sameLength)
  }

  func receive(_ bytes: RawSpan) -> BodyDecision { sink.receive(bytes) }

  func restart() { sink.restart() }
}
