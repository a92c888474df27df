import Cache
import Synchronization
import Transport

/// Takes no body of the length of the file that is held already.
///
/// For pictures whose row was lost and whose origin gives no date: nothing asks whether such a file
/// is still right, so the origin answers with the whole body. That its length is that of the file says
/// enough to keep the file for now; the next time its word ends it is fetched in full.
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

  func begin(_ head: ResponseHead, at offset: Int64) -> BodyDecision {
    guard offset == 0, head.status == 200, !head.isEncoded, head.contentLength == bytes.count
    else {
      return sink.begin(head, at: offset)
    }
    refused.withLock { $0 = head }
    return .refuse(Self.sameLength)
  }

  func receive(_ bytes: RawSpan) -> BodyDecision { sink.receive(bytes) }

  func restart() { sink.restart() }
}
