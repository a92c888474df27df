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
        guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit)
        else { return nil }
        plain.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: plain.append(UInt8(ascii: " "))
      default: plain.append(byte)
      }
    }
    return plain
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
