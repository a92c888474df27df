/// What jansson said against a text, and after how many bytes it said so.
struct JSONComplaint: Error {
  /// jansson's words, in English: "']' expected near '3'".
  var words: String
  /// How many bytes had been consumed, the offending token included.
  var offset: Int
}

/// The bytes of a JSON text without byte order mark, able to say where something stands.
struct JSONText {
  /// The text in UTF-8.
  let bytes: ArraySlice<UInt8>

  /// Takes a text, skipping its byte order mark. (RFC 8259, section 8.1)
  init(_ bytes: [UInt8]) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
  }

  /// The offset of the first bracket that opens one level too many.
  func offset(deeperThan limit: Int) -> Int? {
    bytes.withUnsafeBufferPointer { bytes in
      var depth = 0
      var index = 0
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "\""):
          index += 1
          while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
          }
        case UInt8(ascii: "["), UInt8(ascii: "{"):
          depth += 1
          if depth > limit { return index }
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
        index += 1
      }
      return nil
    }
  }

  /// Turns jansson's complaint into an error that points at the start of the offending token.
  func error(_ complaint: JSONComplaint, subject: String) -> CatalogError {
    let (words, token) = Self.split(complaint.words)
    var offset = max(0, complaint.offset - 1)
    if let token {
      let start = complaint.offset - token.utf8.count
      let found = bytes.dropFirst(max(0, start)).prefix(token.utf8.count)
      if start >= 0, found.elementsEqual(token.utf8) { offset = start }
    }
    if words.endsEarly { offset = bytes.count }
    if words.endsEarly, let token, token.hasPrefix("\"") {
      offset = bytes.count - token.utf8.count
    }
    let found = words.endsEarly ? "the end of the text" : token.map { "\"\(Self.shortened($0))\"" }
    return error(
      .malformedJSON,
      at: offset,
      subject: subject,
      expected: words.expected,
      found: found
    )
  }

  /// Makes an error that names the line and column of an offset, both counted from 1.
  func error(
    _ code: CatalogError.Code,
    at offset: Int,
    subject: String,
    expected: String,
    found: String? = nil
  ) -> CatalogError {
    let before = bytes.prefix(offset)
    let lineStart = before.lastIndex(of: 0x0A).map { before.index(after: $0) } ?? before.startIndex
    return CatalogError(
      code,
      subject: subject,
      line: before.count { $0 == 0x0A } + 1,
      column: before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1,
      expected: expected,
      reason: "expected \(expected)" + (found.map { ", found \($0)" } ?? "")
    )
  }

  /// What was expected, and whether the text ended before it came.
  private typealias Words = (expected: String, endsEarly: Bool)

  private static func split(_ complaint: String) -> (Words, token: String?) {
    var message = Substring(complaint)
    var token: String?
    if let near = complaint.firstRange(of: " near '"), complaint.last == "'" {
      message = complaint[..<near.lowerBound]
      token = String(complaint[near.upperBound...].dropLast())
    }
    let ending = " near end of file"
    let endsEarly = message.hasSuffix(ending) || message.hasPrefix("premature end")
    if message.hasSuffix(ending) { message = message.dropLast(ending.count) }
    return ((expected(message), endsEarly), token)
  }

  /// jansson's words turned around, so that they follow "expected".
  private static func expected(_ message: Substring) -> String {
    switch message {
    case "unexpected token", "invalid token": return "a value"
    case "premature end of input": return "a closing quote"
    case "unexpected newline": return "a closing quote before the line ends"
    case "invalid escape": return "a known escape"
    case "end of file expected": return "the end of the text after one value"
    default: break
    }
    if message.hasSuffix(" expected") { return message.dropLast(" expected".count).quotesDoubled }
    if message.hasPrefix("unable to decode byte") { return "UTF-8" }
    if message.hasPrefix("control character") { return "control characters to be escaped" }
    return "valid JSON (\(message.quotesDoubled))"
  }

  private static func shortened(_ token: String) -> String {
    let line = token.prefix(24).map { $0.isNewline ? " " : String($0) }.joined()
    return line + (token.count > 24 ? "…" : "")
  }
}

extension Substring {
  /// The text with double quotes in place of single ones, as all messages have them.
  fileprivate var quotesDoubled: String {
    String(map { $0 == "'" ? "\"" : $0 })
  }
}
