/// One `key=value` or `key` of a fault script, and where it stands.
struct FaultWord {
  let key: String
  let value: String?
  private let keyPosition: StoreError.Position
  private let valuePosition: StoreError.Position

  static let keys = [
    "path", "query", "method", "hits", "every", "share", "seed", "per", "delay", "status",
    "retry-after", "truncate", "reset", "drip", "wrong-length", "wrong-type", "redirect", "hang",
    "body", "header", "drop-validators", "chunked", "close", "gzip",
  ]

  /// Splits one line into words; a `#` where a word could begin ends it.
  static func read(_ line: Substring, line number: Int) throws(StoreError) -> [FaultWord] {
    var words: [FaultWord] = []
    var rest = Array(line)[...]
    while let start = rest.firstIndex(where: { !$0.isWhitespace }), rest[start] != "#" {
      rest = rest[start...]
      let key = String(rest.prefix { !$0.isWhitespace && $0 != "=" })
      rest = rest.dropFirst(key.count)
      let keyPosition = StoreError.Position(line: number, column: start + 1)
      var value: String?
      var valuePosition = keyPosition
      if rest.first == "=" {
        rest = rest.dropFirst()
        valuePosition = StoreError.Position(line: number, column: rest.startIndex + 1)
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
          "'\(key)' is no key",
          "write one of \(keys.joined(separator: ", "))"
        )
      }
      words.append(word)
    }
    return words
  }

  private static func readValue(
    _ rest: inout ArraySlice<Character>,
    at start: StoreError.Position
  ) throws(StoreError) -> String {
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
            "the quotes end within a word",
            "put white space after them",
            StoreError.Position(line: start.line, column: rest.startIndex + 1)
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
          "the backslash begins no known escape",
          "write \\\", \\\\, \\n, \\r or \\t",
          StoreError.Position(line: start.line, column: rest.startIndex - 1)
        )
      }
      value.append(escape)
    }
    throw unreadable("the quotes never end", "close them on the same line", start)
  }

  private static func unreadable(
    _ cause: String,
    _ advice: String,
    _ place: StoreError.Position
  ) -> StoreError {
    StoreError(
      .faults,
      "read the fault script at line \(place.line), column \(place.column)",
      cause,
      advice,
      at: place
    )
  }

  /// The word itself is out of place.
  func error(_ cause: String, _ advice: String) -> StoreError {
    Self.unreadable(cause, advice, keyPosition)
  }

  /// The value is not what the key wants.
  func wrong(_ expected: String) -> StoreError {
    guard let value else {
      return error("'\(key)' has no value", "write \(key)= and \(expected)")
    }
    return Self.unreadable("'\(key)' is '\(value)'", "write \(expected)", valuePosition)
  }

  /// The word says nothing unless another one is there.
  func without(_ other: String) -> StoreError {
    error("'\(key)' needs '\(other)' in the same rule", "add \(other)=…")
  }

  func text(_ expected: String) throws(StoreError) -> String {
    guard let value, !value.isEmpty else { throw wrong(expected) }
    return value
  }
}
