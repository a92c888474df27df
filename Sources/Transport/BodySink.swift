import Base

/// The point from which an interrupted body can be resumed.
package struct ResumePoint: Hashable, Sendable {
  /// The number of bytes already received.
  package let offset: ByteCount
  /// A strong entity-tag, or a `Last-Modified` that is strong in the sense of RFC 9110, section 8.8.2.2.
  package let validator: String
  /// The resource that sent the received bytes, after redirects (``WebURL/resource``); nil when it is not known.
  ///
  /// In the next attempt, a redirect may lead to another resource, where the same tag names other bytes.
  package var source: String?

  /// Makes a resume point; see ``Validators/resumeValidator(date:)`` for valid validators.
  package init(offset: ByteCount, validator: String, source: String? = nil) {
    self.offset = offset
    self.validator = validator
    self.source = source
  }
}

/// A sink's decision about a body, or about a part of it.
package enum BodyDecision: Sendable {
  /// Take the body or part, and continue.
  case accept
  /// Stop. The transfer fails for this reason and is not retried.
  case refuse(FailureReason)
}

/// Takes the body of one transfer.
///
/// The transfer thread calls every method, and all other transfers wait meanwhile. So a method must be quick, and
/// must never wait for another transfer. A sink belongs to one `fetch` at a time. The order of calls is
/// `resumePoint`, `begin`, and any number of `receive`. When an attempt fails and another follows, `resumePoint` is
/// called again. Unless the next attempt can use that point, `restart` is called before the next `begin`.
package protocol BodySink: AnyObject, Sendable {
  /// The point to resume from, read before each attempt; nil to start from the first byte.
  var resumePoint: ResumePoint? { get }

  /// Announces a body; called only for a status from 200 to 299.
  ///
  /// `offset` is 0, or the resume point's offset once the server has proved (206, `Content-Range` and validator) that
  /// the bytes follow the bytes already received.
  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision

  /// Takes the next bytes, which are valid only during the call.
  func receive(_ bytes: RawSpan) -> BodyDecision

  /// Forgets every byte received so far: the next `begin` starts from 0.
  func restart()
}

extension BodySink {
  /// Nil: there is nothing to resume.
  package var resumePoint: ResumePoint? { nil }
}

extension ResumePoint {
  /// Whether a 206 proves that its bytes follow the bytes already received.
  ///
  /// All of this must hold, and is checked in this order. The status is 206. `Content-Range` is a single range that
  /// starts at the offset. The resource is the same. `Content-Length` matches. The range extends to the end of the
  /// whole body. With an entity-tag as validator, the 206 must repeat that tag (RFC 9110, section 15.3.7). With a
  /// date as validator, the `Last-Modified` of the 206, if it has one, must be that date.
  package func isContinued(by head: ResponseHead) -> Bool {
    guard head.status == 206, let value = head.headers["Content-Range"],
      let range = ContentRange(value), let bytes = range.bytes, bytes.lowerBound == offset,
      source == nil || source == head.url.resource
    else { return false }
    if let length = head.contentLength, length != bytes.upperBound - bytes.lowerBound + 1 {
      return false
    }
    // A range that stops short of the end would leave a hole.
    if let whole = range.whole, bytes.upperBound != whole - 1 { return false }
    if let tag = EntityTag(validator) {
      let answered = head.headers.bytes("ETag").flatMap { EntityTag($0) }
      return answered?.isIdentical(to: tag) ?? false
    }
    return head.headers["Last-Modified"].map { $0 == validator } ?? true
  }

  /// The number of bytes that a 206 has if it continues the body; nil without a valid `Content-Range`.
  package func remainder(by head: ResponseHead) -> ByteCount? {
    head.headers["Content-Range"].flatMap(ContentRange.init)?.bytes.map {
      $0.upperBound - $0.lowerBound + 1
    }
  }
}

/// The value of the `Content-Range` field of a 206 or 416. (RFC 9110, section 14.4)
package struct ContentRange: Hashable, Sendable {
  /// The offsets of the first and the last byte; nil in a 416.
  package let bytes: ClosedRange<ByteCount>?
  /// The length of the whole body; nil when the server does not know it.
  package let whole: ByteCount?

  /// Reads `bytes 7-9/20`, `bytes 7-9/*` or `bytes */20`; nil for anything else, including contradictions.
  package init?(_ value: String) {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    guard scanner.skip(word: "bytes") else { return nil }
    scanner.skipBlanks()
    var bytes: ClosedRange<ByteCount>?
    if !scanner.skip(UInt8(ascii: "*")) {
      guard let first = scanner.number(), scanner.skip(UInt8(ascii: "-")),
        let last = scanner.number(), first <= last, last < .max
      else { return nil }
      bytes = ByteCount(first)...ByteCount(last)
    }
    guard scanner.skip(UInt8(ascii: "/")) else { return nil }
    let isUnknown = scanner.skip(UInt8(ascii: "*"))
    whole = isUnknown ? nil : scanner.number().map(ByteCount.init(_:))
    scanner.skipBlanks()
    guard scanner.isAtEnd, isUnknown || whole != nil, bytes != nil || whole != nil else {
      return nil
    }
    if let bytes, let whole, bytes.upperBound >= whole { return nil }
    self.bytes = bytes
  }
}
