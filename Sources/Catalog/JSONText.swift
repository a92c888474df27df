/// What jansson said against a text, and after how many bytes it said so.
struct JSONComplaint: Error {
  /// What kind of mistake it is, by jansson's code.
  enum Kind {
    /// The text ends before its value does.
    case endsEarly
    /// Something follows the value.
    case goesOn
    /// Bytes are not UTF-8.
    case encoding
    /// Anything else, for which jansson has one code: its words alone tell what it expected.
    case syntax
  }

  /// What kind of mistake it is.
  var kind = Kind.syntax
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
    let expected = Self.expected(words, complaint.kind)
    var offset = max(0, complaint.offset - 1)
    // jansson takes a NUL for the end of the text, which its words then speak of.
    if token == nil, bytes.dropFirst(offset).first == 0 {
      return error(
        .malformedJSON,
        at: offset,
        subject: subject,
        expected: expected,
        found: "a NUL byte, which JSON does not allow there"
      )
    }
    let endsEarly = complaint.kind == .endsEarly
    if let token {
      let start = complaint.offset - token.utf8.count
      let found = bytes.dropFirst(max(0, start)).prefix(token.utf8.count)
      if start >= 0, found.elementsEqual(token.utf8) { offset = start }
    }
    if endsEarly { offset = bytes.count }
    if endsEarly, let token, token.hasPrefix("\"") {
      offset = bytes.count - token.utf8.count
    }
    let found = endsEarly ? "the end of the text" : token.map { "\"\(Self.shortened($0))\"" }
    return error(
      .malformedJSON,
      at: offset,
      subject: subject,
      expected: expected,
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

  /// jansson's words, and the token that they end with, if any.
  private static func split(_ complaint: String) -> (words: Substring, token: String?) {
    if let near = complaint.firstRange(of: " near '"), complaint.last == "'" {
      return (complaint[..<near.lowerBound], String(complaint[near.upperBound...].dropLast()))
    }
    let ending = " near end of file"
    return (complaint.hasSuffix(ending) ? complaint.dropLast(ending.count) : complaint[...], nil)
  }

  /// What is to follow "expected": by the kind where that tells it, else jansson's words turned around.
  private static func expected(_ words: Substring, _ kind: JSONComplaint.Kind) -> String {
    switch kind {
    case .goesOn: return "the end of the text after one value"
    case .encoding: return "UTF-8"
    case .endsEarly, .syntax: break
    }
    switch words {
    case "unexpected token", "invalid token": return "a value"
    case "premature end of input": return "a closing quote"
    case "unexpected newline": return "a closing quote before the line ends"
    case "invalid escape": return "a known escape"
    default: break
    }
    if words.hasSuffix(" expected") { return words.dropLast(" expected".count).quotesDoubled }
    if words.hasPrefix("control character") { return "control characters to be escaped" }
    return "valid JSON (\(words.quotesDoubled))"
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
