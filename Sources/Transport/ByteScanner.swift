import Base

extension Int64 {
  /// Reads decimal digits with white space around them, for example ` 12`.
  ///
  /// A number that is too large becomes `Int64.max`. The result is nil if the text is anything else.
  package init?(digits text: some StringProtocol) {
    var scanner = ByteScanner(text)
    scanner.skipBlanks()
    guard let number = scanner.number() else { return nil }
    scanner.skipBlanks()
    guard scanner.isAtEnd else { return nil }
    self = number
  }
}

/// Reads the value of a header field from its first byte to its last.
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

  /// Skips the next byte if it is `byte`.
  ///
  /// The result is true if the byte was skipped.
  mutating func skip(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  /// Skips an ASCII word, in upper or lower case, if the next bytes are this word.
  ///
  /// The result is true if the word was skipped.
  mutating func skip(word: String) -> Bool {
    let same = bytes[position...].prefix(word.utf8.count).equalsIgnoringCase(word)
    if same { position += word.utf8.count }
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

  /// Reads a decimal number.
  ///
  /// A number that is too large becomes the largest `Int64`.
  ///
  /// The result is nil if the next byte is not a digit.
  mutating func number() -> Int64? {
    let digits = take(while: \.isDigit)
    return digits.isEmpty ? nil : Int64(saturatingDigits: digits)
  }

  /// Reads a parameter such as `max-age=60` or `rel="next"`, up to one of the `ends` or the end of the text.
  ///
  /// The value is nil if the parameter has none, if its quote is not closed, or if it is followed by other text, unless
  /// such text is ignored.
  mutating func parameter(
    until ends: String,
    ignoringRest: Bool = false
  ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
    skipBlanks()
    let name = take(while: \.isTokenCharacter)
    skipBlanks()
    var value: ArraySlice<UInt8>?
    if skip(UInt8(ascii: "=")) {
      skipBlanks()
      value = argument()
    }
    // The rest of the text before the end belongs to no parameter.
    let junk = take { !ends.utf8.contains($0) }
    return (name, ignoringRest || junk.allSatisfy(\.isBlank) ? value : nil)
  }

  /// Reads a token or a quoted string.
  ///
  /// The result is nil if the quote is not closed. (RFC 9110, sections 5.6.2 and 5.6.4)
  private mutating func argument() -> ArraySlice<UInt8>? {
    guard skip(UInt8(ascii: "\"")) else { return take(while: \.isTokenCharacter) }
    let start = position
    var text: [UInt8] = []
    while let byte = next() {
      if byte == UInt8(ascii: "\"") { return text[...] }
      if byte == UInt8(ascii: "\\"), let escaped = next() {
        text.append(escaped)
      } else {
        text.append(byte)
      }
    }
    // The text after an unclosed quote is read as parameters, because one of them may be strict.
    position = start
    return nil
  }
}
