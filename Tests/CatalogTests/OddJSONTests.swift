import Testing

@testable import Catalog

/// An unusual JSON text and the expected result.
struct OddJSON: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  /// The value that is read, as text, or nil if the text is refused.
  let read: String?
  /// Words of the error if the text is refused.
  let words: String

  var testDescription: String { name }

  static func takes(_ name: String, _ text: String, _ read: String) -> OddJSON {
    OddJSON(name: name, bytes: Array(text.utf8), read: read, words: "")
  }

  static func refuses(_ name: String, _ text: String, _ words: String) -> OddJSON {
    OddJSON(name: name, bytes: Array(text.utf8), read: nil, words: words)
  }

  static func refuses(_ name: String, _ bytes: [UInt8], _ words: String) -> OddJSON {
    OddJSON(name: name, bytes: bytes, read: nil, words: words)
  }
}

/// Reads JSON that shops should not send, and texts that only resemble it.
@Suite struct OddJSONTests {
  private static let accepted: [OddJSON] = [
    .takes("a byte order mark", "\u{FEFF}[1]", "[1]"),
    .takes("white space around", " \t\r\n[1]\n\n ", "[1]"),
    .takes("a lone value", "7", "7"), .takes("an empty text", "\"\"", "\"\""),
    .takes(
      "128 levels",
      String(repeating: "[", count: 128) + String(repeating: "]", count: 128),
      String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
    ),
    .takes(
      "an empty array below 128 levels",
      String(repeating: "[", count: 129) + String(repeating: "]", count: 129),
      String(repeating: "[", count: 129) + String(repeating: "]", count: 129)
    ),
    .takes(
      "names that only look the same",
      "{\"\u{E9}\": 1, \"e\u{301}\": 2}",
      "{\"\u{E9}\":1,\"e\u{301}\":2}"
    ),
    .takes("duplicate names: the last counts", #"{"a": 1, "b": 2, "a": 3}"#, #"{"a":3,"b":2}"#),
    .takes("an empty name", #"{"": 1}"#, #"{"":1}"#),
    .takes("a lone high surrogate", #"["\ud83d"]"#, "[\"\u{FFFD}\"]"),
    .takes("a lone low surrogate", #"["a\udc00b"]"#, "[\"a\u{FFFD}b\"]"),
    .takes("surrogates the wrong way round", #"["\udc00\ud83d"]"#, "[\"\u{FFFD}\u{FFFD}\"]"),
    .takes("a high surrogate before a letter", #"["\ud83dx"]"#, "[\"\u{FFFD}x\"]"),
    .takes("a surrogate in a name", #"{"\ud800": 1}"#, "{\"\u{FFFD}\":1}"),
    .takes("a pair of surrogates", #"["\ud83c\udf72"]"#, "[\"🍲\"]"),
    .takes("an escaped NUL", #"["a\u0000b"]"#, "[\"a\u{FFFD}b\"]"),
    .takes("a noncharacter", #"["\uffff"]"#, "[\"\u{FFFF}\"]"),
    .takes("1e400 keeps its digits as text", "[1e400]", "[\"1e400\"]"),
    .takes("-1e400", "[-1e400]", "[\"-1e400\"]"), .takes("1e-400 is nought", "[1e-400]", "[0.0]"),
    .takes("-0", "[-0]", "[0]"), .takes("-0.0", "[-0.0]", "[-0.0]"),
    .takes("1E+2", "[1E+2]", "[100.0]"),
    .takes("the largest Int", "[9223372036854775807]", "[9223372036854775807]"),
    .takes("the smallest Int", "[-9223372036854775808]", "[-9223372036854775808]"),
    .takes("one more than an Int", "[9223372036854775808]", "[\"9223372036854775808\"]"),
    .takes("one less than an Int", "[-9223372036854775809]", "[\"-9223372036854775809\"]"),
    .takes(
      "a whole number of 60 digits",
      "[\(String(repeating: "9", count: 60))]",
      "[\"\(String(repeating: "9", count: 60))\"]"
    ),
    .takes("1e400 in a text is text", #"["1e400", 1e400]"#, #"["1e400","1e400"]"#),
  ]

  private static let open = String(repeating: "[", count: 100_000)

  private static let refused: [OddJSON] = [
    .refuses("nothing", "", "line 1, column 1: expected a value, found the end of the text"),
    .refuses("a byte order mark alone", "\u{FEFF}", "expected a value, found the end of the text"),
    .refuses("100,000 open arrays", open, "column 129: expected at most 128 levels"),
    .refuses(
      "a number below 129 levels",
      String(repeating: "[", count: 129) + "1" + String(repeating: "]", count: 129),
      "column 129: expected at most 128 levels"
    ),
    .refuses(
      "100,000 nested arrays",
      open + String(repeating: "]", count: 100_000),
      "expected at most 128 levels"
    ),
    .refuses(
      "100,000 nested objects",
      String(repeating: "{\"a\":", count: 100_000) + "1" + String(repeating: "}", count: 100_000),
      "expected at most 128 levels"
    ),
    .refuses(
      "two documents",
      "{} {}",
      "column 4: expected the end of the text after one value, found \"{\""
    ),
    .refuses(
      "two documents on lines",
      "[1]\n[2]",
      "line 2, column 1: expected the end of the text after one value"
    ),
    .refuses("a comma at the end", "[1,]", "column 3: expected no comma before \"]\""),
    .refuses("a comma in an object's end", "{\"a\":1,}", "expected no comma before \"}\""),
    .refuses("two commas", "[1,,2]", "column 4: expected a value, found \",\""),
    .refuses("a bracket for a brace", "{\"a\":1]", "expected \"}\", found \"]\""),
    .refuses("a comment", "[1 /* one */]", "expected \"]\", found \"/\""),
    .refuses("single quotes", "['a']", "expected a value, found \"'\""),
    .refuses("a bare name", "{a: 1}", "expected string or \"}\""),
    .refuses("NaN", "[NaN]", "expected a value, found \"NaN\""),
    .refuses("Infinity", "[-Infinity]", "expected a value"),
    .refuses("a plus sign", "[+1]", "expected a value, found \"+1\""),
    .refuses("a leading nought", "[012]", "expected a value, found \"012\""),
    .refuses("a hexadecimal number", "[0x1F]", "expected"),
    .refuses("a point without digits", "[1.]", "expected a value, found \"1.\""),
    .refuses("a point at the beginning", "[.5]", "expected a value, found \".5\""),
    .refuses("an exponent without digits", "[1e]", "expected a value, found \"1e\""),
    .refuses("True", "[True]", "expected a value, found \"True\""),
    .refuses("a tab in a text", "[\"a\tb\"]", "expected control characters to be escaped"),
    .refuses(
      "a line break in a text",
      "[\"a\nb\"]",
      "expected a closing quote before the line ends"
    ),
    .refuses("an unknown escape", #"["\q"]"#, "expected a known escape"),
    .refuses("half an escape", #"["\u12"]"#, "expected a known escape"),
    .refuses(
      "a NUL between values",
      "[1,\u{0}2]",
      "found a NUL byte, which JSON does not allow there"
    ),
    .refuses("a NUL in a text", "[\"a\u{0}b\"]", "expected control characters to be escaped"),
    .refuses("a NUL at the end", "[1]\u{0}", "found a NUL byte"),
    .refuses(
      "a byte that is no UTF-8",
      [0x5B, 0x22, 0xFF, 0x22, 0x5D],
      "column 3: expected UTF-8, found the byte 0xff"
    ),
    .refuses("an overlong slash", [0x5B, 0x22, 0xC0, 0xAF, 0x22, 0x5D], "expected UTF-8"),
    .refuses(
      "a surrogate as UTF-8",
      [0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D],
      "expected UTF-8"
    ),
    .refuses("half a character", [0x5B, 0x22, 0xE3, 0x81, 0x22, 0x5D], "expected UTF-8"),
    .refuses(
      "beyond Unicode",
      [0x5B, 0x22, 0xF4, 0x90, 0x80, 0x80, 0x22, 0x5D],
      "expected UTF-8"
    ),
    .refuses(
      "UTF-16",
      [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00],
      "expected UTF-8, found UTF-16"
    ),
    .refuses("UTF-16 without a mark", [0x5B, 0x00, 0x31, 0x00, 0x5D, 0x00], "found a NUL byte"),
    .refuses("a page", "<!doctype html>", "expected a value, found \"<\""),
  ]

  @Test("Unusual JSON that shops send is read without loss", arguments: accepted)
  func reading(_ odd: OddJSON) throws {
    let root = try JSONDocument(parsing: odd.bytes, of: "section main").root

    #expect(Self.text(of: root) == odd.read)
  }

  @Test(
    "Invalid JSON is refused with its position and the expected token",
    arguments: refused
  )
  func refusing(_ odd: OddJSON) {
    let error = #expect(throws: CatalogError.self) {
      try JSONDocument(parsing: odd.bytes, of: "section main")
    }

    #expect(error?.description.contains(odd.words) == true, "\(error?.description ?? "")")
    #expect(error?.line != nil && error?.column != nil)
  }

  @Test("A body that is truncated at any byte is refused")
  func truncation() throws {
    let whole = Array(
      #"{"items": [{"id": "ABC", "title": "국·찌개 🍲 \ud83c\udf72", "price": -1.5e+3, "x": [true, null]}]}"#
        .utf8
    )

    for count in 0..<whole.count {
      let error = #expect(throws: CatalogError.self, "\(count) bytes") {
        try JSONDocument(parsing: Array(whole[..<count]), of: "section main")
      }
      #expect(error?.code == .malformedJSON)
      #expect(
        error?.line == 1 && (error?.column ?? 0) <= count + 1,
        "\(count) bytes: \(error?.description ?? "")"
      )
    }
    _ = try JSONDocument(parsing: whole)
  }

  /// A value as JSON without escapes and with sorted names.
  private static func text(of node: JSONNode) -> String {
    switch node.kind {
    case .object:
      "{" + node.members.map { "\"\($0.name)\":\(text(of: $0.value))" }.joined(separator: ",")
        + "}"
    case .array: "[" + node.elements.map(text).joined(separator: ",") + "]"
    case .string: "\"\(node.text ?? "")\""
    case .integer: "\(node.integer ?? 0)"
    case .real: "\(node.real ?? 0)"
    case .boolean: "\(node.boolean ?? false)"
    case .null: "null"
    }
  }
}
