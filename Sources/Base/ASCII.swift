extension UInt8 {
  /// The byte in lower case.
  ///
  /// A to Z become a to z, and all other bytes stay the same.
  @inlinable package var asciiLowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }

  /// Whether the byte is a space, a tab or a carriage return.
  ///
  /// HTTP allows spaces and tabs as optional white space. (RFC 9110, section 5.6.3)
  package var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }

  /// Whether the byte is a decimal digit.
  package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// Whether the byte is an ASCII letter.
  package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(asciiLowercased) }

  /// Whether a token of HTTP, such as `no-cache`, can contain the byte. (RFC 9110, section 5.6.2)
  package var isTokenCharacter: Bool {
    isLetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}

extension Collection<UInt8> {
  /// Whether the bytes are those of `word` if the case of ASCII letters is ignored.
  ///
  /// The function is `@inlinable`, so that other modules specialize it. Without specialization, its calls took 4 % of
  /// the time of a sync into an empty cache.
  @inlinable package func equalsIgnoringCase(_ word: some StringProtocol) -> Bool {
    elementsEqual(word.utf8) { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension StringProtocol {
  /// Whether two texts are equal if the case of ASCII letters is ignored, such as `ETag` and `etag`.
  @inlinable package func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
    utf8.equalsIgnoringCase(other)
  }
}

extension Int64 {
  /// Reads a number in decimal digits.
  ///
  /// A number that is too large for an `Int64` becomes `Int64.max`. (RFC 9111, section 1.2.2)
  package init(saturatingDigits digits: ArraySlice<UInt8>) {
    var value: Int64 = 0
    for digit in digits {
      value = value.multipliedClamped(by: 10).addingClamped(Int64(digit - UInt8(ascii: "0")))
    }
    self = value
  }
}

/// Hexadecimal text, with two digits for each byte.
package enum Hexadecimal {
  /// The lower-case digits of the bytes, such as `0aff`.
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    func digit(_ value: UInt8) -> UInt8 {
      value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    // A loop over the generic type would take six times as long.
    for byte in Array(bytes) {
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses hexadecimal digits of either case.
  ///
  /// The result is nil if the number of digits is odd, or if a character is not a digit.
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

  /// The value of a hexadecimal digit of either case; nil for any other character.
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
