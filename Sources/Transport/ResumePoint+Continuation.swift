extension ResumePoint {
  /// Whether a 206 proves that its bytes follow those already held.
  ///
  /// It must be one part that starts at the offset, and carry the same validator if it carries one of the kind. (RFC
  /// 9110, section 15.3.7: a 206 to `If-Range` must repeat the `ETag`, so one without is of another version.)
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

  /// How many bytes a 206 that continues has to bring.
  package func remainder(by head: ResponseHead) -> ByteCount? {
    head.headers["Content-Range"].flatMap(ContentRange.init)?.bytes.map {
      $0.upperBound - $0.lowerBound + 1
    }
  }
}
