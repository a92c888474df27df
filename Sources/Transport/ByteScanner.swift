import Base

/// A scanner of the bytes of a header value.
struct ByteScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: some StringProtocol) {
    bytes = Array(text.utf8)
  }

  var isAtEnd: Bool { position >= bytes.count }
  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func next() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  /// Steps over `byte` if it comes next.
  mutating func skip(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  /// Steps over an ASCII word, in upper or lower case, if it comes next.
  mutating func skip(word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard position + count <= bytes.count else { return false }
    let same = bytes[position..<position + count].equalsIgnoringCase(word)
    if same { position += count }
    return same
  }

  mutating func skipBlanks() {
    while let byte = peek, byte.isBlank { position += 1 }
  }

  mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let start = position
    while let byte = peek, condition(byte) { position += 1 }
    return bytes[start..<position]
  }

  /// A decimal number with any number of digits, saturating at the largest `Int64`; nil without a digit.
  mutating func number() -> Int64? {
    let digits = take(while: \.isDigit)
    return digits.isEmpty ? nil : Int64(saturatingDigits: digits)
  }
}
