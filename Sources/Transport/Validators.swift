import Base

/// The values that identify a version of a resource in a conditional request: `ETag` and `Last-Modified`. (RFC 9110,
/// section 8.8)
///
package struct Validators: Hashable, Sendable {
  /// The value of the `ETag` field, for example `"abc"` or `W/"abc"` with the quotes.
  package let entityTag: String?
  /// The value of the `Last-Modified` field.
  package let lastModified: String?

  /// Makes validators.
  ///
  /// An invalid entity-tag is ignored, because a server could not recognize it.
  ///
  /// However, a single word without quotes is accepted, because some servers write such tags and also recognize them.
  package init(entityTag: String?, lastModified: String?) {
    self.entityTag = entityTag.flatMap { EntityTag($0) == nil && !Self.isWord($0) ? nil : $0 }
    self.lastModified = lastModified.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a tag has only visible characters, and no quotes, commas and stars.
  ///
  /// In a list of tags, these three characters have a meaning of their own.
  private static func isWord(_ tag: String) -> Bool {
    !tag.isEmpty && tag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"\",*".utf8.contains($0) }
  }

  /// Reads the validators from the header fields of a response.
  ///
  /// If the response has two different entity-tags, none is used.
  package init(_ headers: Headers) {
    let tags = Set(headers.all("ETag"))
    self.init(
      entityTag: tags.count == 1 ? tags.first : nil,
      lastModified: headers["Last-Modified"]
    )
  }

  /// Whether there are no validators.
  package var isEmpty: Bool { entityTag == nil && lastModified == nil }

  /// Whether a response 304 with the validators `new` can confirm the cached response that has these validators. (RFC
  /// 9111, section 4.3.4)
  ///
  /// If the 304 has an entity-tag, the cached response must have an equivalent one. Otherwise, if both have a date, the
  /// dates must be equal.
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

  /// The fields `If-None-Match` and `If-Modified-Since` for a conditional GET. (RFC 9110, sections 13.1.2 and 13.1.3)
  package var conditionalHeaders: Headers {
    var headers = Headers()
    if let entityTag { headers.append("If-None-Match", entityTag) }
    if let lastModified { headers.append("If-Modified-Since", lastModified) }
    return headers
  }

  /// The value for the field `If-Range` of a request that resumes the body.
  ///
  /// It is an entity-tag that is not weak, or a date that is at least a minute before the date of the response. With a
  /// weak tag, or a later date, two versions could have the same validator. (RFC 9110, sections 8.8.2.2 and 13.1.5)
  ///
  /// - Parameter date: The value of the field `Date` in the same response.
  /// - Returns: The value to send, or nil if the body cannot be resumed.
  package func resumeValidator(date: String?) -> String? {
    if let entityTag { return EntityTag(entityTag)?.isWeak == false ? entityTag : nil }
    guard let lastModified, let modified = UnixTime(httpDate: lastModified),
      let date, let sent = UnixTime(httpDate: date), sent - modified >= 60
    else { return nil }
    return lastModified
  }
}

/// The condition of a GET.
///
/// It asks the server to send the body only if the cached version is not the current version.
package struct Condition: Hashable, Sendable {
  /// The validators of the cached version.
  package let validators: Validators
  /// The ``WebURL/resource`` that sent the cached version after redirects.
  ///
  /// Nil if there were no redirects.
  ///
  /// The validators are sent only to this resource, because another resource may use the same values for other bytes.
  package var source: String?
  /// Whether the cache knows only the date of its version.
  ///
  /// Then the entity-tag of a 304 is ignored.
  package let knowsDateOnly: Bool

  /// Makes a condition.
  package init(_ validators: Validators, source: String? = nil, knowsDateOnly: Bool = false) {
    self.validators = validators
    self.source = source
    self.knowsDateOnly = knowsDateOnly
  }

  /// Whether a response 304 with the validators `new` can confirm the cached response.
  package func isMet(by new: Validators) -> Bool {
    let told = knowsDateOnly ? Validators(entityTag: nil, lastModified: new.lastModified) : new
    return validators.mayBeRenewed(by: told)
  }

  /// Makes the condition for a later request from a response.
  ///
  /// The result is nil if the response has no validators.
  package init?(_ head: ResponseHead) {
    let validators = Validators(head.headers.endToEnd)
    guard !validators.isEmpty else { return nil }
    self.init(validators, source: head.redirects.isEmpty ? nil : head.url.resource)
  }
}

/// The value of an `ETag` field, which identifies a version of a resource. (RFC 9110, section 8.8.3)
package struct EntityTag: Hashable, Sendable {
  /// Whether two versions with different bytes may have the same tag.
  package let isWeak: Bool
  /// The bytes between the quotes.
  package let opaque: [UInt8]

  /// Parses a tag such as `"abc"` or `W/"abc"`.
  ///
  /// The result is nil for any other text.
  ///
  /// For example, `w/"abc"` and `abc` are not valid tags.
  package init?(_ value: String) {
    isWeak = value.hasPrefix("W/")
    let quoted = value.utf8.dropFirst(isWeak ? 2 : 0)
    guard quoted.count >= 2, quoted.first == UInt8(ascii: "\""), quoted.last == quoted.first else {
      return nil
    }
    opaque = Array(quoted.dropFirst().dropLast())
    guard opaque.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
  }

  /// The strong comparison, which ranges need: the tags are equal, and neither is weak. (RFC 9110, section 8.8.3.2)
  package func isIdentical(to other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// The weak comparison, which `If-None-Match` needs: the tags are equal, weak or not. (RFC 9110, section 8.8.3.2)
  package func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }
}
