import Base

/// The version of a resource that a server holds, with the validators that it sends.
///
/// It answers the two questions of RFC 9110 about a GET or HEAD: whether the conditions of the request hold, and which
/// part of the body a `Range` field asks for.
package struct ServedVersion: Sendable {
  /// The entity tag as it is sent, such as `"3f2a"` or `W/"3f2a"`; nil if the server sends none.
  package let etag: String?
  /// The date that the server sends as `Last-Modified`; nil if it sends none.
  package let modified: UnixTime?

  /// Makes a version from its validators.
  package init(etag: String?, modified: UnixTime?) {
    self.etag = etag
    self.modified = modified
  }

  /// The result of the conditions of a request, such as `If-None-Match`.
  package enum Verdict: Sendable {
    /// Send the resource.
    case passed
    /// Answer with status 412.
    case failed
    /// Answer with status 304.
    case notModified
  }

  /// Evaluates the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2.
  ///
  /// - Parameter values: Returns the values of all header fields that have a given name, in their order.
  /// - Returns: The answer that the conditions demand.
  package func verdict(_ values: (String) -> [String]) -> Verdict {
    let matching = values("If-Match")
    if !matching.isEmpty {
      guard isAmong(matching, weakly: false) else { return .failed }
    } else if let since = date(values("If-Unmodified-Since")), let modified, modified > since {
      return .failed
    }
    let known = values("If-None-Match")
    if !known.isEmpty { return isAmong(known, weakly: true) ? .notModified : .passed }
    if let since = date(values("If-Modified-Since")), let modified, modified <= since {
      return .notModified
    }
    return .passed
  }

  /// Chooses the part of the body that a GET asks for. (RFC 9110, sections 13.1.5 and 14.2)
  ///
  /// - Parameters:
  ///   - size: The size of the whole body in bytes.
  ///   - values: Returns the values of all header fields that have a given name, in their order.
  /// - Returns: ``ByteRange/whole`` if there is no `Range` field, or if `If-Range` names another version.
  package func range(of size: Int, _ values: (String) -> [String]) -> ByteRange {
    let asked = values("Range")
    guard asked.count == 1, isSameVersion(values("If-Range")) else { return .whole }
    return ByteRange(asked[0], size: size)
  }

  /// Whether `If-Range` is absent, or names exactly this version.
  private func isSameVersion(_ values: [String]) -> Bool {
    guard let text = values.first else { return true }
    guard values.count == 1 else { return false }
    if text.hasPrefix("\"") || text.hasPrefix("W/") { return isEqual(text, weakly: false) }
    return modified != nil && date(values) == modified
  }

  /// Whether a list of entity tags contains the tag of this version, or is `*`.
  private func isAmong(_ values: [String], weakly: Bool) -> Bool {
    values == ["*"] || Self.tags(values).contains { isEqual($0, weakly: weakly) }
  }

  /// Compares two entity tags, strongly or weakly. (RFC 9110, section 8.8.3.2)
  private func isEqual(_ tag: String, weakly: Bool) -> Bool {
    guard let etag else { return false }
    if !weakly { return tag == etag && !tag.hasPrefix("W/") }
    return Self.opaque(tag) == Self.opaque(etag)
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// Splits lists at commas outside quotation marks, because a tag may contain commas.
  private static func tags(_ values: [String]) -> [String] {
    values.flatMap { list in
      var tags = [""]
      var isQuoted = false
      for character in list {
        if character == "\"" { isQuoted.toggle() }
        if character == ",", !isQuoted {
          tags.append("")
        } else if isQuoted || (character != " " && character != "\t") {
          tags[tags.count - 1].append(character)
        }
      }
      return tags
    }
  }

  /// The date of a field that occurs once.
  private func date(_ values: [String]) -> UnixTime? {
    values.count == 1 ? UnixTime(httpDate: values[0]) : nil
  }
}

/// The part of a body of known size that a `Range` field selects. (RFC 9110, section 14.2)
package enum ByteRange: Equatable, Sendable {
  /// The whole body: the field has another unit than bytes, several ranges, or a malformed value.
  case whole
  /// The offsets of the selected bytes.
  case part(Range<Int>)
  /// A range beyond the end of the body.
  case unsatisfiable

  /// Reads the value of a `Range` field, such as `bytes=0-499`.
  package init(_ text: String, size: Int) {
    self = Self.read(text.utf8, size) ?? .whole
  }

  private static func read(_ text: String.UTF8View, _ size: Int) -> ByteRange? {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")),
      String(Substring(text[..<equals])).lowercased() == "bytes"
    else { return nil }
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let set = text[equals...].dropFirst().filter { !blanks.contains($0) }
    let ends = set.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }) else {
      return nil
    }
    // A number that overflows Int is beyond the end of any body.
    let numbers = ends.map { $0.isEmpty ? nil : Int(String(decoding: $0, as: UTF8.self)) ?? .max }
    switch (numbers[0], numbers[1]) {
    case (nil, nil):
      return nil
    case (nil, let count?):
      return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    case (let first?, let last):
      if let last, last < first { return nil }
      guard first < size else { return .unsatisfiable }
      return .part(first..<min(size - 1, last ?? .max) + 1)
    }
  }
}
