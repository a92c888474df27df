/// The name of one version of a resource. (RFC 9110, section 8.8.3)
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
  /// Whether versions that differ in bytes may share the tag.
  public let isWeak: Bool
  /// What stands between the quotes.
  public let opaque: String

  /// Reads a tag such as `"abc"` or `W/"abc"`; nil for anything else.
  ///
  /// A small `w/` and tags without quotes are not valid.
  public init?(_ value: String) {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    isWeak = scanner.peek == UInt8(ascii: "W")
    if isWeak {
      guard scanner.skip(word: "W/") else { return nil }
    }
    guard scanner.skip(UInt8(ascii: "\"")) else { return nil }
    let tag = scanner.take { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    guard scanner.skip(UInt8(ascii: "\"")) else { return nil }
    scanner.skipBlanks()
    guard scanner.isAtEnd else { return nil }
    opaque = String(decoding: tag, as: UTF8.self)
  }

  /// The tag as it is sent.
  public var description: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

  /// Strong comparison, for ranges: equal, and neither is weak.
  ///
  /// RFC 9110, section 8.8.3.2.
  public func isIdentical(to other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque == other.opaque
  }

  /// Weak comparison, for `If-None-Match`: equal, weak or not.
  ///
  /// RFC 9110, section 8.8.3.2.
  public func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }
}
