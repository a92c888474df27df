import Foundation
import Testing

@testable import Catalog

/// JSON-LD in HTML pages, and the pages that are refused.
struct LinkedDataPageTests {
  private func items(_ body: String) throws -> [StoreItem] {
    try decode(body, "format: json-ld", currency: "EUR").sections[0].items
  }

  private func reason(_ body: String) -> String {
    decodingError(body, "format: json-ld")?.reason ?? ""
  }

  private static let cup = """
    {"@context": "https://schema.org", "@type": "Product", "sku": "C1", "name": "Cup",
     "offers": {"@type": "Offer", "price": "7.50", "priceCurrency": "EUR"}}
    """

  private static func page(_ blocks: String...) -> String {
    let scripts = blocks.map { "<script type=\"application/ld+json\">\($0)</script>" }
    return
      "<!doctype html><html><head>\(scripts.joined(separator: "\n"))</head><body></body></html>"
  }

  @Test(arguments: [
    #"<script type="application/ld+json">HERE</script>"#,
    "<SCRIPT id=x TYPE='application/LD+JSON' async>HERE</SCRIPT >",
    "<script type=application/ld+json nonce=1>HERE</script>",
    #"<script type=" application/ld+json; charset=utf-8 ">HERE</script foo>"#,
    #"<script type="application/ld+json"><!-- HERE --></script>"#,
    "<script type=\"application/ld+json\">//<![CDATA[\nHERE\n//]]></script>",
    "<script type=\"application/ld+json\">/* <![CDATA[ */ HERE; /* ]]> */</script>",
    "<body><p>Unclosed <b>text & <div><script type='application/ld+json'>HERE</script>",
    "<!-- <script type='application/ld+json'>{no}</script> --><script type='application/ld+json'>HERE</script>",
    "<script>if (a < b && '</p>') {}</script><script type='application/ld+json'>HERE</script>",
    "<script type='application/ld+json'>HERE",
  ])
  func `a page's JSON-LD block is found however it is written`(_ page: String) throws {
    let items = try items("\u{FEFF}\n" + page.replacing("HERE", with: Self.cup))

    #expect(items.map(\.id) == ["C1"])
  }

  @Test func `markup in a text of a block does not end the block`() throws {
    let items = try items(
      Self.page(
        #"{"@type": "Product", "sku": "A", "name": "Cup </b> </s><!-- b", "description": "<p>a</p>"}"#
      )
    )

    #expect(items.map(\.title) == ["Cup </b> </s><!-- b"])
    #expect(items.map(\.description) == ["a"])
  }

  @Test func `all blocks of a page are read`() throws {
    let items = try items(
      Self.page(
        #"{"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "name": "Home"}]}"#,
        "",
        Self.cup,
        #"[{"@type": "Product", "sku": "C2", "name": "Jug"}]"#
      )
    )

    #expect(items.map(\.id) == ["C1", "C2"])
  }

  @Test func `a page in another encoding is read by its declared charset`() throws {
    // The bytes 0x80, 0x93 and 0x94 are "€", "“" and "”" in Windows-1252, which browsers read for ISO-8859-1.
    let text =
      #"<meta charset="iso-8859-1"><script type="application/ld+json">"#
      + #"{"@type": "Product", "sku": "A", "name": "\#u{93}Caf\#u{E9}\#u{94}", "offers": {"price": "18,50 \#u{80}"}}</script>"#
    let body = text.unicodeScalars.map { UInt8($0.value) }

    let file = try catalog("format: json-ld", currency: "EUR")
    let listing = try decodeSource(body, at: 0, using: file)

    #expect(listing.sections[0].items.map(\.title) == ["“Café”"])
    #expect(listing.sections[0].items.map(\.salePrice?.minorUnits) == [1850])
  }

  /// Pages mean the larger encodings of Windows, and a byte that is none of theirs costs one character.
  @Test(
    arguments: [
      ("euc-kr", [0xBC, 0x84], "펲"), ("KS_C_5601-1987", [0xC7, 0xD1], "한"),
      ("shift_jis", [0x87, 0x40], "①"), ("x-sjis", [0x87, 0x40], "①"),
      ("gb2312", [0xE9, 0x46], "镕"),
      ("euc-kr", [0xFF], "\u{FFFD}"), ("no-such-encoding", [0x80], "€"),
    ] as [(String, [UInt8], String)]
  )
  func `a page is read to its end in the encoding that its name means`(
    _ name: String,
    _ bytes: [UInt8],
    _ character: String
  ) throws {
    let start =
      "<html><head><meta http-equiv=Content-Type content='text/html; charset=\(name)'></head>"
    let items = (1...300).map { id in
      let text =
        "<p itemscope itemtype=Product><i itemprop=sku>\(id)</i><b itemprop=name>n HERE</b></p>"
      return text.replacing("HERE", with: id == 290 ? "HERE" : "x")
    }
    let parts = (start + items.joined()).split(separator: "HERE").map { Array($0.utf8) }
    let file = try catalog("format: json-ld", currency: "EUR")

    let read = try decodeSource(parts[0] + bytes + parts[1], at: 0, using: file).sections[0].items

    #expect(read.count == 300 && read[289].title == "n \(character)")
  }

  @Test func `what is behind the end of a page is read`() throws {
    let page = Self.page(Self.cup) + "</HTML><!-- </html> -->"
    let more =
      #"<script type=application/ld+json>{"@type": "Product", "sku": "B", "name": "</html>"}</script>"#

    #expect(
      try items(page + more + "</html\n>" + more.replacing("B", with: "C")).map(\.id) == [
        "C1", "B", "C",
      ]
    )
  }

  @Test func `a block that is not JSON is skipped, unless it mentions products`() throws {
    let broken = #"{"@type": "Product", "sku": "C2", "name": "Jug",}"#

    let quiet = try decode(Self.page(#"{"@type": "Thing",}"#, Self.cup), "format: json-ld")
    let named = try decode(Self.page(Self.cup, broken), "format: json-ld")

    #expect(quiet.skipped.filter { $0.lost == .item } == [])
    #expect(named.sections[0].items.map(\.id) == ["C1"])
    #expect(
      named.skipped.last?.reason.hasPrefix(
        "the page's JSON-LD block 2 is not JSON: line 1, column 48"
      )
        == true
    )
  }

  // MARK: - What is refused

  @Test(
    arguments: [
      ("<!doctype html><title>Sign in</title>", "found a page without <script type="),
      (
        page(#"{"@type": "WebSite"}"#),
        "a page with 1 block of JSON-LD and none in it (only WebSite)"
      ),
      (page("{no}"), "block 1 is not JSON: line 1, column 2"),
      (#"{"@type": "WebSite"}"#, "none in JSON-LD (only WebSite)"),
      (#"{"items": []}"#, "found JSON without @type"),
      (
        #"{"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "url": "https://s.example/a"}]}"#,
        "names only the pages of the items, such as https://s.example/a"
      ),
    ])
  func `an error for a body without products lists the types found`(body: String, words: String) {
    #expect(reason(body).contains(words), "\(reason(body))")
    #expect(decodingError(body, "format: json-ld")?.remedy?.isEmpty == false)
  }

  @Test(arguments: [#"{"@type": "ItemList", "itemListElement": []}"#])
  func `an empty list is an empty section`(_ body: String) throws {
    #expect(try items(body) == [])
    #expect(try items(Self.page(body)) == [])
  }

  @Test func `a truncated page gives its complete products and nothing else`() throws {
    let page = Self.page(
      Self.cup,
      #"{"@type": "Product", "sku": "C2", "name": "Caf&eacute; 컵", "image": "/c2.jpg"}"#
    )
    let whole = try items(page)
    let file = try catalog("format: json-ld", currency: "EUR")

    for count in 0..<page.utf8.count {
      let body = Array(page.utf8.prefix(count))
      let listing = try? decodeSource(body, at: 0, using: file)
      let found = listing?.sections[0].items ?? []
      #expect(found == Array(whole.prefix(found.count)), "\(count)")
    }

    #expect(whole.count == 2)
  }

  @Test(arguments: [
    String(repeating: "<script", count: 300_000),
    String(repeating: "<script type=application/ld+json>", count: 50_000),
    "<script type='application/ld+json'>" + String(repeating: "x", count: 2_000_000),
    "<script type='application/ld+json'>" + String(repeating: "</p>", count: 300_000),
    String(repeating: "<!--", count: 300_000),
    "<p title='" + String(repeating: "y", count: 2_000_000),
    page(String(repeating: #"{"a":"#, count: 100_000)),
    page(String(repeating: "[", count: 100_000)), String(repeating: "[", count: 100_000),
    String(repeating: #"{"@graph": ["#, count: 100_000),
    "<a " + (0..<100_000).map { "b\($0)" }.joined(separator: " ") + ">",
    String(repeating: "<div>", count: 100_000),
    String(repeating: "<b>", count: 900) + String(repeating: "</i>", count: 100_000),
  ])
  func `a hostile page is refused within the time limit`(_ page: String) {
    let clock = ContinuousClock()

    let taken = clock.measure { #expect(decodingError(page, "format: json-ld") != nil) }

    #expect(taken < .seconds(10))
  }

  @Test func `a page that takes too long is refused`() {
    let page = Array(Self.page(Self.cup).utf8)

    #expect(throws: CatalogError.self) {
      try MarkupReader.read(page[...], as: .html, "page", seconds: 0) { _, _ in }
    }
  }

  @Test(arguments: [
    #"{"@type": "Product", "@id": "/p", "name": "A", "offers": {"@id": "/o"}}, {"@id": "/o", "offers": {"@id": "/o"}}"#,
    #"{"@type": "ProductGroup", "@id": "/p", "name": "A", "hasVariant": {"@id": "/p"}}"#,
    #"{"@type": "Product", "@id": "/p", "name": "A", "isVariantOf": {"@id": "/q"}}, {"@type": "ProductGroup", "@id": "/q", "name": "B", "hasVariant": {"@id": "/p"}, "isVariantOf": {"@id": "/p"}}"#,
    #"{"@type": "Product", "@id": "/p", "name": "A", "brand": {"@id": "/p"}, "image": {"@id": "/p"}}"#,
    #"{"@type": "Product", "@id": "/p", "name": "A", "isVariantOf": {"@id": "/q", "@type": "ProductGroup", "hasVariant": {"@id": "/p"}}}, {"@id": "/q", "isVariantOf": {"@type": "Product", "@id": "/p", "hasVariant": {"@id": "/q"}}}"#,
    #"{"@type": "Product", "@id": "/p", "name": "A", "brand": {"@id": "/b"}}, {"@id": "/b", "name": {"@id": "/b", "@value": {}}}"#,
  ])
  func `circular references end`(_ nodes: String) throws {
    let listing = try decode(#"{"@graph": [\#(nodes)]}"#, "format: json-ld")

    #expect(listing.sections[0].items.first?.id == "/p")
  }

  @Test func `references that expand a small page too far are refused`() throws {
    let many = Array(repeating: #"{"@id": "/o"}"#, count: 2000).joined(separator: ",")
    let chain = (0..<20_000).map { #"{"@id": "/o\#($0)", "offers": {"@id": "/o\#($0 + 1)"}}"# }
    let long = String(repeating: "x", count: 100_000)
    let variants = (0..<2000).map { #"{"sku": "\#($0)"}"# }.joined(separator: ",")
    let product = #"{"@type": "Product", "sku": "A", "name": "A", "offers": {"@id": "/o0"}}"#

    let group =
      #"{"@type": "ProductGroup", "name": "A", "description": "\#(long)", "hasVariant": [\#(variants)]}"#

    #expect(reason(group).contains("references make more than"))
    for rest in [#"{"@id": "/o0", "offers": [\#(many)]}"#, chain.joined(separator: ",")] {
      #expect(try items("[\(product), \(rest)]").map(\.id) == ["A"])
    }
  }

  @Test func `a page that needs too many lookups is refused with that reason`() throws {
    let members = (0..<5000).map { #""m\#($0)": 1"# }.joined(separator: ",")
    let products = (0..<200).map {
      #"{"@type": "Product", "@id": "/p\#($0)", "name": "A", "brand": {"@id": "/b"}}"#
    }

    let body = #"[{"@id": "/b", \#(members)}, \#(products.joined(separator: ","))]"#

    #expect(decodingError(body, "format: json-ld")?.code == .pathWork)
  }

  @Test(arguments: [
    cup, page(cup), #"{"@context": "https://schema.org", "@graph": [\#(cup)]}"#,
  ])
  func `a file proposed for a JSON-LD body names the format and reads it`(_ body: String)
    throws
  {
    let source = ProposedSource(url: "https://shop.example/cups")

    let text = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: source)],
      name: "shop.yaml"
    ).text

    #expect(text.contains("\nformat: json-ld\n"))
    #expect(text.contains("\ncurrency: EUR   # 1.0: the items name it\n"))
    let file = try CatalogFile(parsing: bytes(text), file: "shop.yaml")
    #expect(
      try decodeSource(bytes(body), at: 0, using: file).sections[0].items.map(\.id) == ["C1"]
    )
  }

  @Test func `a page without products gets no proposed file`() {
    let source = ProposedSource(url: "https://shop.example/cups")
    func reason(_ body: String) -> String? {
      do throws(CatalogError) {
        let page = ProposedPage(body: bytes(body), source: source)
        return try ProposedFile(of: [page], name: "shop.yaml").text
      } catch {
        return "\(error.reason); \(error.remedy ?? "")"
      }
    }

    let page = reason("<!doctype html><title>Sign in</title>")
    #expect(page?.hasPrefix("an HTML page, not JSON: Sign in; it has no products") == true)
    #expect(reason(Self.page(#"{"@type": "WebSite"}"#))?.contains("only WebSite") == true)
  }
}
