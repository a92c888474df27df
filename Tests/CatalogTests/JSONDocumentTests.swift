import Testing

@testable import Catalog

struct JSONDocumentTests {
  private func error(_ body: [UInt8], depthLimit: Int = 128) -> CatalogError? {
    do throws(CatalogError) {
      _ = try JSONDocument(parsing: body, of: "section main", depthLimit: depthLimit)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      ("[1,2,]", 1, 5, "no comma before \"]\""), ("[1,\n 2 3]", 2, 4, "\"]\""),
      ("{detail: 1}", 1, 2, "string or \"}\""), ("[1]\n[2]", 2, 1, "the end of the text"),
      ("[\"ab", 1, 2, "closing quote"), ("{\"a\":1,", 1, 8, "string or \"}\""),
      ("", 1, 1, "a value"),
      ("[\"한글\" 3]", 1, 7, "\"]\""), ("<html>", 1, 1, "a value"),
      ("[\"a\nb\"]", 1, 2, "closing quote"),
      ("[\"\\x\"]", 1, 2, "a known escape"), ("{\"a\" 1}", 1, 6, "\":\""),
      ("[tru]", 1, 2, "a value"),
      ("[12345678901234567890123, 1e999 x]", 1, 33, "\"]\""), ("{\n\n  \"a\": }", 3, 8, "a value"),
      // A number is repaired only if it is valid JSON. A form that only Swift accepts is refused,
      // and so is a number as a name.
      ("[22.e935]", 1, 2, "a value"), ("[1,\n 1.e999]", 2, 2, "a value"),
      ("{18446744073709551616: 1}", 1, 2, "valid JSON"),
      ("[1e999, {1e999 : 1}]", 1, 10, "valid JSON"),
      ("{\"\\u+000\": 1}", 1, 2, "a known escape"),
    ])
  func `malformed JSON is reported with line and column`(
    text: String,
    line: Int,
    column: Int,
    expected: String
  ) {
    let error = error(bytes(text))

    #expect(error?.code == .malformedJSON)
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(error?.reason.contains(expected) == true)
  }

  @Test func `an error has the file, the position and the cause in one line`() {
    let text = error(bytes("[\n  {\n    \"a\": 1,\n  }\n]"))?.description

    #expect(
      text
        == "cannot read section main: line 3, column 11: expected no comma before \"}\", found \",\"; "
        + "remove this comma"
    )
  }

  @Test(arguments: [
    ("{\"a\":1}\0", 8, "the end of the text after one value"),
    ("[1]\n\0", 1, "the end of the text"),
    ("[1,\0]", 4, "a value"), ("[1\0]", 3, "text without NUL bytes"), ("\0", 1, "a value"),
    ("{\0}", 2, "string or \"}\""),
    ("{\"a\":1}\0\0 x", 8, "the end of the text"),
  ])
  func `a NUL byte is reported with its position and the expected token`(
    _ json: String,
    _ column: Int,
    _ expected: String
  ) {
    let error = error(bytes(json))

    #expect(error?.column == column)
    #expect(error?.reason.contains(expected) == true)
    #expect(
      error?.description.hasSuffix("found a NUL byte, which JSON does not allow there") == true,
      "\(error?.description ?? "")"
    )
  }

  @Test(arguments: [
    ([0x5B, 0x22, 0xFF, 0x22, 0x5D], 3), ([0xFF], 1), ([0x5B, 0x31, 0xC3], 3),
    ([0x22, 0xED, 0xA0, 0x80, 0x22], 2), ([0x22, 0xC0, 0x80, 0x22], 2),
  ])
  func `bytes that are not UTF-8 are refused`(bytes: [UInt8], column: Int) {
    #expect(error(bytes)?.reason.hasPrefix("expected UTF-8, found") == true)
    #expect(error(bytes)?.column == column)
  }

  @Test func `every refused document has a position, and accepted ones have none`() {
    let seed = bytes(
      #"{"a": [1, -2.5e+3, "\u00e9\n한"], "b": {"c": null, "d": [true, false, []]}} "#
    )
    let alphabet = bytes("{}[]:,\"\\ \n0129.-+eEtrufalsn\u{1}\u{0}한")
    var state: UInt64 = 1
    func chance(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    for _ in 0..<20_000 {
      var text = seed
      for _ in 0...chance(3) {
        let place = chance(text.count)
        switch chance(3) {
        case 0: text[place] = alphabet[chance(alphabet.count)]
        case 1: text.insert(alphabet[chance(alphabet.count)], at: place)
        default: text.remove(at: place)
        }
      }
      let isValid = (try? JSONRepair(JSONText(text))) != nil
      let words = String(decoding: text, as: UTF8.self)
      guard let error = error(text) else {
        #expect(isValid, "\(words)")
        continue
      }
      #expect(!isValid, "\(words)")
      #expect(error.line != nil && error.column != nil)
    }
  }

  @Test func `a byte order mark is skipped`() throws {
    let root = try JSONDocument(parsing: [0xEF, 0xBB, 0xBF] + bytes("[1]")).root

    #expect(root[0]?.integer == 1)
  }

  @Test func `the last of duplicate names wins`() throws {
    let root = try JSONDocument(parsing: bytes(#"{"a": 1, "a": 2}"#)).root

    #expect(root["a"]?.integer == 2)
    #expect(root.count == 1)
  }

  @Test(
    arguments: [
      ("[12345678901234567890]", "12345678901234567890"),
      ("[18446744073709551616]", "18446744073709551616"),
      ("[-9223372036854775809]", "-9223372036854775809"),
      ("[1e999]", "1e999"), ("[0.1e1000]", "0.1e1000"), (#"["a\u0000b"]"#, "a\u{FFFD}b"),
      (#"["\\u0000\u0000"]"#, #"\u0000"# + "\u{FFFD}"),
      (#"["\ud83d"]"#, "\u{FFFD}"), (#"["\ude00x"]"#, "\u{FFFD}x"), (#"["\ud83d\ude00"]"#, "😀"),
      (#"["\ud83d\ud83d\ude00"]"#, "\u{FFFD}😀"), (#"["\\ud83d", 1e999]"#, #"\ud83d"#),
    ])
  func `values that do not fit our number types become text`(json: String, text: String)
    throws
  {
    #expect(try JSONDocument(parsing: bytes(json)).root[0]?.text == text)
  }

  @Test func `a NUL in a name does not affect other members`() throws {
    let root = try JSONDocument(parsing: bytes(#"{"a\u0000": 1, "b": "\u0000"}"#)).root

    #expect(root["a\u{FFFD}"]?.integer == 1)
    #expect(root["b"]?.text == "\u{FFFD}")
  }

  @Test func `nesting is limited before parsing`() {
    let deep = String(repeating: "[", count: 129)

    #expect(error(bytes(deep))?.code == .tooDeep)
    #expect(error(bytes(deep))?.column == 129)
    #expect(error(bytes("[[1]]"), depthLimit: 1)?.column == 2)
    #expect(error(bytes("[[1]]"), depthLimit: 2) == nil)
    #expect(error(bytes(#"["[[[[\"[["]"#), depthLimit: 1) == nil)
    #expect(error(bytes(String(repeating: "[{\"a\":", count: 1_000_000)))?.code == .tooDeep)
  }

  @Test func `a node keeps its document alive`() throws {
    var node: JSONNode? = try JSONDocument(parsing: bytes(#"{"a": ["x"]}"#)).root["a"]?[0]
    #expect(node?.text == "x")
    weak let document = node?.document
    #expect(document != nil)

    node = nil

    #expect(document == nil)
  }

  @Test func `each accessor answers only for its own kind`() throws {
    let root = try JSONDocument(
      parsing: bytes(#"[1, 1.5, "t", true, null, {"b": 1, "a": 2}, []]"#)
    ).root

    #expect(
      root.elements.map(\.kind) == [.integer, .real, .string, .boolean, .null, .object, .array]
    )
    #expect(root.elements.map(\.integer) == [1, nil, nil, nil, nil, nil, nil])
    #expect(root.elements.map(\.real) == [nil, 1.5, nil, nil, nil, nil, nil])
    #expect(root.elements.map(\.text) == [nil, nil, "t", nil, nil, nil, nil])
    #expect(root.elements.map(\.count) == [0, 0, 0, 0, 0, 2, 0])
    #expect(root[5]?.members.map(\.name) == ["b", "a"])
    #expect(root[7] == nil)
    #expect(root[-1] == nil)
    #expect(root["a"] == nil)
    #expect(root[0]?["a"] == nil)
  }
}
