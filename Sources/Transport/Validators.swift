/// What a server may later be asked with whether a version is still the present one. (RFC 9110, section 8.8)
public struct Validators: Hashable, Sendable {
  /// The `ETag` field as it came, quotes and `W/` included.
  public let entityTag: String?
  /// The `Last-Modified` field as it came.
  public let lastModified: String?

  /// Makes validators; malformed entity-tags are dropped, for they can match nothing.
  public init(entityTag: String?, lastModified: String?) {
    self.entityTag = entityTag.flatMap { EntityTag.isValid($0) ? $0 : nil }
    self.lastModified = lastModified.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads them from a response's fields.
  public init(_ headers: Headers) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
  }

  /// Whether there is nothing to ask with.
  public var isEmpty: Bool { entityTag == nil && lastModified == nil }

  /// Whether a 304 with these validators of its own may speak of the version that this is: the
  /// strongest of them that both have decides. (RFC 9111, section 4.3.4)
  func mayBeRenewed(by new: Validators) -> Bool {
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
  public var conditionalHeaders: Headers {
    var headers = Headers()
    if let entityTag { headers.append("If-None-Match", entityTag) }
    if let lastModified { headers.append("If-Modified-Since", lastModified) }
    return headers
  }

  /// What may prove in `If-Range` that a part still fits: a strong tag, or a date a minute older than the response.
  ///
  /// A weak tag, or a date that could cover two versions, proves nothing. (RFC 9110, sections 8.8.2.2 and 13.1.5)
  ///
  /// - Parameter date: The `Date` field of the same response.
  /// - Returns: The field value to send, nil when the part cannot be resumed.
  public func resumeValidator(date: String?) -> String? {
    if let entityTag {
      return EntityTag(entityTag)?.isWeak == false ? entityTag : nil
    }
    let epoch = UnixTime(0)
    guard let lastModified, let modified = UnixTime(httpDate: lastModified, now: epoch),
      let date, let sent = UnixTime(httpDate: date, now: epoch), sent - modified >= 60
    else { return nil }
    return lastModified
  }
}
