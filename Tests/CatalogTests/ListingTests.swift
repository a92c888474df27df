import Testing

@testable import Catalog

struct ListingTests {
  private static let dish =
    #"{"detail_hash": "H1", "image": "http://p.example/1.jpg", "title": "규동", "s_price": "7,000원"}"#

  @Test(
    arguments: [
      ("[\(dish)]", "main"), ("{\"statusCode\": 200, \"body\": [\(dish)]}", "main"),
      ("{\"title\": \"국\", \"category\": \"soup\", \"items\": [\(dish)]}", "국"),
      ("[{\"section\": \"main\", \"sectionHeader\": \"메인\", \"item\": [\(dish)]}]", "메인"),
      ("[{\"category_id\": \"17\", \"name\": \"덮밥\", \"items\": [\(dish)]}]", "덮밥"),
      ("{\"1\": [\(dish)]}", "main"),
      (
        "{\"categoryResponses\": [{\"categoryTitle\": \"x\", \"sideDishCardResponses\": [\(dish)]}]}",
        "main"
      ),
    ])
  func `the side dish store decodes in all its envelopes`(body: String, title: String) throws {
    let listing = try decode(body)

    #expect(listing.sections.map(\.title) == [title])
    #expect(listing.skipped.isEmpty)
    #expect(
      listing.sections.first?.items == [
        StoreItem(
          id: "H1",
          title: "규동",
          salePrice: Price(minorUnits: 7000, currency: "KRW"),
          images: [ImageReference(role: .thumbnail, url: "http://p.example/1.jpg")]
        )
      ]
    )
  }

  @Test func `categories of one body become one section in feed order`() throws {
    let body = """
      [{"name": "a", "items": [\(Self.dish), {"title": "no id"}]}, {"name": "b", "items": null},
       {"name": "c", "items": [\(Self.dish), 5]}]
      """

    let listing = try decode(body)

    #expect(listing.sections.map(\.title) == ["main"])
    #expect(listing.sections.first?.items.count == 2)
    #expect(listing.skipped.map(\.index) == [1, 3])
    #expect(listing.elementCount == 4)
  }

  @Test(
    arguments: [
      ("", []), (#", "badge": null"#, []), (#", "badge": []"#, []), (#", "badge": """#, []),
      (#", "badge": "베스트""#, ["베스트"]),
      (#", "badge": ["론칭특가", null, "", "이벤트특가"]"#, ["론칭특가", "이벤트특가"]),
    ])
  func `badges may be absent, null, empty, a text or a list`(json: String, badges: [String]) throws
  {
    let listing = try decode(#"[{"detail_hash": "H1", "title": "t"\#(json)}]"#)

    #expect(listing.sections.first?.items.first?.badges == badges)
    #expect(listing.skipped.isEmpty)
  }

  @Test func `a missing price is nil`() throws {
    let body = #"[{"detail_hash": "H1", "title": "t", "n_price": null, "s_price": " "}]"#

    let item = try decode(body).sections.first?.items.first

    #expect(item?.normalPrice == nil)
    #expect(item?.salePrice == nil)
  }

  @Test(
    arguments: [
      (#"{"title": "t"}"#, "detail_hash", "the item has no id"),
      (#"{"detail_hash": "", "title": "t"}"#, "detail_hash", "the item has no id"),
      (#"{"detail_hash": true, "title": "t"}"#, "detail_hash", "found true or false"),
      (#"{"detail_hash": "H", "title": null}"#, "title", "the item has no title"),
      (#"{"detail_hash": "H", "title": 5}"#, "title", "expected text, found a number"),
      (#"{"detail_hash": "H", "title": "t", "s_price": "품절"}"#, "s_price", "holds no amount"),
      (#"{"detail_hash": "H", "title": "t", "n_price": [1]}"#, "n_price", "found a list"),
      (#"{"detail_hash": "H", "title": "t", "badge": [1]}"#, "badge", "found a number"),
      (#"{"detail_hash": "H", "title": "t", "image": {}}"#, "image", "found an object"),
      (#"{"detail_hash": "H", "title": "t", "description": []}"#, "description", "found a list"),
      ("null", nil, "expected an object, found null"), ("[]", nil, "found a list"),
    ] as [(String, String?, String)]
  )
  func `an unusable item is skipped alone`(json: String, field: String?, reason: String) throws {
    let listing = try decode("[\(Self.dish), \(json), \(Self.dish)]")

    #expect(listing.sections.first?.items.count == 2)
    #expect(listing.skipped.map(\.section) == ["main"])
    #expect(listing.skipped.map(\.index) == [1])
    #expect(listing.skipped.map(\.field) == [field])
    #expect(listing.skipped.first?.reason.contains(reason) == true)
  }

  @Test(
    arguments: [
      (#"{"statusCode": 500}"#, CatalogError.Code.reportedFailure),
      (#"{"statusCode": 500, "body": []}"#, .reportedFailure),
      (#"{"status": "404", "errors": []}"#, .reportedFailure),
      (#"{"message": "x", "errors": []}"#, .unexpectedShape), (#"{"body": {}}"#, .unexpectedShape),
      ("{}", .unexpectedShape), ("5", .unexpectedShape), ("[{]", .malformedJSON),
      ("[]\n[]", .malformedJSON),
    ])
  func `a body that lists nothing it should is an error`(body: String, code: CatalogError.Code) {
    #expect(decodingError(body)?.code == code)
    #expect(decodingError(body)?.description.hasPrefix("cannot read section main: ") == true)
  }

  @Test(arguments: ["[]", #"{"body": []}"#, #"{"statusCode": 200, "body": []}"#, #"{"1": []}"#])
  func `an empty array is an empty section`(body: String) throws {
    let listing = try decode(body)

    #expect(listing.sections.map(\.items) == [[]])
    #expect(listing.elementCount == 0)
  }

  @Test func `one item that cannot be a number does not spoil the section`() throws {
    let body = #"[{"detail_hash": 123456789012345678901, "title": "t"}, \#(Self.dish)]"#

    #expect(try decode(body).sections.first?.items.map(\.id) == ["123456789012345678901", "H1"])
  }

  @Test func `one item in a section twice is two listings`() throws {
    #expect(try decode("[\(Self.dish), \(Self.dish)]").sections.first?.items.count == 2)
  }

  @Test func `all sections in one response are told apart by their keys`() throws {
    let plan = CombinedSections(
      url: "best",
      each: try JSONPath(parsing: "$[*]"),
      key: try JSONPath(parsing: "$.category_id"),
      title: try JSONPath(parsing: "$.name")
    )
    let body = """
      [{"category_id": 17, "name": "덮밥", "items": [\(Self.dish), {}]},
       {"category_id": "18", "items": []}, {"name": "no key", "items": []},
       {"category_id": "../x", "items": []}, {"category_id": "19"}, {"category_id": 17, "items": []}]
      """

    let listing = try decodeSections(bytes(body), plan: plan, using: catalog())

    #expect(listing.sections.map(\.key) == ["17", "18"])
    #expect(listing.sections.map(\.title) == ["덮밥", "18"])
    #expect(listing.sections.map(\.items.count) == [1, 0])
    #expect(listing.skipped.map(\.section) == ["17", "", "", "", ""])
    #expect(listing.skipped.map(\.index) == [1, 2, 3, 4, 5])
  }

  @Test func `sections that are nowhere are an error, no sections are none`() throws {
    let plan = CombinedSections(
      url: "x",
      each: try JSONPath(parsing: "$.list[*]"),
      key: try JSONPath(parsing: "$.k")
    )

    #expect(
      try decodeSections(bytes(#"{"list": []}"#), plan: plan, using: catalog()).sections == []
    )
    #expect(throws: CatalogError.self) {
      try decodeSections(bytes("{}"), plan: plan, using: catalog())
    }
  }

  @Test func `pages join, and skipped items keep counting`() throws {
    let source = SectionSource(key: "main", url: "main")
    var listing = try decodeSection(bytes("[\(Self.dish), 1]"), source: source, using: catalog())

    listing.append(
      try decodeSection(
        bytes("[1, \(Self.dish)]"),
        source: source,
        using: catalog(),
        firstIndex: listing.elementCount
      )
    )

    #expect(listing.sections.map(\.items.count) == [2])
    #expect(listing.skipped.map(\.index) == [1, 2])
    #expect(listing.elementCount == 4)
  }

  @Test func `a path to the items themselves works as one to their array`() throws {
    let lines = "items: $.menu[*]\nitem: {id: $.sku, title: $.name}"

    #expect(
      try decode(#"{"menu": [{"sku": 1, "name": "a"}]}"#, lines).sections.first?.items.map(\.id)
        == ["1"]
    )
    #expect(try decode(#"{"menu": []}"#, lines).sections.first?.items == [])
    #expect(decodingError(#"{"menu": {}}"#, lines)?.code == .unexpectedShape)
  }
}
