/// Percent-encoding, as in URLs, forms and cookies. (RFC 3986, section 2.1)
package enum PercentEncoding {
  /// Whether a byte is unreserved, so that no part of a URL has to encode it. (RFC 3986, section 2.3)
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte)
  }

  /// The escape of a byte, with upper-case digits, such as `%2F`.
  package static func escape(of byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  /// The text with every byte encoded, except the unreserved bytes.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - others: Further characters that are not encoded, such as `/` in a path.
  /// - Returns: The encoded text, which may be a segment of a path or a value in a query.
  package static func escaped(_ text: String, keeping others: String = "") -> String {
    if text.utf8.allSatisfy(isUnreserved) { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) || others.utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += escape(of: byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Encodes pairs of names and values as the query of a URL, such as `q=%EA%B5%AD&page=2`.
  package static func query(_ pairs: [(name: String, value: String)]) -> String {
    pairs.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
  }

  /// Decodes percent-encoded bytes.
  ///
  /// A `%` is kept as it is if two hexadecimal digits do not follow it.
  ///
  /// - Parameters:
  ///   - escaped: The encoded bytes.
  ///   - plusIsSpace: Whether `+` stands for a space, as in forms.
  /// - Returns: The decoded bytes.
  package static func decoded(
    _ escaped: some Collection<UInt8>,
    plusIsSpace: Bool = false
  ) -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(escaped.count)
    // The loop over an array is compiled for arrays; over any collection, it would call a function for each step.
    var rest = Array(escaped)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let escape = octet(rest) {
        plain.append(escape)
        rest = rest.dropFirst(2)
      } else {
        plain.append(byte == UInt8(ascii: "+") && plusIsSpace ? UInt8(ascii: " ") : byte)
      }
    }
    return plain
  }

  /// Decodes percent-encoded bytes; nil if two hexadecimal digits do not follow a `%`.
  package static func validated(
    _ escaped: some Collection<UInt8>,
    plusIsSpace: Bool = false
  ) -> [UInt8]? {
    let bytes = Array(escaped)
    var rest = bytes[...]
    while let sign = rest.firstIndex(of: UInt8(ascii: "%")) {
      rest = rest[sign...].dropFirst()
      guard octet(rest) != nil else { return nil }
    }
    return decoded(bytes, plusIsSpace: plusIsSpace)
  }

  /// Decodes a text; nil if an escape is malformed, or if the decoded bytes are not UTF-8.
  package static func text(_ escaped: String) -> String? {
    validated(escaped.utf8).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Decodes a text as far as possible.
  ///
  /// Malformed escapes are kept, and bytes that are not UTF-8 become replacement characters.
  package static func lenientText(
    _ escaped: some StringProtocol,
    plusIsSpace: Bool = false
  ) -> String {
    String(decoding: decoded(escaped.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
  }

  /// The byte that the first two hexadecimal digits stand for; nil if the bytes do not begin with two such digits.
  private static func octet(_ digits: some Collection<UInt8>) -> UInt8? {
    guard let high = digits.first.flatMap(Hexadecimal.value),
      let low = digits.dropFirst().first.flatMap(Hexadecimal.value)
    else { return nil }
    return high << 4 | low
  }
}
