import Base
import Transport

/// The result of the conditions of a GET or HEAD, such as `If-None-Match`. (RFC 9110, section 13)
enum Precondition: Equatable {
  case passed, failed, notModified

  /// Evaluates the conditions in the order of RFC 9110, section 13.2.2.
  init(_ request: ServerRequest, tag: EntityTag?, modified: UnixTime?) {
    if let list = request.list("If-Match") {
      guard Self.isAmong(list, tag, { $0.isIdentical(to: $1) }) else {
        self = .failed
        return
      }
    } else if let since = Self.moment(request.single("If-Unmodified-Since")),
      let modified, modified > since
    {
      self = .failed
      return
    }
    if let list = request.list("If-None-Match") {
      self = Self.isAmong(list, tag, { $0.isEquivalent(to: $1) }) ? .notModified : .passed
    } else if let since = Self.moment(request.single("If-Modified-Since")),
      let modified, modified <= since
    {
      self = .notModified
    } else {
      self = .passed
    }
  }

  /// Whether `If-Range` allows a partial answer. (RFC 9110, section 13.1.5)
  static func mayUseRange(
    _ request: ServerRequest,
    tag: EntityTag?,
    modified: UnixTime?
  ) -> Bool {
    guard let text = request.list("If-Range") else { return true }
    if let asked = EntityTag(text) { return tag.map { $0.isIdentical(to: asked) } ?? false }
    // A date must equal `modified` exactly.
    return modified.map { $0.httpDate == text } ?? false
  }

  /// Whether a list of entity tags has the current tag, or is `*`.
  private static func isAmong(
    _ list: String,
    _ tag: EntityTag?,
    _ equal: (EntityTag, EntityTag) -> Bool
  ) -> Bool {
    if list == "*" { return tag != nil }
    guard let tag else { return false }
    return tags(list).contains { equal($0, tag) }
  }

  /// The tags of a list, which commas separate.
  ///
  /// A tag may itself contain commas between its quotation marks.
  private static func tags(_ list: String) -> [EntityTag] {
    var tags: [EntityTag] = []
    var text: [UInt8] = []
    var isQuoted = false
    for byte in list.utf8 {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: ","), !isQuoted {
        if let tag = EntityTag(text) { tags.append(tag) }
        text = []
      } else {
        text.append(byte)
      }
    }
    if let tag = EntityTag(text) { tags.append(tag) }
    return tags
  }

  private static func moment(_ text: String?) -> UnixTime? {
    // `now` only decides the century of two-digit years, which no client of this server sends.
    text.flatMap { UnixTime(httpDate: $0, now: UnixTime(1_700_000_000)) }
  }
}

/// The part of a body of known size that a `Range` field selects. (RFC 9110, section 14.2)
enum ByteRange: Equatable {
  /// The whole body.
  ///
  /// This is the result if the field has another unit than bytes, several ranges or a malformed value.
  case whole
  case part(Range<Int>)
  /// A range beyond the end of the body.
  case unsatisfiable

  init(_ text: String, size: Int) {
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
