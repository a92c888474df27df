import Testing

@testable import Catalog

struct JSONLinesTests {
  @Test(arguments: [
    ("https://s.example/feed.jsonl?page=1", nil, true), ("feed.NDJSON", nil, true),
    ("https://s.example/feed", "application/x-ndjson; charset=utf-8", true),
    ("https://s.example/feed", "application/jsonl", true),
    ("https://s.example/feed", "application/json", false),
    ("https://s.example/feed.json?as=.jsonl", nil, false),
  ])
  func `JSON Lines are recognised by name or type`(
    _ name: String,
    _ type: String?,
    _ isMeant: Bool
  ) {
    #expect(JSONLines.isDeclared(name: name, type: type) == isMeant)
  }

  @Test(arguments: [
    ("{\"a\": 1}\n{\"a\": 2}\n", "[{\"a\": 1}\n,{\"a\": 2}\n]"),
    ("\u{FEFF}{\"a\": 1}\r\n\r\n{\"a\": 2}", "\u{FEFF}[{\"a\": 1}\r\n\r\n,{\"a\": 2}]"),
    ("", "[]"), ("\n\n", "\n\n[]"), ("[{\"a\": 1}]", "[{\"a\": 1}]"),
    ("\u{FEFF} [{\"a\": 1}]\n", "\u{FEFF} [{\"a\": 1}]\n"),
    ("\n {}\n \n [\n", "\n [{}\n \n ,[\n]"),
  ])
  func `the lines become an array, each on its own line`(_ body: String, _ array: String) {
    #expect(String(decoding: JSONLines.array(of: bytes(body)), as: UTF8.self) == array)

    for size in 1...5 {
      var joining = JSONLines.Joining()
      var joined: [UInt8] = []
      for start in stride(from: 0, to: bytes(body).count, by: size) {
        joined += joining.joined(bytes(body)[start...].prefix(size))
      }
      #expect(String(decoding: joined + joining.end, as: UTF8.self) == array, "\(size) bytes")
    }
  }

  @Test(arguments: [
    ("{\n  \"a\": 1\n}", true), ("\u{FEFF}{ \r\n", true), (" [1]", true),
    ("{\"a\": 1}\n{}", false),
    ("{}\n", false), ("{ \"a\": 1}\n", false), ("{", false), ("", false),
  ])
  func `a document is known by its first bracket, or by a brace alone on its line`(
    _ body: String,
    _ isDocument: Bool
  ) {
    #expect(JSONLines.isDocument(bytes(body)) == isDocument)
  }

  @Test func `an error is reported on its line`() {
    let error = #expect(throws: CatalogError.self) {
      try JSONDocument(parsing: JSONLines.array(of: bytes("{\"a\": 1}\n{\"a\": }\n{\"a\": 3}")))
    }

    #expect(error?.line == 2)
  }
}
