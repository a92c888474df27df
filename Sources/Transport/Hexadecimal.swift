/// Bytes as hexadecimal digits, two a byte.
package enum Hexadecimal {
  /// The digits of bytes, lower case.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of digits in either case; nil when they are none, or an odd number.
  package static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let upper = value(of: digits[place]), let lower = value(of: digits[place + 1]) else {
        return nil
      }
      bytes.append(upper << 4 | lower)
    }
    return bytes
  }

  /// The value of a digit in either case; nil when it is none.
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
