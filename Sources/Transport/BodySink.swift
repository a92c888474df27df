import Base
import Synchronization

/// The point from which the transfer of an interrupted body can be resumed.
package struct ResumePoint: Hashable, Sendable {
  /// The number of bytes that were received before the interruption.
  package let offset: ByteCount
  /// The value to send in `If-Range`: a strong entity-tag such as `"abc"`, or a date from `Last-Modified` that is
  /// strong in the sense of RFC 9110, section 8.8.2.2.
  package let validator: String
  /// The ``WebURL/resource`` that sent the received bytes, after all redirects.
  ///
  /// Nil if it is not known.
  ///
  /// A redirect may lead the next attempt to another resource, where the same entity-tag can name other bytes.
  package var source: String?
  /// The length of the whole body, as the interrupted response announced it; nil if it did not.
  package var whole: ByteCount?

  /// Makes a resume point.
  ///
  /// ``Validators/resumeValidator(date:)`` returns valid validators.
  package init(
    offset: ByteCount,
    validator: String,
    source: String? = nil,
    whole: ByteCount? = nil
  ) {
    (self.offset, self.validator, self.source, self.whole) = (offset, validator, source, whole)
  }
}

/// The decision of a ``BodySink`` about a body, or about a part of a body.
package enum BodyDecision: Sendable {
  /// The transfer continues.
  case accept
  /// The transfer fails with this reason, and is not retried.
  case refuse(FailureReason)
}

/// Receives the body of one transfer, for example to write it to a file.
///
/// All methods are called on the transfer thread, and all other transfers wait until a method returns. So a method must
/// be quick, and must never wait for another transfer. A sink belongs to one `fetch` at a time.
///
/// Each attempt first reads `resumePoint`, then calls `begin` once and `receive` any number of times. If an attempt
/// fails and the next attempt cannot resume the body, `restart` is called before the next `begin`.
package protocol BodySink: AnyObject, Sendable {
  /// The point from which the next attempt can resume the body; nil if it must fetch the body from its first byte.
  var resumePoint: ResumePoint? { get }

  /// Announces a body.
  ///
  /// The status of the response is from 200 to 299.
  ///
  /// `offset` is 0 for a whole body. It is the offset of the resume point if the server has proved that the body
  /// continues the received bytes. See ``ResumePoint/remainder(by:)``.
  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision

  /// Receives the next bytes, which are valid only during the call.
  func receive(_ bytes: RawSpan) -> BodyDecision

  /// Discards all received bytes.
  ///
  /// The next call of `begin` has the offset 0.
  func restart()
}

extension BodySink {
  /// Nil, for sinks that cannot resume a body.
  package var resumePoint: ResumePoint? { nil }

  /// Accepts every body.
  package func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }
}

/// Collects the first bytes of a body in memory, and ignores or refuses the rest.
package final class MemorySink: BodySink {
  private let most: Int
  private let refusesRest: Bool
  private let collected = Mutex<[UInt8]>([])

  /// Makes an empty sink.
  ///
  /// - Parameters:
  ///   - most: The maximum number of bytes to collect.
  ///   - refusesRest: Whether the transfer fails when they are collected, with the reason `too-large`.
  package init(most: Int = .max, refusesRest: Bool = false) {
    (self.most, self.refusesRest) = (most, refusesRest)
  }

  /// The collected bytes.
  package var bytes: [UInt8] { collected.withLock { $0 } }

  package func receive(_ bytes: RawSpan) -> BodyDecision {
    collected.withLock { collected in
      bytes.withUnsafeBytes { collected.append(contentsOf: $0.prefix(most - collected.count)) }
      return refusesRest && collected.count == most ? .refuse(.tooLarge) : .accept
    }
  }

  package func restart() { collected.withLock { $0 = [] } }
}

extension ResumePoint {
  /// The number of bytes in the body of a 206 response that continues the bytes that were received before.
  ///
  /// The result is nil unless the head proves that it continues them.
  ///
  /// All of the following must be true:
  ///
  /// - The status is 206.
  /// - `Content-Range` is a single range that starts at the offset and extends to the end of the whole body, which has
  ///   the same length as before.
  /// - The response is from the same resource.
  /// - `Content-Length`, if there is one, is the length of the range.
  /// - If the validator is an entity-tag, the response has the same entity-tag. (RFC 9110, section 15.3.7)
  /// - If the validator is a date, the response has no `Last-Modified`, or the `Last-Modified` is this date.
  package func remainder(by head: ResponseHead) -> ByteCount? {
    guard head.status == 206, let value = head.headers["Content-Range"],
      let range = ContentRange(value), range.bytes.lowerBound == offset,
      source == nil || source == head.url.resource
    else { return nil }
    let remainder = range.bytes.upperBound - offset + 1
    if let length = head.contentLength, length != remainder { return nil }
    // If the range ended before the end of the body, the last part of the body would be missing.
    let end = offset + remainder
    if [range.whole, whole].contains(where: { $0 != nil && $0 != end }) { return nil }
    let isSame =
      if let tag = EntityTag(validator) {
        head.headers["ETag"].flatMap(EntityTag.init)?.isIdentical(to: tag) ?? false
      } else {
        head.headers["Last-Modified"].map { $0 == validator } ?? true
      }
    return isSame ? remainder : nil
  }
}

/// The value of a `Content-Range` field, for example `bytes 7-9/20`. (RFC 9110, section 14.4)
package struct ContentRange: Hashable, Sendable {
  /// The offsets of the first and the last byte in the range, for example 7 and 9.
  package let bytes: ClosedRange<ByteCount>
  /// The length of the whole body, for example 20.
  ///
  /// Nil if the server does not know the length.
  package let whole: ByteCount?

  /// Parses a value such as `bytes 7-9/20` or `bytes 7-9/*`.
  ///
  /// The result is nil for any other value, for example `bytes */20` in a response with status 416, and for a
  /// contradiction such as `bytes 7-9/5`.
  package init?(_ value: String) {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    guard scanner.skip(word: "bytes") else { return nil }
    scanner.skipBlanks()
    guard let first = scanner.number(), scanner.skip(UInt8(ascii: "-")),
      let last = scanner.number(), first <= last, last < .max, scanner.skip(UInt8(ascii: "/"))
    else { return nil }
    bytes = ByteCount(first)...ByteCount(last)
    let isUnknown = scanner.skip(UInt8(ascii: "*"))
    whole = isUnknown ? nil : scanner.number().map(ByteCount.init(_:))
    scanner.skipBlanks()
    guard scanner.isAtEnd, isUnknown || whole != nil else { return nil }
    if let whole, bytes.upperBound >= whole { return nil }
  }
}
