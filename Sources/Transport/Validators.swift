import Base

/// Validators for a conditional request: ETag and Last-Modified. (RFC 9110, section 8.8)
///
/// Validators are kept as the bytes received, because servers compare bytes, and not all validators are text.
package struct Validators: Hashable, Sendable {
  /// The `ETag` field, with its quotes and `W/`; without quotes if the server writes none.
  package let entityTag: [UInt8]?
  /// The `Last-Modified` field.
  package let lastModified: [UInt8]?

  /// Makes validators; malformed entity-tags are dropped, because they can match nothing.
  ///
  /// A tag that is one word without quotes is kept nevertheless: some stores write such tags, and compare them as
  /// written.
  package init(entityTag: [UInt8]?, lastModified: [UInt8]?) {
    self.entityTag = entityTag.flatMap { EntityTag($0) == nil && !Self.isWord($0) ? nil : $0 }
    self.lastModified = lastModified.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a tag is one word of visible characters, without characters that have a meaning in a list of tags.
  private static func isWord(_ tag: [UInt8]) -> Bool {
    !tag.isEmpty && tag.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"\",*".utf8.contains($0) }
  }

  /// Makes validators of text.
  package init(entityTag: String?, lastModified: String?) {
    self.init(
      entityTag: entityTag.map { Array($0.utf8) },
      lastModified: lastModified.map { Array($0.utf8) }
    )
  }

  /// Reads the validators from a response's fields.
  ///
  /// If there are two different tags, neither is used.
  package init(_ headers: Headers) {
    self.init(
      entityTag: headers.agreedBytes("ETag"),
      lastModified: headers.bytes("Last-Modified")
    )
  }

  /// Whether there are no validators.
  package var isEmpty: Bool { entityTag == nil && lastModified == nil }

  /// Whether a 304 with these validators may refer to this version: the strongest validator that both have decides.
  /// (RFC 9111, section 4.3.4)
  package func mayBeRenewed(by new: Validators) -> Bool {
    if let newTag = new.entityTag {
      guard let entityTag else { return false }
      guard newTag != entityTag else { return true }
      guard let old = EntityTag(entityTag), let new = EntityTag(newTag) else { return false }
      return new.isEquivalent(to: old)
    }
    guard let modified = new.lastModified, let lastModified else { return true }
    return modified == lastModified
  }

  /// The fields of a conditional GET. (RFC 9110, sections 13.1.2 and 13.1.3)
  package var conditionalHeaders: Headers {
    var headers = Headers()
    if let entityTag { headers.append("If-None-Match", bytes: entityTag) }
    if let lastModified { headers.append("If-Modified-Since", bytes: lastModified) }
    return headers
  }

  /// The validator for `If-Range`: a strong tag, or a date at least a minute older than the response.
  ///
  /// A weak tag, or a date that could cover two versions, proves nothing. (RFC 9110, sections 8.8.2.2 and 13.1.5) A tag
  /// that is not text is not used either, because the stored record of an unfinished body is text.
  ///
  /// - Parameter date: The `Date` field of the same response.
  /// - Returns: The field value to send; nil when the body cannot be resumed.
  package func resumeValidator(date: String?) -> String? {
    if let entityTag {
      guard EntityTag(entityTag)?.isWeak == false else { return nil }
      return String(validating: entityTag, as: UTF8.self)
    }
    let epoch = UnixTime(0)
    guard let text = lastModified.flatMap({ String(validating: $0, as: UTF8.self) }),
      let modified = UnixTime(httpDate: text, now: epoch),
      let date, let sent = UnixTime(httpDate: date, now: epoch), sent - modified >= 60
    else { return nil }
    return text
  }
}

/// The condition of a GET: send the body only if the resource has another version than the cache.
package struct Condition: Hashable, Sendable {
  /// The validators of the version.
  package let validators: Validators
  /// The resource that sent the version (``WebURL/resource``), if a redirect led to it; nil for the requested
  /// resource.
  ///
  /// The validators are sent to no other resource, because they may name other bytes there.
  package var source: String?
  /// Whether only the date of the cached version is known; a 304 may then name any tag.
  package let knowsDateOnly: Bool

  /// Makes a condition.
  package init(_ validators: Validators, source: String? = nil, knowsDateOnly: Bool = false) {
    self.validators = validators
    self.source = source
    self.knowsDateOnly = knowsDateOnly
  }

  /// Whether a 304 with these validators refers to the version of the condition.
  package func isMet(by new: Validators) -> Bool {
    let told = knowsDateOnly ? Validators(entityTag: nil, lastModified: new.lastModified) : new
    return validators.mayBeRenewed(by: told)
  }

  /// The condition for a received response; nil if it has no validators.
  package init?(_ head: ResponseHead) {
    let validators = Validators(head.headers.endToEnd)
    guard !validators.isEmpty else { return nil }
    self.init(validators, source: head.redirects.isEmpty ? nil : head.url.resource)
  }
}

/// The name of one version of a resource: bytes, which need not be text. (RFC 9110, section 8.8.3)
package struct EntityTag: Hashable, Sendable, CustomStringConvertible {
  /// Whether versions with different bytes may share the tag.
  package let isWeak: Bool
  /// The text between the quotes.
  package let opaque: [UInt8]

  /// Reads a tag such as `"abc"` or `W/"abc"`; nil for anything else.
  ///
  /// A lower-case `w/` and tags without quotes are not valid.
  package init?(_ value: String) {
    self.init(Array(value.utf8))
  }

  /// Reads a tag from a field's bytes.
  package init?(_ bytes: [UInt8]) {
    var (start, end) = (0, bytes.count)
    while start < end, bytes[start].isBlank { start += 1 }
    while end > start, bytes[end - 1].isBlank { end -= 1 }
    isWeak = end - start > 2 && bytes[start] == UInt8(ascii: "W")
    if isWeak {
      guard bytes[start + 1] == UInt8(ascii: "/") else { return nil }
      start += 2
    }
    guard end - start >= 2, bytes[start] == UInt8(ascii: "\""), bytes[end - 1] == bytes[start]
    else { return nil }
    let opaque = bytes[start + 1..<end - 1]
    guard opaque.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
    self.opaque = Array(opaque)
  }

  /// The tag as it is sent; bytes that are not text are replaced.
  package var description: String {
    (isWeak ? "W/" : "") + "\"\(String(decoding: opaque, as: UTF8.self))\""
  }

  /// Strong comparison, for ranges: equal, and neither is weak.
  ///
  /// RFC 9110, section 8.8.3.2.
  package func isIdentical(to other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Weak comparison, for `If-None-Match`: equal, weak or not.
  ///
  /// RFC 9110, section 8.8.3.2.
  package func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }
}
