/// Where an interrupted body may be resumed.
package struct ResumePoint: Hashable, Sendable {
  /// Bytes already held.
  package let offset: ByteCount
  /// A strong entity-tag, or a `Last-Modified` that is strong in the sense of RFC 9110, section 8.8.2.2.
  package let validator: String
  /// Where the bytes held came from in the end, see ``WebURL/resource``; nil when that is not known.
  ///
  /// A redirect may lead elsewhere the next time, where the same tag names other bytes.
  package var source: String?

  /// Makes a resume point; see ``Validators/resumeValidator(date:)`` for what may validate one.
  package init(offset: ByteCount, validator: String, source: String? = nil) {
    self.offset = offset
    self.validator = validator
    self.source = source
  }
}

/// What a sink decides about a body, or about a part of it.
package enum BodyDecision: Sendable {
  /// Take it, and what follows.
  case accept
  /// Stop; the transfer fails for that reason and is not retried.
  case refuse(FailureReason)
}

/// Takes the body of one transfer.
///
/// Every method is called on the transfer thread, so that all other transfers wait meanwhile: be quick, and never
/// wait for another transfer. A sink belongs to one `fetch` at a time. In order: `resumePoint`, `begin`, any
/// number of `receive`; when an attempt fails and another follows, `resumePoint` again and, unless it yields a
/// point that the next attempt can use, `restart` before the next `begin`.
package protocol BodySink: AnyObject, Sendable {
  /// Where to resume, read before each attempt; nil starts from the first byte.
  var resumePoint: ResumePoint? { get }

  /// A body is about to come, for status 200 to 299 only.
  ///
  /// `offset` is 0, or the resume point's offset once the server has proved (206, `Content-Range` and validator)
  /// that the bytes follow those already held.
  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision

  /// The next bytes, valid during the call only.
  func receive(_ bytes: RawSpan) -> BodyDecision

  /// Forget every byte that came or was held: the next `begin` starts from 0.
  func restart()
}

extension BodySink {
  /// Nothing to resume.
  package var resumePoint: ResumePoint? { nil }
}
