import Transport

/// How values come out of URLs, forms and cookies. (RFC 3986, section 2.1)
enum PercentDecoding {
  /// The text that was escaped; nil when the escapes are none, or their bytes no UTF-8.
  static func text(_ escaped: String) -> String? {
    bytes(escaped.utf8).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// The bytes that were escaped; nil when an escape is none.
  ///
  /// - Parameters:
  ///   - escaped: The bytes as written.
  ///   - plusIsSpace: Whether `+` stands for a space, as in forms.
  /// - Returns: The bytes.
  static func bytes(_ escaped: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
    var plain: [UInt8] = []
    plain.reserveCapacity(escaped.count)
    var iterator = escaped.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(Hexadecimal.value),
          let low = iterator.next().flatMap(Hexadecimal.value)
        else { return nil }
        plain.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: plain.append(UInt8(ascii: " "))
      default: plain.append(byte)
      }
    }
    return plain
  }
}
