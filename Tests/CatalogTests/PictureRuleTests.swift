import Testing

@testable import Catalog

/// The rules by which a catalog file finds pictures.
struct PictureRuleTests {
  private func gallery(_ rule: String, _ item: String) throws -> (urls: [String], faults: [String])
  {
    let lines = "items: $\nitem: {id: $.id, title: $.id, images: {gallery: \(rule)}}"
    let listing = try decode(#"[{"id": "1", \#(item)}]"#, lines)
    return (listing.sections[0].items[0].images.map(\.url), listing.skipped.map(\.reason))
  }

  @Test(
    arguments: [
      (
        #"{path: $.a, template: "https://c.example/m{value}?w=1"}"#, #""a": "/x.jpg""#,
        ["https://c.example/m/x.jpg?w=1"]
      ),
      (#"{path: $.a, split: ","}"#, #""a": "x.jpg, y.jpg,,""#, ["x.jpg", "y.jpg"]),
      (
        #"{path: $.a, split: "|", template: "/{value}"}"#, #""a": ["x|y", "z"]"#,
        ["/x", "/y", "/z"]
      ),
      (#"{all: [$.a, "$.b[*]"]}"#, #""a": "x", "b": ["y", "z"]"#, ["x", "y", "z"]),
      (
        #"{path: $.a, split: " "}"#, #""a": "[\"x.jpg?a,b\", \"y.jpg\", null]""#,
        ["x.jpg?a,b", "y.jpg"]
      ),
      (
        #"{path: $.a, template: "/{value}"}"#, #""a": "['x', 'it\\'s', \"y\"]""#,
        ["/x", "/it's", "/y"]
      ),
      ("[$.a, $.b]", #""a": "[]", "b": "y""#, ["y"]), ("$.a", #""a": "[1].jpg""#, ["[1].jpg"]),
      ("$.a", #""a": "[1]""#, ["[1]"]),
      (#"{all: [$.a, $.b]}"#, #""b": "y""#, ["y"]),
      (#"[{all: [$.a, $.b]}, $.c]"#, #""c": "z""#, ["z"]),
      (#"{all: ["$.a[*]", "$.a[*].src"]}"#, #""a": ["x", {"src": "y"}]"#, ["x", "y"]),
      (#"[{path: $.a, split: ","}, $.b]"#, #""a": "", "b": "y""#, ["y"]),
    ])
  func `pictures are found at the paths of the catalog file`(
    rule: String,
    item: String,
    urls: [String]
  ) throws {
    let found = try gallery(rule, item)

    #expect(found.urls == urls)
    #expect(found.faults.isEmpty)
  }

  @Test func `a data URL is dropped alone, with a short message`() throws {
    let data = "data:image/png;base64," + String(repeating: "A", count: 9000)

    let one = try gallery("$.a", #""a": ["\#(data)", "x.jpg"]"#)
    let other = try gallery("[$.a, $.b]", #""a": "\#(data)", "b": "y.jpg""#)

    #expect(one.urls == ["x.jpg"])
    #expect(other.urls == ["y.jpg"])
    #expect(one.faults.map { $0.contains("data: URL") && $0.count < 100 } == [true])
  }

  @Test(
    arguments: [
      ("{path: $.a, template: 'https://c.example'}", "expected {value}"),
      ("{path: $.a, all: [$.b]}", "expected one of path and all"),
      ("{split: ','}", "\"path\" is missing"), ("{all: []}", "expected a path"),
      ("{path: $.a, split: ''}", "expected a separator"),
      ("{path: $.a, spilt: ','}", "unknown key \"spilt\""),
    ])
  func `a contradictory rule is refused`(rule: String, reason: String) {
    let error = parsingError(
      "name: a\ncurrency: KRW\nsections: [{key: m, url: m}]\nitems: $\nitem: {id: $.i, title: $.t, images: {gallery: \(rule)}}\n"
    )

    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "no error")")
  }

  @Test func `a changed rule changes the fingerprint, so that bodies are read again`() throws {
    let rules = [
      "$.a", "{path: $.a, split: ','}", "{path: $.a, template: 'x{value}'}", "{all: [$.a, $.b]}",
      "[$.a, $.b]",
    ]

    let prints = try rules.map {
      try catalog("items: $\nitem: {id: $.i, title: $.t, images: {gallery: \($0)}}").mapping
        .fingerprint
    }

    #expect(Set(prints).count == rules.count)
  }
}
