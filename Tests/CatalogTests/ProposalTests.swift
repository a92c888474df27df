import Testing

@testable import Catalog

/// The catalog file that `larder catalog init` proposes for one response.
struct ProposalTests {
  /// A response, and the lines and ids of the catalog file that is expected for it.
  struct Shape: CustomTestStringConvertible, Sendable {
    let name: String
    let body: String
    /// Lines that the catalog file must contain, without their comments.
    let lines: [String]
    /// The ids that the proposed file must read.
    let ids: [String]

    var testDescription: String { name }
  }

  @Test func `tables with other columns have mappings of their own`() throws {
    func page(_ name: String, _ columns: String) -> ProposedPage {
      let rows = (1...3).map { "\(name)-\($0),A \(name) \($0),€ \($0).50\n" }
      return ProposedPage(
        body: bytes("\(columns)\n\(rows.joined())"),
        source: ProposedSource(url: "https://s.example/\(name).csv")
      )
    }
    func file(_ columns: String) throws -> ProposedFile {
      try ProposedFile(of: [page("cup", "id,name,price"), page("pan", columns)], name: "x.yaml")
    }

    let other = try file("sku,label,cost")
    #expect(!other.unsure.contains("id") && !other.unsure.contains("title"), "\(other.text)")
    #expect(
      other.listings.flatMap(\.sections).map { $0.items.map(\.id) } == [
        ["cup-1", "cup-2", "cup-3"], ["pan-1", "pan-2", "pan-3"],
      ]
    )
    #expect(try file("id,name,price").parts.count == 1)
  }

  @Test func `relative pictures in a local file need the address of their folder`() throws {
    func unsure(_ source: ProposedSource, _ picture: String) throws -> [String] {
      let items = (1...3).map {
        #"{"id": \#($0), "name": "Cup \#($0)", "price": "€ \#($0).50", "image": "\#(picture)\#($0).jpg"}"#
      }
      let page = ProposedPage(
        body: bytes("[\(items.joined(separator: ","))]"),
        source: source
      )
      let file = try ProposedFile(of: [page], name: "x.yaml")
      #expect(file.text.contains("\n# base: https://…/ ") == file.unsure.contains("base"))
      return file.unsure
    }

    #expect(try unsure(ProposedSource(file: "cups.json"), "img/") == ["base"])
    #expect(try unsure(ProposedSource(file: "cups.json"), "https://c.example/").isEmpty)
    #expect(try unsure(ProposedSource(url: "https://s.example/cups.json"), "img/").isEmpty)
  }

  private static func item(_ number: Int, _ rest: String) -> String {
    #"{"id": \#(number), "name": "Cup \#(number)", \#(rest)}"#
  }

  private static func list(_ rest: String) -> String {
    "[\((1...3).map { item($0, rest) }.joined(separator: ", "))]"
  }

  static let shapes: [Shape] = [
    Shape(
      name: "a bare array with prices as numbers",
      body: list(#""price": 9.5, "image": "https://c.example/a.jpg""#),
      lines: ["items: $", "  id: $.id", "  title: $.name", "  salePrice: $.price"],
      ids: ["1", "2", "3"]
    ),
    Shape(
      name: "products in an object, prices as text with a sign",
      body:
        "{\"products\": \(list(#""price": "7,000원", "thumbnail": "/a.jpg", "images": ["/a.jpg"]"#))}",
      lines: [
        "items: $.products", "currency: KRW", "    thumbnail: $.thumbnail",
        "    gallery: $.images",
      ],
      ids: ["1", "2", "3"]
    ),
    Shape(
      name: "items deep in data, price in an object that names its currency",
      body: """
        {"data": {"items": \(list(#""price": {"amount": "9.50", "currency": "EUR"}, "media": [{"url": "/a.jpg"}]"#))}}
        """,
      lines: [
        "items: $.data.items", "currency: EUR", "  salePrice: $.price.amount",
        "    thumbnail: \"$.media[0].url\"", "    gallery: \"$.media[*].url\"",
      ],
      ids: ["1", "2", "3"]
    ),
    Shape(
      name: "variants inside products",
      body: """
        {"products": \(list(#"""
          "body_html": "x", "variants": [{"id": 9, "title": "Default", "price": "8.00", "compare_at_price": "9.00"}],
          "images": [{"src": "https://c.example/a.jpg"}]
          """#))}
        """,
      lines: [
        "items: $.products", "  title: $.name", "  salePrice: \"$.variants[0].price\"",
        "  normalPrice: \"$.variants[0].compare_at_price\"", "  description: $.body_html",
      ],
      ids: ["1", "2", "3"]
    ),
    Shape(
      name: "minor units by the name of the field",
      body: list(#""price_cents": 1999, "photo": "https://c.example/a.png""#),
      lines: ["  salePrice: {path: $.price_cents, minorUnits: true}"],
      ids: ["1", "2", "3"]
    ),
    Shape(
      name: "minor units that the item counts itself",
      body: list(
        #""prices": {"price": "950", "regular_price": "1000", "currency_code": "EUR", "currency_minor_unit": 2}"#
      ),
      lines: [
        "  salePrice: {path: $.prices.price, scale: $.prices.currency_minor_unit}",
        "  normalPrice: {path: $.prices.regular_price, scale: $.prices.currency_minor_unit}",
      ],
      ids: ["1", "2", "3"]
    ),
    Shape(
      name: "sections in an array",
      body: """
        [{"code": "cups", "name": "Cups", "items": \(list(#""price": 1, "image": "/a.jpg""#))},
         {"code": "mugs", "name": "Mugs", "items": \(list(#""price": 1, "image": "/a.jpg""#))}]
        """,
      lines: ["  each: \"$[*]\"", "  key: $.code", "  title: $.name", "items: $.items"],
      ids: ["1", "2", "3", "1", "2", "3"]
    ),
    Shape(
      name: "sections by name",
      body:
        "{\"cups\": \(list(#""price": 1"#)), \"mugs\": \(list(#""price": 2"#).replacing("Cup", with: "Mug"))}",
      lines: ["transform: |", "items: $.items"],
      ids: ["Cup 1", "Cup 2", "Cup 3", "Mug 1", "Mug 2", "Mug 3"]
    ),
    Shape(
      name: "items by their id",
      body:
        #"{"all": {"a": {"name": "Cup one", "price": 2}, "b": {"name": "Cup two", "price": 3}}}"#,
      lines: ["transform: |", "  id: $.id", "  title: $.name"],
      ids: ["a", "b"]
    ),
    Shape(
      name: "products beside users and brands",
      body: """
        {"users": [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}], "shop": {"name": "x"},
         "goods": [{"sku": "a", "name": "Cup", "price": "1.20"}, {"sku": "b", "name": "Mug", "price": "2.20"}]}
        """,
      lines: ["items: $.goods", "  id: $.sku"],
      ids: ["a", "b"]
    ),
    Shape(
      name: "names that are no words of a path",
      body: """
        {"the list": [{"item-id": "a", "product name": "Cup", "price": 1}, {"item-id": "b", "product name": "Mug", "price": 2}]}
        """,
      lines: [
        "items: \"$['the list']\"", "  id: \"$['item-id']\"", "  title: \"$['product name']\"",
      ],
      ids: ["a", "b"]
    ),
  ]

  private static func file(
    _ body: String,
    url: String = "https://shop.example/feed",
    hasNextLink: Bool = false
  ) throws -> String {
    let source = ProposedSource(url: url)
    let page = ProposedPage(body: bytes(body), source: source, hasNextLink: hasNextLink)
    return try ProposedFile(of: [page], name: "proposed.yaml").text
  }

  @Test(arguments: shapes)
  func `a proposal finds the items and fields of a shape and reads them all`(_ shape: Shape)
    throws
  {
    let yaml = try Self.file(shape.body)

    let lines = linesWithoutComments(of: yaml)
    for line in shape.lines { #expect(lines.contains(line), "\(line) in\n\(yaml)") }
    let file = try CatalogFile(parsing: bytes(yaml), file: "proposed.yaml")
    let listing = try decodeSource(bytes(shape.body), at: 0, using: file)
    #expect(listing.sections.flatMap(\.items).map(\.id) == shape.ids)
    #expect(listing.skipped == [])
    #expect(listing.sections.flatMap(\.items).allSatisfy { $0.salePrice != nil })
  }

  @Test(arguments: [
    (#""?page": 1"#, "?page"), (#""page size": 3, "skip": 0, "limit&x": 3"#, "&"),
    (#""skip": 0, "limit": 3000000"#, "3000000"),
  ])
  func `a member that no catalog file can name as a parameter is no paging`(
    _ member: String,
    _ absent: String
  ) throws {
    let items = (1...3).map { #"{"id": "c\#($0)", "name": "Cup \#($0)", "price": 9.5}"# }

    let file = try proposal(
      of: #"{"total": 9, \#(member), "items": [\#(items.joined(separator: ","))]}"#
    )

    #expect(!file.text.contains(absent), "\(file.text)")
  }

  @Test(arguments: [
    (
      #"{"total": 9, "skip": 0, "limit": 3, "items": LIST}"#,
      "paging: {offset: skip, size: {name: limit, value: 3}}"
    ),
    (#"{"next": "https://shop.example/feed?page=2", "items": LIST}"#, "paging: {next: $.next}"),
    (#"{"meta": {"page": 1, "total_pages": 4}, "items": LIST}"#, "paging: {page: page}"),
    (#"{"meta": {"page": 1, "total_pages": 1}, "items": LIST}"#, "# paging: {page: page}"),
    (
      #"{"links": [{"rel": "self", "href": "/a"}, {"rel": "next", "href": "/feed?p=2"}], "items": LIST}"#,
      "paging: {next: \"$.links[?@.rel == 'next'].href\"}"
    ),
    (
      #"{"end": {"next_cursor": "x"}, "items": LIST}"#,
      "paging: {cursor: cursor, from: $.end.next_cursor}"
    ),
  ])
  func `members beside the items show how the listing is paged`(
    _ body: String,
    _ line: String
  ) throws {
    let yaml = try Self.file(body.replacing("LIST", with: Self.list(#""price": 1"#)))

    #expect(linesWithoutComments(of: yaml).contains(line), "\(yaml)")
  }

  @Test func `a Link header that names the next page is followed`() throws {
    let yaml = try Self.file(Self.list(#""price": 1"#), hasNextLink: true)

    #expect(linesWithoutComments(of: yaml).contains("paging: {link: true}"))
  }

  @Test func `each choice shows its confidence, with alternatives below`() throws {
    let yaml = try Self.file(
      Self.list(#""sku": "x", "price": 1, "short_description": "a", "summary": "b""#)
    )

    #expect(yaml.contains("  salePrice: $.price   # 1.0: a number in 3 of 3 items\n"), "\(yaml)")
    #expect(
      yaml.contains(
        """
          description: $.short_description   # 0.9: text in 3 of 3 items
          # description: $.summary   # 0.8: text in 3 of 3 items

        """
      ),
      "\(yaml)"
    )
  }

  @Test func `whole numbers that look like cents are reported as unsure`() throws {
    let items = [1999, 2499, 999].enumerated().map {
      #"{"id": \#($0), "name": "Cup \#($0)", "price": \#($1)}"#
    }

    let yaml = try Self.file("[\(items.joined(separator: ","))]")

    #expect(
      yaml.contains("  # salePrice: {path: $.price, minorUnits: true}   # if 1999 counts cents\n")
    )
  }

  @Test(arguments: [
    "{}", "[1, 2]", #"{"error": "no", "code": 5}"#, #"[{"a": true}]"#, #""text""#,
    #"{"users": [{"age": 4}]}"#,
  ])
  func `an error for a response without items says what was searched for`(_ body: String) {
    let error = #expect(throws: CatalogError.self) { try Self.file(body) }

    #expect(error?.code == .unexpectedShape)
    #expect(
      error?.reason.contains("looked for an array of objects with an id and a title") == true
    )
  }

  @Test(arguments: [
    ("id,title,price\n", "a table without rows"), ("id\ttitle\tprice", "a table without rows"),
    ("[{}]", "found a list of 1 at $ with no members;"), ("1e999", "found "),
  ])
  func `an error for a response without items names its own cause`(
    _ body: String,
    _ words: String
  ) {
    let error = #expect(throws: CatalogError.self) { try Self.file(body) }

    #expect(error.map { "\($0)".contains(words) } == true, "\(error.map { "\($0)" } ?? "")")
    #expect(error.map { "\($0)".contains("fromjson") } == false)
  }

  @Test(arguments: ["[]", #"{"total": 0, "items": []}"#])
  func `an empty list is reported as such`(_ body: String) {
    let error = #expect(throws: CatalogError.self) { try Self.file(body) }

    #expect(error?.reason == "the list in it is empty")
  }

  @Test(arguments: [
    (
      "https://api.cups.example/v1/products?limit=5", "cups", "https://api.cups.example/v1/",
      "products?limit=5"
    ),
    (
      "https://www.cups.example/products.json", "cups", "https://www.cups.example/",
      "products.json"
    ),
    ("http://127.0.0.1:8080/a/", "shop", "http://127.0.0.1:8080/a/", "./"),
    ("https://cups.example", "cups", "https://cups.example/", "./"),
  ])
  func `a URL gives the catalog its name, base and section`(
    _ url: String,
    _ name: String,
    _ base: String,
    _ section: String
  ) {
    let source = ProposedSource(url: url)

    #expect(source.name == name)
    #expect(source.base == base)
    #expect(source.url == section)
  }

  @Test func `a secret in a URL's query becomes an environment variable`() throws {
    let yaml = try Self.file(
      Self.list(#""price": 1"#),
      url: "https://shop.example/feed?consumer_key=ck_1&consumer_secret=cs_2&per_page=3"
    )

    #expect(!yaml.contains("ck_1") && !yaml.contains("cs_2"))
    #expect(
      yaml.contains(
        "feed?consumer_key=${CONSUMER_KEY}&consumer_secret=${CONSUMER_SECRET}&per_page=3"
      )
    )
    #expect(yaml.contains("# Set in the environment before a run: CONSUMER_KEY, CONSUMER_SECRET"))
  }

  @Test func `text of the feed stays text in the catalog file`() throws {
    let yaml = try Self.file(
      """
      {"a\\u001b[31m: {b}": [{"id": 1, "name": "Cup", "price": 1, "x\\ny": "z"}, {"id": 2, "name": "Mug", "price": 2}]}
      """
    )

    #expect(!yaml.contains("\u{1B}"))
    #expect(throws: Never.self) { try CatalogFile(parsing: bytes(yaml), file: "proposed.yaml") }
  }
}
