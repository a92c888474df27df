import Base

/// A word of a fault script, `key=value` or `key`, with the number of its line.
struct FaultWord {
  let key: String
  let value: String?
  private let line: Int

  /// Splits a line into words.
  ///
  /// A word that begins with `#` starts a comment.
  static func read(_ text: Substring, line: Int) throws(LarderError) -> [FaultWord] {
    var words: [FaultWord] = []
    var rest = text.drop(while: \.isWhitespace)
    while let first = rest.first, first != "#" {
      let key = rest.prefix { !$0.isWhitespace && $0 != "=" }
      rest = rest[key.endIndex...]
      var value: String?
      if rest.first == "=" {
        rest = rest.dropFirst()
        value = try readValue(&rest, line)
      }
      words.append(FaultWord(key: String(key), value: value, line: line))
      rest = rest.drop(while: \.isWhitespace)
    }
    return words
  }

  private static let escapes: [Character: Character] = [
    "\"": "\"", "\\": "\\", "n": "\n", "r": "\r", "t": "\t",
  ]

  private static func readValue(_ rest: inout Substring, _ line: Int) throws(LarderError) -> String
  {
    guard rest.first == "\"" else {
      let value = rest.prefix { !$0.isWhitespace }
      rest = rest[value.endIndex...]
      return String(value)
    }
    rest = rest.dropFirst()
    var value = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"":
        guard rest.first?.isWhitespace ?? true else {
          throw error(line, "the quotes end inside a word", "put white space after them")
        }
        return value
      case "\\":
        guard let escape = rest.popFirst().flatMap({ escapes[$0] }) else {
          let cause = "the backslash is not followed by a known escape"
          throw error(line, cause, "write \\\", \\\\, \\n, \\r or \\t")
        }
        value.append(escape)
      default: value.append(character)
      }
    }
    throw error(line, "the quotes are not closed", "close them on the same line")
  }

  private static func error(_ line: Int, _ cause: String, _ advice: String) -> LarderError {
    LarderError(cannot: "read the fault script at line \(line)", cause, advice)
  }

  /// An error at the line of the word.
  func error(_ cause: String, _ advice: String) -> LarderError {
    Self.error(line, cause, advice)
  }

  /// The value, as `parse` reads it.
  ///
  /// `expected` completes the error for a missing or wrong value: "write a number from 1".
  func read<Value>(
    _ expected: String,
    _ parse: (String) -> Value?
  ) throws(LarderError) -> Value {
    guard let value else { throw error("'\(key)' has no value", "write \(key)= and \(expected)") }
    guard let read = parse(value) else {
      throw error("'\(key)' is '\(value)'", "write \(expected)")
    }
    return read
  }

  func text(_ expected: String) throws(LarderError) -> String {
    try read(expected) { $0.isEmpty ? nil : $0 }
  }

  func number(
    _ expected: String,
    _ range: some RangeExpression<Int>
  ) throws(LarderError) -> Int {
    try read(expected) { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }
  }
}

extension FaultWord {
  private static let keys =
    "path, hits, every, delay, status, retry-after, truncate, reset, drip, hang, body, header, close"

  /// The effects that have no value.
  private static let bare: [String: FaultEffect] = ["hang": .hang, "close": .closeWithoutAnswer]

  /// The effect that the word describes.
  func effect() throws(LarderError) -> FaultEffect {
    switch key {
    case "delay":
      return .delay(seconds: try read("a duration such as 250ms or 1.5s", Self.seconds))
    case "truncate":
      let expected = "a number of bytes, or a percentage such as 50%"
      return .truncate(after: try read(expected, Self.cut))
    case "reset":
      if value == nil { return .reset(after: nil) }
      return .reset(after: try read("a number of bytes, or nothing", Self.size))
    case "drip":
      let rate = try read("bytes a second, such as 2K") { text in
        Self.size(text).flatMap { $0 > 0 ? $0 : nil }
      }
      return .drip(bytesPerSecond: rate)
    case "body": return .body(try read("the text of the body") { Array($0.utf8) })
    case "header": return try read("\"Name: value\" in double quotes", Self.header)
    default:
      guard let effect = Self.bare[key] else {
        throw error("'\(key)' is not a key", "write one of \(Self.keys)")
      }
      if let value {
        throw error("'\(key)' is '\(value)'", "write '\(key)' alone: it takes no value")
      }
      return effect
    }
  }

  /// Parses a number of bytes: `300`, `2K` or `1M`, in binary units.
  private static func size(_ text: String) -> Int? {
    let unit = text.last.flatMap { ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30][$0.uppercased()] }
    guard let number = Int(unit == nil ? text[...] : text.dropLast()), number >= 0,
      case (let bytes, false) = number.multipliedReportingOverflow(by: unit ?? 1)
    else { return nil }
    return bytes
  }

  /// Parses a duration: `250ms`, `1.5s` or `1.5`.
  private static func seconds(_ text: String) -> Double? {
    let isThousandths = text.hasSuffix("ms")
    let number = Double(text.dropLast(isThousandths ? 2 : text.hasSuffix("s") ? 1 : 0))
    guard let number, (0...86_400_000).contains(number) else { return nil }
    return isThousandths ? number / 1000 : number
  }

  /// Parses a number of bytes or a percentage.
  private static func cut(_ text: String) -> FaultEffect.Cut? {
    guard text.hasSuffix("%") else { return size(text).map { .bytes($0) } }
    guard let share = Double(text.dropLast()), (0...100).contains(share) else { return nil }
    return .fraction(share / 100)
  }

  private static func header(_ text: String) -> FaultEffect? {
    guard let colon = text.firstIndex(of: ":"), colon != text.startIndex,
      !text.contains(where: \.isNewline)
    else { return nil }
    let value = text[text.index(after: colon)...].drop { $0 == " " }
    return .header(String(text[..<colon]), String(value))
  }
}
