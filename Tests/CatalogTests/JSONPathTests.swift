import Testing

@testable import Catalog

struct JSONPathTests {
  /// The selected values as compact JSON.
  private func select(_ path: String, _ json: String) throws -> [String] {
    let document = try JSONDocument(parsing: bytes(json))
    return try JSONPath(parsing: path).values(in: document.root).map(compact)
  }

  private func compact(_ node: JSONNode) -> String {
    switch node.kind {
    case .object: "{" + node.members.map { "\($0):\(compact($1))" }.joined(separator: ",") + "}"
    case .array: "[" + node.elements.map(compact).joined(separator: ",") + "]"
    case .string: "\"\(node.text ?? "")\""
    case .integer: String(node.integer ?? 0)
    case .real: String(node.real ?? 0)
    case .boolean: "boolean"
    case .null: "null"
    }
  }

  private static let store = """
    { "store": { "book": [
      {"author": "Rees", "title": "Sayings", "price": 8.95},
      {"author": "Waugh", "title": "Sword", "price": 12.99},
      {"author": "Melville", "title": "Moby", "isbn": "0-553", "price": 8.99},
      {"author": "Tolkien", "title": "Rings", "isbn": "0-395", "price": 22.99}
    ], "bicycle": {"color": "red", "price": 399} } }
    """

  @Test(
    arguments: [
      ("$.store.book[*].author", ["\"Rees\"", "\"Waugh\"", "\"Melville\"", "\"Tolkien\""]),
      ("$..author", ["\"Rees\"", "\"Waugh\"", "\"Melville\"", "\"Tolkien\""]),
      ("$.store..price", ["8.95", "12.99", "8.99", "22.99", "399"]),
      ("$..book[2].author", ["\"Melville\""]), ("$..book[2].publisher", []),
      ("$..book[-1].title", ["\"Rings\""]), ("$..book[0,1].price", ["8.95", "12.99"]),
      ("$..book[:2].price", ["8.95", "12.99"]), ("$.store.bicycle.color", ["\"red\""]),
    ])
  func `the example store of RFC 9535 section 1.5 gives the results of the RFC`(
    path: String,
    expected: [String]
  ) throws {
    #expect(try select(path, Self.store) == expected)
  }

  @Test(
    arguments: [
      ("$.o['j j']", #"{"o": {"j j": {"k.k": 3}}}"#, ["{k.k:3}"]),
      ("$.o['j j']['k.k']", #"{"o": {"j j": {"k.k": 3}}}"#, ["3"]),
      (#"$.o["j j"]["k.k"]"#, #"{"o": {"j j": {"k.k": 3}}}"#, ["3"]),
      (#"$["'"]["@"]"#, #"{"'": {"@": 2}}"#, ["2"]),
      ("$[*]", #"{"o": {"j": 1, "k": 2}, "a": [5, 3]}"#, ["{j:1,k:2}", "[5,3]"]),
      ("$.o[*, *]", #"{"o": {"j": 1, "k": 2}}"#, ["1", "2", "1", "2"]),
      ("$[1]", #"["a","b"]"#, ["\"b\""]), ("$[-2]", #"["a","b"]"#, ["\"a\""]),
      ("$[2]", #"["a","b"]"#, []), ("$[-3]", #"["a","b"]"#, []), ("$[0]", #"{"0": 1}"#, []),
      ("$[1:3]", "[0,1,2,3,4,5,6]", ["1", "2"]), ("$[5:]", "[0,1,2,3,4,5,6]", ["5", "6"]),
      ("$[1:5:2]", "[0,1,2,3,4,5,6]", ["1", "3"]), ("$[5:1:-2]", "[0,1,2,3,4,5,6]", ["5", "3"]),
      ("$[::-1]", "[0,1,2,3,4,5,6]", ["6", "5", "4", "3", "2", "1", "0"]),
      ("$[::0]", "[0,1,2]", []), ("$[-2:]", "[0,1,2]", ["1", "2"]), ("$[9:]", "[0]", []),
      ("$[0, 3]", "[0,1,2,3]", ["0", "3"]), ("$[0:2, 3]", "[0,1,2,3]", ["0", "1", "3"]),
      ("$[0, 0]", "[7]", ["7", "7"]), ("$..j", #"{"o": {"j": 1}, "a": [{"j": 4}]}"#, ["1", "4"]),
      ("$..[0]", #"{"a": [5, [3]]}"#, ["5", "3"]), ("$ .a [ 'b' ]", #"{"a":{"b":1}}"#, ["1"]),
      ("$..*", #"{"a": [5]}"#, ["[5]", "5"]), ("$", "null", ["null"]), ("$.a", "null", []),
      (#"$['a\u00e9\ud83d\ude00\n\'']"#, #"{"aé😀\n'": 1}"#, ["1"]), ("$['']", #"{"": 1}"#, ["1"]),
      ("$.메뉴", #"{"메뉴": 1}"#, ["1"]), ("$..a..b", #"{"a":{"a":{"b":1}}}"#, ["1", "1"]),
    ])
  func `selectors follow RFC 9535 section 2`(
    path: String,
    json: String,
    expected: [String]
  ) throws {
    #expect(try select(path, json) == expected)
  }

  @Test(
    arguments: [
      ("", 1, "\"$\""), ("a.b", 1, "\"$\""), ("$.", 3, "a name"), ("$a", 2, "\".\" or \"[\""),
      ("$[", 3, "a name, an index"), ("$[1", 4, "\",\" or \"]\""), ("$[?]", 4, "\"@\""),
      ("$[?@.a==]", 9, "\"@\""), ("$[?1]", 5, "a comparison"), ("$[?@.a=1]", 7, "\"==\""),
      ("$[?@.*==1]", 4, "value(…)"),
      ("$[?(@.a]", 8, "\")\""), ("$[?@.a==shop]", 9, "'shop'"), ("$[?size(@)==1]", 4, "\"value\""),
      ("$[?length(@,1)==1]", 4, "one argument"), ("$[?count(1)==1]", 10, "a path"),
      ("$[?match(@.a,'b')==true]", 4, "already give true or false"), ("$[?@.a==01]", 9, "zeros"),
      ("$[?@.a==1e999]", 9, "Double"),
      ("$[01]", 3, "leading zeros"), ("$[-0]", 3, "leading zeros"), ("$['a]", 6, "a closing '"),
      ("$.a-b", 4, "['…']"), ("$.1", 3, "a name"), ("$ ", 2, "no white space"),
      (#"$['\x']"#, 4, "escape"), (#"$['\ud800']"#, 4, "escape"),
      ("$[9007199254740992]", 3, "2^53"),
      ("$...a", 4, "a name"), ("$[]", 3, "a name, an index"), ("$.a]", 4, "\".\" or \"[\""),
      ("$['a\u{1}']", 5, "control character"), ("$[-]", 3, "whole number"),
    ])
  func `a wrong path is reported with its position and what was expected`(
    path: String,
    position: Int,
    words: String
  ) {
    #expect {
      try JSONPath(parsing: path)
    } throws: {
      let error = $0 as? CatalogError
      return error?.code == .jsonPath && error?.column == position
        && error?.reason.contains(words) == true
    }
  }

  @Test(arguments: [
    "$", "$.a", "$[0]['b'][-1]", "$[*]", "$..a", "$.a[0:2]", "$.a[0,1]", "$.a[?@>2]",
  ])
  func `the first value equals the first of all values`(path: String) throws {
    let json = #"{"a": [[{"b": [1, 2]}], 3]}"#
    let root = try JSONDocument(parsing: bytes(json)).root
    let path = try JSONPath(parsing: path)

    #expect(
      try path.firstValue(in: root).map(compact) == path.values(in: root).first.map(compact)
    )
  }
}
