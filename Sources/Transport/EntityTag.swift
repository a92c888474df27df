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
    var value = value
    let read: (Bool, String)? = value.withUTF8 { bytes in
      Self.parts(of: bytes).map { ($0, String(decoding: bytes[$1], as: UTF8.self)) }
    }
    guard let read else { return nil }
    (isWeak, opaque) = read
  }

  /// Whether a value is a tag.
  static func isValid(_ value: String) -> Bool {
    var value = value
    return value.withUTF8 { parts(of: $0) != nil }
  }

  /// Whether a tag is weak, and where what stands between its quotes is; nil for what is no tag.
  private static func parts(
    of bytes: UnsafeBufferPointer<UInt8>
  ) -> (isWeak: Bool, opaque: Range<Int>)? {
    var (start, end) = (0, bytes.count)
    while start < end, bytes[start].isBlank { start += 1 }
    while end > start, bytes[end - 1].isBlank { end -= 1 }
    let isWeak = end - start > 2 && bytes[start] == UInt8(ascii: "W")
    if isWeak {
      guard bytes[start + 1] == UInt8(ascii: "/") else { return nil }
      start += 2
    }
    guard end - start >= 2, bytes[start] == UInt8(ascii: "\""), bytes[end - 1] == bytes[start]
    else { return nil }
    let opaque = start + 1..<end - 1
    let isTag = bytes[opaque].allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    return isTag ? (isWeak, opaque) : nil
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
