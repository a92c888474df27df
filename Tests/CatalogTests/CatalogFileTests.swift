import Testing

@testable import Catalog

struct CatalogFileTests {
  private static let full = """
    name: banchan
    currency: KRW
    base: https://store.example/develop/baminchan/
    sections:
      - {key: main, title: 메인반찬, subtitle: 한그릇 뚝딱, url: main}
      - {key: soup, url: soup}
    detail: {url: "detail/{id}"}
    format: banchan
    headers: {token: "${STORE_TOKEN}", X-Client: larder}
    paging: {parameter: page, limit: 5}
    """

  @Test func `a complete file is read`() throws {
    let file = try CatalogFile(parsing: bytes(Self.full), file: "shop.yaml")

    #expect(file.name == "banchan")
    #expect(file.currency == "KRW")
    #expect(file.base == "https://store.example/develop/baminchan/")
    #expect(
      file.sections
        == [
          SectionSource(key: "main", title: "메인반찬", subtitle: "한그릇 뚝딱", url: "main"),
          SectionSource(key: "soup", url: "soup"),
        ]
    )
    #expect(file.detail == DetailRule(urlTemplate: "detail/{id}"))
    #expect(file.headers.map(\.name) == ["token", "X-Client"])
    #expect(file.paging == PagingRule(step: .page, parameter: "page", first: 1, limit: 5))
  }

  @Test func `a catalog file may be JSON`() throws {
    let json = #"{"name": "a", "currency": "USD", "sections": [{"key": "k", "url": "u"}]}"#

    #expect(try CatalogFile(parsing: bytes(json), file: "shop.json").name == "a")
  }

  @Test func `words that YAML would read as other types stay text`() throws {
    let file = try CatalogFile(
      parsing: [0xEF, 0xBB, 0xBF]
        + bytes("name: no\ncurrency: USD\nsections: [{key: 0123, title: 1e3, url: 5}]"),
      file: "shop.yaml"
    )

    #expect(file.name == "no")
    #expect(file.sections == [SectionSource(key: "0123", title: "1e3", url: "5")])
  }

  @Test func `one response may hold all sections`() throws {
    let file = try CatalogFile(
      parsing: bytes(
        """
        name: a
        currency: USD
        sections: {url: all, each: "$[*]", key: $.id, title: $.name}
        """
      ),
      file: "shop.yaml"
    )

    let parts = CombinedSections(
      each: try JSONPath(parsing: "$[*]"),
      key: try JSONPath(parsing: "$.id"),
      title: try JSONPath(parsing: "$.name")
    )
    #expect(file.sections == [SectionSource(key: "", url: "all", parts: parts)])
  }

  @Test(
    arguments: [
      ("sektions: []", 1, 1, "sektions", "sections"),
      ("sections: [{key: a, ulr: b}]", 1, 21, "sections[0].ulr", "url"),
      ("name: a\nitem: {id: $.a, titel: $.b}", 2, 17, "item.titel", "title"),
      ("name: a\ndetail: {url: 'd', notess: {}}", 2, 20, "detail.notess", "notes"),
      ("formt: 1", 1, 1, "formt", "format"),
    ])
  func `an unknown key suggests the nearest known one`(
    text: String,
    line: Int,
    column: Int,
    keyPath: String,
    nearest: String
  ) {
    let error = parsingError(Self.completed(text))

    #expect(error?.keyPath == keyPath)
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(error?.description.contains("the nearest known key is \"\(nearest)\"") == true)
  }

  /// The given lines, followed by those that every catalog needs.
  private static func completed(_ lines: String) -> String {
    var text = lines
    if !lines.contains("name:") { text += "\nname: a" }
    if !lines.contains("currency:") { text += "\ncurrency: KRW" }
    if !lines.contains("sections:") { text += "\nsections: [{key: a, url: b}]" }
    if lines.contains("titel") { text += "\nitems: $" }
    return text
  }

  @Test(
    arguments: [
      ("name: ''", "name", "expected text"), ("name: [a]", "name", "expected text"),
      ("name: ../x", "name", "a file name"),
      ("name: ..", "name", "a file name"), ("name: \"a\\0b\"", "name", "a file name"),
      ("name: a/b", "name", "a file name"),
      ("currency: krw", "currency", "unknown ISO 4217 currency code"),
      ("currency: EURO", "currency", "unknown ISO 4217 currency code"),
      ("base: ftp://x/", "base", "http, https or file"),
      ("base: x.example/", "base", "an http, https or file URL"),
      ("base: 'https:///x'", "base", "an http, https or file URL"),
      ("base: 'https://a b/'", "base", "a URL"),
      ("sections: []", "sections", "at least one section"),
      ("sections: x", "sections", "a list of sections"),
      ("sections: [{key: a}]", "sections[0]", "\"url\" is missing"),
      ("sections: [a]", "sections[0]", "a mapping"),
      ("sections: [{key: a, url: b}, {key: a, url: c}]", "sections[1].key", "a second section"),
      ("sections: [{key: a/b, url: b}]", "sections[0].key", "a file name"),
      ("sections: {url: a, each: $}", "sections", "\"key\" is missing"),
      (
        "sections: {url: a, each: x, key: $.k}", "sections.each",
        "\"$\", with which every path begins"
      ),
      ("detail: {url: 'd/{hash'}", "detail.url", "{id}"),
      ("detail: {}", "detail", "\"url\" is missing"),
      ("format: dummyjson\ndetail: {url: 'd/{id}'}", "detail", "the format has no details"),
      ("paging: {}", "paging", "page, offset, cursor, next, link"),
      ("paging: {parameter: 'a b'}", "paging.parameter", "is not a query parameter"),
      ("paging: {parameter: p, limit: none}", "paging.limit", "a whole number from 1 to 1000000"),
      ("paging: {parameter: p, next: $.n}", "paging", "page, offset, cursor, next, link"),
      ("paging: {cursor: after}", "paging", "\"from\" is missing"),
      ("items: []\nitem: {id: $.a, title: $.b}", "items", "a path"),
      ("items: $.a", nil, "\"item\" is missing"),
      ("item: {id: $.a, title: $.b}", nil, "\"items\" is missing"),
      ("items: $\nitem: {id: $.a}", "item", "\"title\" is missing"),
      ("format: banchan\nitem: {id: null}", "item.id", "\"id\" is missing"),
      ("format: banchan\nitem: {id: sku}", "item.id", "\"$\", with which every path begins"),
      (
        "item: {salePrice: {path: $.a, scale: 12}}\nformat: banchan", "item.salePrice.scale",
        "a whole number from 0 to 9"
      ),
    ] as [(String, String?, String)]
  )
  func `a wrong value is reported with its key and the cause`(
    lines: String,
    keyPath: String?,
    words: String
  ) {
    let error = parsingError(Self.completed(lines))

    #expect(error?.keyPath == keyPath)
    #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    #expect(error?.file == "shop.yaml")
    #expect(error?.line != nil)
    #expect(error?.isConfiguration == true)
  }

  @Test(arguments: ["name", "currency", "sections"])
  func `a missing key is named`(key: String) {
    let lines = ["name: a", "currency: KRW", "sections: [{key: a, url: b}]"]
    let text = lines.filter { !$0.hasPrefix(key) }.joined(separator: "\n")

    #expect(parsingError(text)?.reason == "\"\(key)\" is missing")
  }

  @Test(
    arguments: [
      ("name: a\nname: b", 1, "more than once"), ("a: [", 2, "did not find"), ("", nil, "empty"),
      ("--- a\n--- b", 2, "another document"), ("a: \u{1}", 1, "control characters"),
      (String(repeating: "[", count: 100_000), 1, "nesting"),
      (String(repeating: "- ", count: 100_000), 1, "nesting"), ("? [a]\n: b", 1, "found a list"),
      ("a: *b", 1, "alias"), ("- a", 1, "expected a mapping"),
    ] as [(String, Int?, String)]
  )
  func `a file that is not a YAML mapping is refused with its line`(
    text: String,
    line: Int?,
    reason: String
  ) {
    let error = parsingError(text)

    #expect(error?.line == line)
    #expect(error?.reason.lowercased().contains(reason) == true)
    #expect(error?.code == .catalogFile)
  }

  @Test(
    arguments: [
      ([0x61, 0x3A, 0xFF], 1, 3),
      // Korean text saved as CP949, after a line that is valid UTF-8.
      (Array("# 김밥\n가: ".utf8) + [0xB1, 0xE8], 2, 4),
      // The last character is truncated.
      ([0x61, 0xEA, 0xB9], 1, 2),
    ] as [([UInt8], Int, Int)]
  )
  func `bytes that are not UTF-8 are refused with line and column`(
    bytes: [UInt8],
    line: Int,
    column: Int
  ) {
    let error = #expect(throws: CatalogError.self) {
      try CatalogFile(parsing: bytes, file: "shop.yaml")
    }
    #expect(error?.reason == "not UTF-8")
    #expect(error?.line == line)
    #expect(error?.column == column)
  }

  @Test func `a file of more than 1 MiB is refused without parsing`() {
    let text = "name: " + String(repeating: "a", count: 1 << 20)

    #expect(parsingError(text)?.reason.contains("1 MiB") == true)
  }

  @Test func `YAML aliases work, but alias bombs are refused`() throws {
    var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let aliases = repeatElement("*a\(level - 1)", count: 9).joined(separator: ", ")
      bomb += "a\(level): &a\(level) [\(aliases)]\n"
    }
    #expect(parsingError(bomb)?.reason.contains("aliases") == true)
    #expect(parsingError(bomb)?.line == 3)

    let file = try CatalogFile(
      parsing: bytes("name: &n a\ncurrency: KRW\nsections: [{key: *n, url: *n}]"),
      file: "shop.yaml"
    )
    #expect(file.sections == [SectionSource(key: "a", url: "a")])
  }

  @Test func `a mapping can be written in full`() throws {
    let listing = try decode(
      #"{"menu": [{"sku": 7, "cost": 1250, "digits": 3, "label": "x", "pics": ["a", "b"]}]}"#,
      """
      items: $.menu
      item:
        id: $.sku
        title: [$.name, $.label]
        salePrice: {path: $.cost, scale: $.digits}
        images: {thumbnail: "$.pics[0]", gallery: "$.pics[1:]"}
      """,
      currency: "KWD"
    )

    let item = try #require(listing.sections.first?.items.first)
    #expect(item.id == "7")
    #expect(item.title == "x")
    #expect(item.salePrice?.minorUnits == 1250)
    #expect(item.images.map(\.url) == ["a", "b"])
  }

  @Test(
    arguments: [
      ("sections", "sektions", "sections"), ("swap", "itmes", "items"), ("case", "NAME", "name"),
      ("first of equals", "", "name"),
    ])
  func `the nearest word takes the fewest edits`(why: String, word: String, expected: String) {
    #expect(nearest(to: word, in: ["name", "items", "item", "sections"]) == expected)
  }

  @Test func `without known words there is no suggestion`() {
    #expect(nearest(to: "a", in: []) == nil)
  }
}
