import Testing

@testable import Catalog

struct JSONFilterTests {
  private func select(_ path: String, _ json: String) throws -> [String] {
    let root = try JSONDocument(parsing: bytes(json)).root
    return try JSONPath(parsing: path).values(in: root).compactMap(FieldReader.plainText)
  }

  @Test(
    arguments: [
      ("a+b?", "aab", true), ("a+b?", "b", false), ("(ab|c){2}", "abc", true),
      ("(ab|c){2}", "abcc", false), ("(ab|c){2,}", "ccabc", true), ("[a-c-]+", "a-c", true),
      ("[^a-c]", "d", true), ("[^a-c]", "b", false), ("\\p{L}+", "메뉴é", true),
      ("\\P{L}", "é", false), ("[\\p{Nd}\\P{L}]", "x", false), (".", "\n", false),
      ("a.c", "a\u{1F600}c", true), ("", "", true), ("a||b", "", true), ("()*", "", true),
      ("(a*)*b", "aaab", true), ("x{0}", "", true), ("[\\]\\-]", "]", true), ("$a", "a", false),
      ("a^", "a", false), ("e\u{301}", "\u{E9}", false),
    ])
  func `a pattern matches as RFC 9485 says`(pattern: String, text: String, isMatched: Bool) throws
  {
    let regexp = try IRegexp(parsing: pattern)

    #expect(regexp.matches(Array(text.unicodeScalars), isWhole: true) == isMatched)
  }

  @Test(
    arguments: [
      "(", ")", "a**", "*", "[", "[]", "[z-a]", "a{2,1}", "a{", "a{x}", "\\d", "\\1", "(?=a)",
      "[a-b-c]",
      "\\p{Xx}", "\\p{Lu", "]", "}", "a{99999}", "((a{100}){100}){100}", "((){9999}){9999}",
      "[[a]]",
      String(repeating: "(", count: 65) + String(repeating: ")", count: 65),
    ])
  func `a pattern that RFC 9485 does not allow, or that would grow too large, is refused`(
    pattern: String
  ) {
    #expect(throws: CatalogError.self) { try IRegexp(parsing: pattern) }
  }

  @Test func `a pattern that makes other regular expression engines backtrack takes linear time`()
    throws
  {
    let regexp = try IRegexp(parsing: "(a*)*(a|aa)+(a?){30}b")
    let text = [Unicode.Scalar](repeating: "a", count: 5000)

    #expect(!regexp.matches(text, isWhole: true))
    #expect(!regexp.matches(text, isWhole: false))
  }

  @Test(
    arguments: [
      ("$[?@ < 'b']", #"["a", "b", "ab", 1]"#, ["a", "ab"]),
      ("$[?@ == '\u{E9}']", "[\"e\u{301}\", \"\u{E9}\"]", ["\u{E9}"]),
      ("$[?@ >= 9007199254740993]", "[9007199254740992, 9007199254740993]", ["9007199254740993"]),
      ("$[?@ > 1e19]", "[18446744073709551615, 3]", ["18446744073709551615"]),
      ("$[?@ == 12345678901234567890]", "[12345678901234567890, 1]", ["12345678901234567890"]),
      ("$[?@ <= 0]", "[9223372036854775808, 12345678901234567890]", []),
      ("$[?@ == @]", "[18446744073709551615]", ["18446744073709551615"]),
      ("$[?@.a == $.b].id", #"{"x": {"a": [1, {"k": 2}], "id": 7}, "b": [1.0, {"k": 2}]}"#, ["7"]),
      (
        "$.list[?!@.gone && (@.price > 1 || @.free == true)].id",
        #"{"list": [{"id": 1, "price": 2}, {"id": 2, "free": true}, {"id": 3, "price": 2, "gone": 0}, {"id": 4}]}"#,
        ["1", "2"]
      ),
    ])
  func `values are compared exactly`(path: String, json: String, expected: [String]) throws {
    #expect(try select(path, json) == expected)
  }

  @Test func `filters with quadratic work are stopped`() throws {
    let json = "[" + (0..<1500).map(String.init).joined(separator: ",") + "]"

    #expect {
      try select("$[?count($[?count($[*]) > 1]) > 1]", json)
    } throws: {
      ($0 as? CatalogError)?.code == .pathWork
    }
    #expect(try select("$[?count($[*]) == 4000 && @ == 7]", "[7]") == [])
  }

  @Test func `nested descendant selectors are stopped`() throws {
    let json = String(repeating: #"{"a":"#, count: 120) + "1" + String(repeating: "}", count: 120)

    #expect(throws: CatalogError.self) { try select("$..*..*..*..*..*", json) }
  }

  @Test func `deeply nested brackets are refused`() {
    let path =
      "$[?" + String(repeating: "(", count: 70) + "@.a" + String(repeating: ")", count: 70) + "]"

    #expect(throws: CatalogError.self) { try JSONPath(parsing: path) }
  }

  @Test func `items and pictures can be selected by a filter`() throws {
    let listing = try decode(
      """
      {"rows": [{"id": 1, "t": "A", "on": true, "pics": [{"k": "big", "u": "b.jpg"}, {"k": "small", "u": "s.jpg"}]},
                {"id": 2, "t": "B", "on": false}]}
      """,
      """
      items: "$.rows[?@.on == true]"
      item: {id: $.id, title: $.t, images: {thumbnail: "$.pics[?@.k == 'small'].u"}}
      """
    )

    #expect(listing.sections[0].items.map(\.id) == ["1"])
    #expect(listing.sections[0].items[0].images.map(\.url) == ["s.jpg"])
    #expect(listing.elementCount == 1)
  }

  @Test func `a filter that matches no item gives an empty section`() throws {
    let lines = "items: \"$.rows[?@.on]\"\nitem: {id: $.id, title: $.t}"

    #expect(try decode(#"{"rows": [{"id": 1}]}"#, lines).sections[0].items.isEmpty)
    #expect(decodingError(#"{"other": []}"#, lines)?.code == .absentItems)
  }

  @Test func `an invalid pattern is an error of the catalog file, with its line`() throws {
    let error = parsingError(
      """
      name: shop
      currency: KRW
      sections: [{key: main, url: main}]
      items: "$.rows[?match(@.id, '\\\\\\\\d+')]"
      item: {id: $.id, title: $.t}
      """
    )

    #expect(error?.code == .jsonPath)
    #expect(error?.line == 4)
    #expect(error?.reason.contains("RFC 9485") == true)
    #expect(try select(#"$[?match(@, '\\d')]"#, #"["1", "d"]"#) == [])
    #expect(try JSONPath(parsing: #"$[?@.a[?match(@, '\\d')]]"#).faultyPattern != nil)
  }
}
