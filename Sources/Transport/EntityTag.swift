/// The name of one version of a resource: bytes, which need not be text. (RFC 9110, section 8.8.3)
package struct EntityTag: Hashable, Sendable, CustomStringConvertible {
  /// Whether versions that differ in bytes may share the tag.
  package let isWeak: Bool
  /// What stands between the quotes.
  package let opaque: [UInt8]

  /// Reads a tag such as `"abc"` or `W/"abc"`; nil for anything else.
  ///
  /// A small `w/` and tags without quotes are not valid.
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

  /// The tag as it is sent, as far as it is text.
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
