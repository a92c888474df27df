/// A word of a fault script, `key=value` or `key`, with its position in the script.
struct FaultWord {
  let key: String
  let value: String?
  private let keyPosition: SampleError.Position
  private let valuePosition: SampleError.Position

  static let keys = [
    "path", "query", "method", "hits", "every", "share", "seed", "per", "delay", "status",
    "retry-after", "truncate", "reset", "drip", "wrong-length", "wrong-type", "redirect", "hang",
    "body", "header", "drop-validators", "chunked", "close", "gzip",
  ]

  /// Splits a line into words.
  ///
  /// A word that begins with `#` starts a comment.
  static func read(_ line: Substring, line number: Int) throws(SampleError) -> [FaultWord] {
    var words: [FaultWord] = []
    var rest = Array(line)[...]
    while let start = rest.firstIndex(where: { !$0.isWhitespace }), rest[start] != "#" {
      rest = rest[start...]
      let key = String(rest.prefix { !$0.isWhitespace && $0 != "=" })
      rest = rest.dropFirst(key.count)
      let keyPosition = SampleError.Position(line: number, column: start + 1)
      var value: String?
      var valuePosition = keyPosition
      if rest.first == "=" {
        rest = rest.dropFirst()
        valuePosition = SampleError.Position(line: number, column: rest.startIndex + 1)
        value = try readValue(&rest, at: valuePosition)
      }
      let word = FaultWord(
        key: key,
        value: value,
        keyPosition: keyPosition,
        valuePosition: valuePosition
      )
      guard keys.contains(key) else {
        throw word.error(
          "'\(key)' is not a key",
          "write one of \(keys.joined(separator: ", "))"
        )
      }
      words.append(word)
    }
    return words
  }

  private static func readValue(
    _ rest: inout ArraySlice<Character>,
    at start: SampleError.Position
  ) throws(SampleError) -> String {
    guard rest.first == "\"" else {
      let value = String(rest.prefix { !$0.isWhitespace })
      rest = rest.dropFirst(value.count)
      return value
    }
    rest = rest.dropFirst()
    var value = ""
    while let character = rest.popFirst() {
      if character == "\"" {
        guard rest.first?.isWhitespace ?? true else {
          throw unreadable(
            "the quotes end inside a word",
            "put white space after them",
            SampleError.Position(line: start.line, column: rest.startIndex + 1)
          )
        }
        return value
      }
      guard character == "\\" else {
        value.append(character)
        continue
      }
      let escapes: [Character: Character] = [
        "\"": "\"", "\\": "\\", "n": "\n", "r": "\r", "t": "\t",
      ]
      guard let escape = rest.popFirst().flatMap({ escapes[$0] }) else {
        throw unreadable(
          "the backslash is not followed by a known escape",
          "write \\\", \\\\, \\n, \\r or \\t",
          SampleError.Position(line: start.line, column: rest.startIndex - 1)
        )
      }
      value.append(escape)
    }
    throw unreadable("the quotes are not closed", "close them on the same line", start)
  }

  private static func unreadable(
    _ cause: String,
    _ advice: String,
    _ place: SampleError.Position
  ) -> SampleError {
    SampleError(
      .faults,
      "read the fault script at line \(place.line), column \(place.column)",
      cause,
      advice,
      at: place
    )
  }

  /// An error at the position of the word.
  func error(_ cause: String, _ advice: String) -> SampleError {
    Self.unreadable(cause, advice, keyPosition)
  }

  /// An error about a value that the word's key does not allow.
  func wrong(_ expected: String) -> SampleError {
    guard let value else {
      return error("'\(key)' has no value", "write \(key)= and \(expected)")
    }
    return Self.unreadable("'\(key)' is '\(value)'", "write \(expected)", valuePosition)
  }

  /// An error about a word that needs another word in the same rule.
  func without(_ other: String) -> SampleError {
    error("'\(key)' needs '\(other)' in the same rule", "add \(other)=…")
  }

  func text(_ expected: String) throws(SampleError) -> String {
    guard let value, !value.isEmpty else { throw wrong(expected) }
    return value
  }
}

extension FaultWord {
  /// The effect that the word describes.
  func effect() throws(SampleError) -> FaultEffect {
    switch key {
    case "delay": return .delay(seconds: try seconds())
    case "status":
      let code = try number("a status from 200 to 599", from: 200)
      guard code < 600 else { throw wrong("a status from 200 to 599") }
      return .status(code)
    case "truncate": return .truncate(after: try cut())
    case "reset":
      return .reset(after: value == nil ? nil : try size("a number of bytes, or nothing", from: 0))
    case "drip": return .drip(bytesPerSecond: try size("bytes a second, such as 2K", from: 1))
    case "wrong-length": return .wrongLength(try difference())
    case "wrong-type": return .wrongType(try text("a media type such as text/html"))
    case "redirect": return .redirect(to: try text("a URL or path"))
    case "body":
      guard let value else { throw wrong("the text of the body") }
      return .body(Array(value.utf8))
    case "header": return try header()
    case "hang": return try bare(.hang)
    case "drop-validators": return try bare(.dropValidators)
    case "chunked": return try bare(.chunked)
    case "close": return try bare(.closeWithoutAnswer)
    default: return try bare(.gzip)
    }
  }

  private func bare(_ effect: FaultEffect) throws(SampleError) -> FaultEffect {
    guard value == nil else { throw wrong("'\(key)' alone: it takes no value") }
    return effect
  }

  func number(_ expected: String, from least: Int) throws(SampleError) -> Int {
    guard let value, let number = Int(value), number >= least else { throw wrong(expected) }
    return number
  }

  /// Parses a number of bytes: `300`, `2K` or `1M`, in binary units.
  private func size(_ expected: String, from least: Int) throws(SampleError) -> Int {
    guard let value, let last = value.last else { throw wrong(expected) }
    let unit = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30][last.uppercased()]
    let digits = unit == nil ? value[...] : value.dropLast()
    guard let number = Int(digits), number >= least,
      case (let bytes, false) = number.multipliedReportingOverflow(by: unit ?? 1)
    else { throw wrong(expected) }
    return bytes
  }

  /// Parses a duration: `250ms`, `1.5s` or `1.5`.
  private func seconds() throws(SampleError) -> Double {
    let expected = "a duration such as 250ms or 1.5s"
    guard let value else { throw wrong(expected) }
    let inThousandths = value.hasSuffix("ms")
    let unit = inThousandths ? 2 : value.hasSuffix("s") ? 1 : 0
    guard let number = Double(value.dropLast(unit)), number >= 0, number <= 86_400_000 else {
      throw wrong(expected)
    }
    return inThousandths ? number / 1000 : number
  }

  /// Parses a range: `2`, `1..3` or `4..`.
  func range() throws(SampleError) -> ClosedRange<Int> {
    let expected = "N, N..M or N.., counted from 1"
    guard let value else { throw wrong(expected) }
    guard let dots = value.firstRange(of: "..") else {
      guard let only = Int(value), only > 0 else { throw wrong(expected) }
      return only...only
    }
    let end = value[dots.upperBound...]
    guard let first = Int(value[..<dots.lowerBound]), first > 0,
      let last = end.isEmpty ? Int.max : Int(end), last >= first
    else { throw wrong(expected) }
    return first...last
  }

  func share() throws(SampleError) -> Double {
    guard let value, let share = Double(value), (0...1).contains(share) else {
      throw wrong("a share from 0 to 1, such as 0.2")
    }
    return share
  }

  private func cut() throws(SampleError) -> FaultEffect.Cut {
    let expected = "a number of bytes, or a percentage such as 50%"
    guard let value, value.hasSuffix("%") else { return .bytes(try size(expected, from: 0)) }
    guard let share = Double(value.dropLast()), (0...100).contains(share) else {
      throw wrong(expected)
    }
    return .fraction(share / 100)
  }

  private func difference() throws(SampleError) -> Int {
    let expected = "a difference such as +10 or -5"
    guard let value, let number = Int(value), number != 0 else { throw wrong(expected) }
    return number
  }

  private func header() throws(SampleError) -> FaultEffect {
    let expected = "\"Name: value\" in double quotes"
    guard let value, let colon = value.firstIndex(of: ":"), colon != value.startIndex,
      !value.contains(where: \.isNewline)
    else { throw wrong(expected) }
    let text = value[value.index(after: colon)...].drop { $0 == " " }
    return .header(String(value[..<colon]), String(text))
  }
}
