/// The bytes of a JSON text.
///
/// They are needed for errors that name a line and a column.
struct JSONText {
  /// The text in UTF-8, without a byte order mark.
  let bytes: ArraySlice<UInt8>

  /// Makes a text of the given bytes.
  ///
  /// A byte order mark at their beginning is skipped. (RFC 8259, section 8.1)
  init(_ bytes: [UInt8]) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
  }

  /// The first byte that is neither white space nor a control character, or nil if there is none.
  var first: UInt8? { bytes.first { $0 > 0x20 } }

  /// Throws an error if the text is not UTF-8.
  ///
  /// - Parameter subject: The name of the text, for example "section main".
  /// - Throws: ``CatalogError`` with the place of the first byte that is not UTF-8.
  func demandUTF8(of subject: String) throws(CatalogError) {
    var place = bytes.startIndex
    while place < bytes.endIndex {
      if bytes[place] < 0x80 {
        place += 1
      } else if let count = bytes[place...].characterLength {
        place += count
      } else {
        throw notUTF8(at: place, of: subject, .unexpectedShape)
      }
    }
  }

  /// The error that the text is not UTF-8.
  ///
  /// - Parameters:
  ///   - place: The index in ``bytes`` of a byte that is not UTF-8.
  ///   - subject: The name of the text, for example "section main".
  ///   - code: The kind of fault.
  /// - Returns: The error.
  func notUTF8(
    at place: Int,
    of subject: String,
    _ code: CatalogError.Code = .malformedJSON
  ) -> CatalogError {
    let isWide = WideText.appears(in: Array(bytes.prefix(4)))
    let found = isWide ? "UTF-16" : "the byte 0x\(String(bytes[place], radix: 16))"
    var error = fault("UTF-8", at: place, found: found, of: subject, code)
    error.remedy =
      "convert it with \"iconv -f \(isWide ? "UTF-16" : "ENCODING") -t UTF-8\""
      + (isWide ? "" : "; the encoding is, for example, WINDOWS-1252, CP949 or SHIFT_JIS")
    return error
  }

  /// The error that the text has a fault, with the line and column of the fault, both counted from 1.
  ///
  /// - Parameters:
  ///   - expected: The token that was expected, for example "a value".
  ///   - place: The index in ``bytes`` of the wrong token.
  ///   - found: The text at this place as a message quotes it, or nil if there is nothing to quote.
  ///   - subject: The name of the text, for example "section main".
  ///   - code: The kind of fault.
  ///   - remedy: The next step, or nil if there is none to advise.
  /// - Returns: The error.
  func fault(
    _ expected: String,
    at place: Int,
    found: String? = nil,
    of subject: String,
    _ code: CatalogError.Code = .malformedJSON,
    remedy: String? = nil
  ) -> CatalogError {
    let before = bytes[..<place]
    let lineStart = before.lastIndex(of: 0x0A).map { before.index(after: $0) } ?? before.startIndex
    return CatalogError(
      code,
      subject: subject,
      line: before.count { $0 == 0x0A } + 1,
      column: before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1,
      reason: "expected \(expected)" + (found.map { ", found \($0)" } ?? ""),
      remedy: remedy
    )
  }
}

/// Reads a JSON text by the grammar, and replaces the values that simdjson cannot represent.
///
/// simdjson is fast, but does not say where a text is wrong. Therefore a text that simdjson refuses is read again, more
/// slowly.
///
/// A number that fits neither `Int` nor `Double` becomes a string with the same digits. Half a surrogate pair in a
/// string becomes U+FFFD, and so does U+0000, at which SQLite and programs in C end a text. Everything else remains.
struct JSONRepair {
  /// The text with the replacements.
  private(set) var bytes: ArraySlice<UInt8>

  private let text: JSONText
  private let subject: String
  private let depthLimit: Int
  private let wholeLimit: Int
  private var index: Int
  /// The closing brackets of the open arrays and objects.
  ///
  /// The bracket that closes the innermost is last.
  private var closers: [UInt8] = []
  /// The beginning of the text with its replacements, up to the offset ``copied``.
  private var output: [UInt8] = []
  private var copied: Int

  /// Makes the replacements in a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - subject: The name of the text in error messages, for example "section main".
  ///   - depthLimit: The maximum depth of nested arrays and objects.
  ///   - wholeLimit: The largest whole number that remains a number. For a reader that stores every number in a
  ///     `Double`, such as jq, it is 2^53.
  /// - Throws: ``CatalogError`` at the first fault of the text, because it is not valid JSON or is nested too deeply.
  init(
    _ text: JSONText,
    of subject: String = "JSON",
    depthLimit: Int = .max,
    wholeLimit: Int = .max
  ) throws(CatalogError) {
    bytes = text.bytes
    (self.text, self.subject) = (text, subject)
    (self.depthLimit, self.wholeLimit) = (depthLimit, wholeLimit)
    index = bytes.startIndex
    copied = index
    repeat { try value() } while try hasNext()
    skipSpace()
    guard byte == nil else { throw fault("the end of the text after one value") }
    if copied > bytes.startIndex { bytes = output[...] + bytes[copied...] }
  }

  private mutating func replace(_ range: Range<Int>, with replacement: String) {
    output += bytes[copied..<range.lowerBound] + replacement.utf8
    copied = range.upperBound
  }

  private static let bracket = UInt8(ascii: "]")
  private static let brace = UInt8(ascii: "}")

  private var byte: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
  }

  /// Reads white space, and then the given byte if it is next.
  ///
  /// - Returns: Whether the byte was read.
  private mutating func take(_ wanted: UInt8) -> Bool {
    skipSpace()
    guard byte == wanted else { return false }
    index += 1
    return true
  }

  /// Reads a value.
  ///
  /// If it is an array or an object with content, only its beginning is read, up to the end of the first value in it
  /// that is neither.
  private mutating func value() throws(CatalogError) {
    while true {
      let isArray = take(UInt8(ascii: "["))
      guard isArray || take(UInt8(ascii: "{")) else { break }
      let place = index - 1
      let closer = isArray ? Self.bracket : Self.brace
      if take(closer) { return }
      guard closers.count < depthLimit else {
        throw text.fault("at most \(depthLimit) levels", at: place, of: subject, .tooDeep)
      }
      closers.append(closer)
      if !isArray { try name() }
    }
    if byte == UInt8(ascii: "\"") { return try string() }
    let token = token
    let isLiteral = ["true", "false", "null"].contains { token.elementsEqual($0.utf8) }
    if byte == UInt8(ascii: ","), bytes[..<index].last(where: { $0 > 0x20 }) == byte {
      // In JSON Lines, the first of two commas is at the end of a line.
      throw extraComma("a value", at: index, remedy: "remove the comma before it")
    }
    guard isLiteral || token.isJSONNumber else { throw fault("a value") }
    if !isLiteral, isTooLarge(token) {
      replace(index..<token.endIndex, with: "\"\(String(decoding: token, as: UTF8.self))\"")
    }
    index = token.endIndex
  }

  /// Reads the end of each array and object that ends here.
  ///
  /// - Returns: Whether another value follows. The comma before it and its name have been read.
  private mutating func hasNext() throws(CatalogError) -> Bool {
    while let closer = closers.last {
      if take(UInt8(ascii: ",")) {
        let comma = index - 1
        skipSpace()
        if byte == closer {
          let expected = "no comma before \(Self.quoted([closer]))"
          throw extraComma(expected, at: comma, remedy: "remove this comma")
        }
        if closer == Self.brace { try name() }
        return true
      }
      guard byte != 0 else { throw fault("text without NUL bytes") }
      guard take(closer) else { throw fault("\"\(Character(UnicodeScalar(closer)))\"") }
      closers.removeLast()
    }
    return false
  }

  private func extraComma(_ expected: String, at place: Int, remedy: String) -> CatalogError {
    text.fault(expected, at: place, found: "\",\"", of: subject, remedy: remedy)
  }

  /// Reads the name of a member and the colon behind it.
  private mutating func name() throws(CatalogError) {
    guard take(UInt8(ascii: "\"")) else {
      throw fault(
        token.isJSONNumber ? "valid JSON, whose names are strings" : "string or \"}\""
      )
    }
    index -= 1
    try string()
    guard take(UInt8(ascii: ":")) else { throw fault("\":\"") }
  }

  private mutating func string() throws(CatalogError) {
    let start = index
    func unfinished(_ expected: String, _ end: Int) -> CatalogError {
      fault(expected, at: start, found: Self.quoted(bytes[start..<end]))
    }
    index += 1
    while let byte {
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return
      case UInt8(ascii: "\\"):
        guard readEscape() else { throw unfinished("a known escape", index + 1) }
      case 0x0A: throw unfinished("a closing quote before the line ends", index)
      case 0..<0x20: throw unfinished("control characters to be escaped", index)
      case 0x80...:
        guard let count = bytes[index...].characterLength else { throw fault("UTF-8") }
        index += count
      default: index += 1
      }
    }
    throw fault("a closing quote", at: start, found: Self.end)
  }

  /// Reads the escape at the cursor, and replaces it if it is half a surrogate pair or U+0000.
  ///
  /// - Returns: Whether the escape is valid.
  private mutating func readEscape() -> Bool {
    let kind = bytes[(index + 1)...].first ?? 0
    if "\"\\/bfnrt".utf8.contains(kind) {
      index += 2
      return true
    }
    guard let unit = escapedUnit(at: index) else { return false }
    index += 6
    guard unit == 0 || (0xD800..<0xE000).contains(unit) else { return true }
    if (0xD800..<0xDC00).contains(unit), let next = escapedUnit(at: index),
      (0xDC00..<0xE000).contains(next)
    {
      index += 6
    } else {
      replace(index - 6..<index, with: "\\ufffd")
    }
    return true
  }

  /// The UTF-16 unit that the escape `\uXXXX` at an index stands for, or nil if there is no such escape.
  private func escapedUnit(at place: Int) -> UInt16? {
    let escape = bytes[place...].prefix(6)
    let digits = String(decoding: escape.dropFirst(2), as: UTF8.self)
    // `UInt16(_:radix:)` also accepts a sign, so the digits are checked first.
    guard escape.count == 6, escape.starts(with: "\\u".utf8), digits.allSatisfy(\.isHexDigit)
    else {
      return nil
    }
    return UInt16(digits, radix: 16)
  }

  /// Whether a JSON number is a whole number beyond ``wholeLimit``, or another number that does not fit a `Double`.
  private func isTooLarge(_ number: ArraySlice<UInt8>) -> Bool {
    let text = String(decoding: number, as: UTF8.self)
    let isWhole = !number.contains { ".eE".utf8.contains($0) }
    guard isWhole else { return Double(text)?.isInfinite == true }
    return Int(text).map { wholeLimit < .max && $0.magnitude > wholeLimit.magnitude } ?? true
  }

  /// The token at the cursor, which is a word, a number, a string or one character.
  private var token: ArraySlice<UInt8> {
    let rest = bytes[index...]
    guard let byte else { return rest }
    func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
    if isLetter(byte) { return rest.prefix(while: isLetter) }
    let number = rest.prefix { "0123456789+-.eE".utf8.contains($0) }
    if !number.isEmpty { return number }
    guard byte == UInt8(ascii: "\"") else { return rest.prefix(rest.characterLength ?? 1) }
    let end = rest.dropFirst().firstIndex(of: byte)
    return end.map { rest[...$0] } ?? rest
  }

  /// Makes a fault about the token at the cursor.
  private func fault(_ expected: String) -> CatalogError {
    guard let byte else { return fault(expected, at: index, found: Self.end) }
    if byte == 0 {
      return fault(expected, at: index, found: "a NUL byte, which JSON does not allow there")
    }
    guard bytes[index...].characterLength != nil else {
      return text.notUTF8(at: index, of: subject)
    }
    return fault(expected, at: index, found: Self.quoted(token))
  }

  private func fault(_ expected: String, at place: Int, found: String) -> CatalogError {
    text.fault(expected, at: place, found: found, of: subject)
  }

  private static let end = "the end of the text"

  /// A token as a message quotes it, on one line and at most 24 characters long.
  private static func quoted(_ token: ArraySlice<UInt8>) -> String {
    let text = String(decoding: token.prefix(120), as: UTF8.self)
    let line = text.prefix(24).map { $0.isNewline ? " " : String($0) }.joined()
    return "\"\(line)\(text.count > 24 ? "…" : "")\""
  }
}

extension ArraySlice<UInt8> {
  /// The length of the first character in bytes, or nil if the bytes are not UTF-8.
  var characterLength: Int? {
    var parser = UTF8.ForwardParser()
    var rest = makeIterator()
    guard case .valid(let character) = parser.parseScalar(from: &rest) else { return nil }
    return character.count
  }

  /// Whether these bytes are a JSON number. (RFC 8259, section 6)
  var isJSONNumber: Bool {
    var rest = self
    func skip(_ bytes: String) -> Bool {
      guard let first = rest.first, bytes.utf8.contains(first) else { return false }
      rest.removeFirst()
      return true
    }
    func digits() -> Bool {
      let count = rest.count
      rest = rest.drop { (0x30...0x39).contains($0) }
      return rest.count < count
    }
    _ = skip("-")
    guard skip("0") || digits() else { return false }
    if skip("."), !digits() { return false }
    if skip("eE") {
      _ = skip("+-")
      guard digits() else { return false }
    }
    return rest.isEmpty
  }
}
