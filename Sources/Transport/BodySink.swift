import Base

/// Where an interrupted body may be resumed.
package struct ResumePoint: Hashable, Sendable {
  /// Bytes already held.
  package let offset: ByteCount
  /// A strong entity-tag, or a `Last-Modified` that is strong in the sense of RFC 9110, section 8.8.2.2.
  package let validator: String
  /// The resource that sent the bytes held, after redirects (``WebURL/resource``); nil when it is not known.
  ///
  /// The next time, a redirect may lead to another resource, where the same tag names other bytes.
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
  /// Take it, and continue.
  case accept
  /// Stop; the transfer fails for that reason and is not retried.
  case refuse(FailureReason)
}

/// Takes the body of one transfer.
///
/// Every method is called on the transfer thread, so that all other transfers wait meanwhile: be quick, and never wait
/// for another transfer. A sink belongs to one `fetch` at a time. The order of calls is `resumePoint`, `begin`, any
/// number of `receive`. When an attempt fails and another follows, `resumePoint` is called again. Unless the next
/// attempt can use that point, `restart` is called before the next `begin`.
package protocol BodySink: AnyObject, Sendable {
  /// Where to resume, read before each attempt; nil starts from the first byte.
  var resumePoint: ResumePoint? { get }

  /// A body follows; called for status 200 to 299 only.
  ///
  /// `offset` is 0, or the resume point's offset once the server has proved (206, `Content-Range` and validator)
  /// that the bytes follow those already held.
  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision

  /// The next bytes, valid during the call only.
  func receive(_ bytes: RawSpan) -> BodyDecision

  /// Forget every byte received or held: the next `begin` starts from 0.
  func restart()
}

extension BodySink {
  /// Nothing to resume.
  package var resumePoint: ResumePoint? { nil }
}

extension ResumePoint {
  /// Whether a 206 proves that its bytes follow those already held.
  ///
  /// The checks, in this order: status 206; a `Content-Range` of one part that starts at the offset; the same resource; a
  /// matching `Content-Length`; no end before the end of the whole. With an entity-tag as validator, the 206 must repeat
  /// that tag (RFC 9110, section 15.3.7). With a date, its `Last-Modified`, if it has one, must be that date.
  package func isContinued(by head: ResponseHead) -> Bool {
    guard head.status == 206, let value = head.headers["Content-Range"],
      let range = ContentRange(value), let bytes = range.bytes, bytes.lowerBound == offset,
      source == nil || source == head.url.resource
    else { return false }
    if let length = head.contentLength, length != bytes.upperBound - bytes.lowerBound + 1 {
      return false
    }
    // A part that stops short of the end would leave a hole.
    if let whole = range.whole, bytes.upperBound != whole - 1 { return false }
    if let tag = EntityTag(validator) {
      let answered = head.headers.bytes("ETag").flatMap { EntityTag($0) }
      return answered?.isIdentical(to: tag) ?? false
    }
    return head.headers["Last-Modified"].map { $0 == validator } ?? true
  }

  /// How many bytes a 206 that continues must have.
  package func remainder(by head: ResponseHead) -> ByteCount? {
    head.headers["Content-Range"].flatMap(ContentRange.init)?.bytes.map {
      $0.upperBound - $0.lowerBound + 1
    }
  }
}

/// The value of the `Content-Range` field of a 206 or 416. (RFC 9110, section 14.4)
package struct ContentRange: Hashable, Sendable {
  /// The first and last byte's offset; nil in a 416.
  package let bytes: ClosedRange<ByteCount>?
  /// The whole's length; nil when the server does not know it.
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
