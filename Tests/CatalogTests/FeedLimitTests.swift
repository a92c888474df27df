import Testing

@testable import Catalog

/// Limits on the amount of data that is read from a response, and on the time that reading takes.
struct FeedLimitTests {
  private func section(
    _ body: String,
    _ lines: String = "",
    within limits: DecodingLimits
  ) throws(CatalogError) -> DecodedListing {
    try decodeSource(
      bytes(body),
      at: 0,
      using: catalog(lines, currency: "EUR"),
      within: limits
    )
  }

  private static let bare = "items: $\nitem: {id: $.id, title: $.title}"

  private static func list(_ elements: [String]) -> String {
    "[\(elements.joined(separator: ","))]"
  }

  @Test func `a section keeps a thousand skipped rows and only counts the others by reason`()
    throws
  {
    var elements = Array(repeating: "7", count: 1500)
    elements += Array(repeating: "{}", count: 300)
    elements.append(#"{"id": "A", "title": "a", "salePrice": {}}"#)
    let body = Self.list(elements)

    let listing = try decode(
      body,
      "items: $\nitem: {id: $.id, title: $.title, salePrice: $.salePrice}"
    )

    #expect(listing.skipped.map(\.index) == Array(0..<1000))
    let omitted = try #require(listing.omitted["main"])
    #expect(omitted.items == 800 && omitted.count == 801 && listing.lost == 1800)
    #expect(omitted.reasons["expected an object, found a number"] == 500)
    #expect(omitted.reasons["the item has no id"] == 300)
    #expect(listing.sections[0].items.map(\.id) == ["A"])
  }

  @Test func `at most fifty different reasons are counted separately`() {
    var tally = SkipTally()

    for number in 0..<1000 { tally.add(.field, "\"\(number)\" is not a whole number") }

    #expect(tally.reasons.count == 51 && tally.reasons["other reasons"] == 950)
    #expect(tally.count == 1000 && tally.items == 0)
  }

  @Test func `a response of more than ten thousand sections is refused`() throws {
    func sections(_ count: Int) throws -> Int {
      let file = try CatalogFile(
        parsing: bytes(
          "name: shop\ncurrency: KRW\nsections: {url: all, each: '$.s[*]', key: $.k, title: $.k}"
        ),
        file: "shop.yaml"
      )
      let list = (0..<count).map { #"{"k": "s\#($0)", "body": []}"# }
      return try decodeSource(
        bytes(#"{"s": \#(Self.list(list))}"#),
        at: 0,
        using: file
      ).sections.count
    }

    #expect(try sections(10_000) == 10_000)
    let error = #expect(throws: CatalogError.self) { try sections(10_001) }
    #expect(error?.reason.contains("10001 sections") == true)
  }

  @Test func `an item keeps at most a thousand badges and pictures of a role, and reports it`()
    throws
  {
    let many = Self.repeated("\"#\",", 1500).dropLast()
    let text = Self.repeated("#;", 1500).dropLast()

    let listing = try decode(
      #"[{"id": "A", "title": "a", "badges": [\#(many)], "all": [\#(many)], "text": "\#(text)"}]"#,
      """
      items: $
      item: {id: $.id, title: $.title, badges: $.badges, images: {gallery: $.all, top: {path: $.text, split: ";"}}}
      """
    )

    let item = listing.sections[0].items[0]
    #expect(item.badges.count == 1000)
    #expect(item.images.count { $0.role == .gallery } == 1000)
    #expect(item.images.count { $0.role == .top } == 1000)
    #expect(listing.skipped.count == 3)
    #expect(
      listing.skipped.allSatisfy { $0.reason == "only the first 1000 of 1500 values are read" }
    )
  }

  @Test func `an item whose id is longer than 2,048 bytes is skipped`() throws {
    let ids = [2048, 2049].map { String(repeating: "a", count: $0) }
    let items = ids.map { #"{"id": "\#($0)", "title": "a"}"# }

    let listing = try decode(Self.list(items), "items: $\nitem: {id: $.id, title: $.title}")

    #expect(listing.sections[0].items.map(\.id) == [ids[0]])
    #expect(listing.skipped.map(\.reason) == ["the id has 2049 bytes; at most 2048 are read"])
  }

  @Test func `a next page's name has 16 KiB at most`() throws {
    func next(_ count: Int) throws -> String? {
      let name = String(repeating: "n", count: count)
      let lines = "items: $.items\nitem: {id: $.id, title: $.title}\npaging: {next: $.next}"
      return try decode(#"{"items": [], "next": "\#(name)"}"#, lines).nextPage
    }

    #expect(try next(16_384)?.count == 16_384)
    #expect(throws: CatalogError.self) { try next(16_385) }
  }

  // MARK: - XML, tables and pages

  private static func rss(_ inner: String) -> String {
    "<rss><channel>\(inner)</channel></rss>"
  }

  /// Repeats a text, with `#` replaced by the number of each copy.
  private static func repeated(_ unit: String, _ count: Int) -> String {
    var text = ""
    for number in 0..<count { text += unit.replacing("#", with: "\(number)") }
    return text
  }

  private static let refusedFeeds: [(String, String)] = [
    (rss("<item \(repeated("a#='1' ", 9000))/>"), "more than 25000 words"),
    (rss("<item \(repeated("xmlns:a#='u' ", 9000))/>"), "more than 25000 words"),
    (rss("<item>\(repeated("<e/>", 10_001))</item>"), "10000 elements"),
    (
      rss("<item>\(repeated("<e>", 100))\(repeated("</e>", 100))</item>"),
      "64 elements deep"
    ),
    ("<?xml version='1.0' encoding='none'?>\(rss(""))", "encoding"),
    ("id\(repeated("\ta", 1000))", "1000 columns"),
  ]

  @Test(arguments: refusedFeeds)
  func `exceeding a limit of a feed in XML or columns is an error that names the limit`(
    body: String,
    words: String
  ) {
    let error = decodingError(body, "format: google-merchant")

    #expect(error?.reason.contains(words) == true, "\(error.map(\.description) ?? "no error")")
  }

  @Test func `a DOCTYPE is found in UTF-16, and not mistaken in a comment, text or attribute`()
    throws
  {
    func reason(_ body: [UInt8]) throws -> String? {
      let file = try catalog("format: google-merchant", sections: "[{key: main, url: main}]")
      do throws(CatalogError) {
        _ = try decodeSource(body, at: 0, using: file)
        return nil
      } catch {
        return error.reason
      }
    }
    let type = "<!DOCTYPE r [<!ENTITY a 'b'>]><rss/>"
    var wide: [UInt8] = [0xFF, 0xFE]
    for byte in type.utf8 { wide += [byte, 0] }
    let harmless = "<rss a='<!DOCTYPE'><!-- <!DOCTYPE --><![CDATA[<!DOCTYPE]]></rss>"

    #expect(try reason(wide)?.contains("declares an entity in its document type") == true)
    #expect(try reason(bytes("\n\n" + type))?.hasPrefix("line 3 declares") == true)
    #expect(try reason(bytes(harmless.replacing("'<!", with: "'!"))) == nil)
  }

  @Test func `an item with thousands of elements keeps each under its name`() throws {
    let extras = Self.repeated("<g:e#>#</g:e#>", 4000)
    let body =
      "<rss xmlns:g='http://base.google.com/ns/1.0'><channel><item><title>page</title>\(extras)"
      + "<g:id>A</g:id><g:title>own</g:title><title>again</title></item></channel></rss>"

    let feed = try Format(named: "google-merchant").notation()
    let json = try feed.json(of: bytes(body), "feed")

    let item = try #require(JSONDocument(parsing: json).root["items"]?[0])
    #expect(item.members.count == 4002)
    #expect(item["title"]?.text == "own" && item["e3999"]?.text == "3999")
  }

  @Test(arguments: [
    "<p \(repeated("a# ", 25_001))>", "<p \(repeated("a#=\"x\" ", 9000))>",
    "<!-- <p \(repeated("c ", 25_001))-->",
  ])
  func `a page with a tag of too many words is refused`(_ page: String) {
    let error = decodingError("<!doctype html>" + page, "format: json-ld")

    #expect(error?.reason.contains("more than 25000 words") == true)
  }

  // MARK: - The end of the run

  private static let longBodies: [(String, String)] = [
    (list(Array(repeating: "0", count: 5000)), bare),
    (rss(repeated("<item/>", 5000)), "format: google-merchant"),
    ("id\ttitle\n\(repeated("1\ta\n", 5000))", "format: google-merchant"),
    ("<!doctype html>\(repeated("<p>a</p>", 5000))", "format: json-ld"),
    ("[1]", "transform: '[range(1; 1000000000)]'"),
  ]

  @Test(arguments: longBodies)
  func `reading a body stops when the run ends`(body: String, lines: String) {
    let error = #expect(throws: CatalogError.self) {
      try section(body, lines, within: DecodingLimits { true })
    }

    #expect(error?.code == .stopped)
  }

  @Test func `the names of a table's columns are not repeated without limit`() throws {
    let name = Self.repeated("n", 40_000)

    let lines = "read: csv\nitem: {id: $.id, title: $.title}"
    let error = decodingError("id;title;\(name)\n" + Self.repeated("A;B;C\n", 2000), lines)

    #expect(error?.reason.contains("more than 32 times its size") == true)
    let short = "id;title;\(name)\n" + Self.repeated("A;B;C\n", 10)
    #expect(try decode(short, lines).elementCount == 10)
  }

  @Test func `a transform's output is limited to little more than its input`() {
    let error = decodingError("[1]", "transform: '{items: [(\"abcdefgh\" * 600000)]}'")

    #expect(error?.reason.contains("yields more than 4 MiB") == true, "\(error?.reason ?? "")")
  }
}
