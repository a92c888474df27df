import Testing

@testable import Catalog

/// The decoding of a section's listing: items, prices, badges and errors.
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
  func `the side dish store's listing is decoded in every envelope`(body: String, title: String)
    throws
  {
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
      (#", "badge": "[\"론칭특가\", \"\", \"이벤트특가\"]""#, ["론칭특가", "이벤트특가"]),
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
      (#"{"detail_hash": {"id": 1}, "title": "t"}"#, "detail_hash", "found an object"),
      (#"{"detail_hash": "H", "title": false}"#, "title", "found true or false"),
      (#"{"detail_hash": "H", "title": {"ko": "t"}}"#, "title", "found an object"),
      (#"{"detail_hash": "H", "title": []}"#, "title", "the item has no title"),
      ("null", nil, "expected an object, found null"), ("[]", nil, "found a list"),
    ] as [(String, String?, String)]
  )
  func `only the unusable item is skipped`(json: String, field: String?, reason: String) throws {
    let listing = try decode("[\(Self.dish), \(json), \(Self.dish)]")

    #expect(listing.sections.first?.items.count == 2)
    #expect(listing.skipped.map(\.section) == ["main"])
    #expect(listing.skipped.map(\.index) == [1])
    #expect(listing.skipped.map(\.field) == [field])
    #expect(listing.skipped.map(\.lost) == [.item])
    #expect(listing.skipped.first?.reason.contains(reason) == true)
  }

  @Test(
    arguments: [
      (#""s_price": "품절""#, "s_price", "holds no amount"),
      (#""s_price": "-1""#, "s_price", "is negative"),
      (#""s_price": -1"#, "s_price", "is negative"),
      (#""n_price": [1]"#, "n_price", "found a list"),
      (#""n_price": {"won": 7000}"#, "n_price", "found an object"),
      (#""n_price": true"#, "n_price", "found true or false"),
      (#""badge": [1]"#, "badge", "found a number"), (#""badge": {}"#, "badge", "found an object"),
      (#""image": {"src": "a.jpg"}"#, "image", "found an object"),
      (#""image": 5"#, "image", "found a number"),
      (#""description": [1]"#, "description", "found a list"),
      (#""description": 3.5"#, "description", "found a number"),
      (#""latitude": 91, "longitude": 1"#, "latitude", "not between -90 and 90"),
      (#""latitude": 1, "longitude": -180.5"#, "longitude", "not between -180 and 180"),
      (#""latitude": "north", "longitude": 1"#, "latitude", "expected a number of degrees"),
      (#""latitude": true, "longitude": 1"#, "latitude", "expected a number of degrees"),
      (#""latitude": 37.5"#, "longitude", "no longitude"),
      (#""longitude": 127, "latitude": """#, "latitude", "no latitude"),
    ])
  func `one invalid value costs its field, not the item`(
    json: String,
    field: String,
    reason: String
  ) throws {
    let body = #"[\#(Self.dish), {"detail_hash": "H2", "title": "t", \#(json)}, \#(Self.dish)]"#

    let listing = try decode(
      body,
      "format: banchan\nitem: {latitude: $.latitude, longitude: $.longitude}"
    )

    #expect(listing.sections[0].items.map(\.id) == ["H1", "H2", "H1"])
    #expect(listing.sections[0].items[1] == StoreItem(id: "H2", title: "t"))
    #expect(listing.skipped.map(\.index) == [1])
    #expect(listing.skipped.map(\.id) == ["H2"])
    #expect(listing.skipped.map(\.field) == [field])
    #expect(listing.skipped.map(\.lost) == [.field])
    #expect(listing.skipped.first?.reason.contains(reason) == true)
  }

  @Test(arguments: [#"[""]"#, "[null]", "[[]]", #"["", null]"#])
  func `an empty list falls back to the next alternative too`(empty: String) throws {
    let body = #"[{"id": 1, "title": "t", "a": \#(empty), "b": "x"}]"#
    let lines = "items: $\nitem: {id: $.id, title: $.title, badges: [$.a, $.b]}"

    let listing = try decode(body, lines)

    #expect(listing.skipped == [])
    #expect(listing.sections[0].items.map(\.badges) == [["x"]])
  }

  @Test func `every lost field of an item is reported, and its other fields are kept`() throws {
    let body = """
      [{"detail_hash": "H", "title": "t", "s_price": "5,200원", "n_price": "-1", "image": {},
        "badge": ["a", {}, "b", 5], "delivery_type": "dawn", "description": {}}]
      """

    let listing = try decode(body)

    #expect(
      listing.skipped.map(\.field) == ["description", "badge", "n_price", "image"]
    )
    #expect(listing.skipped.allSatisfy { $0.index == 0 && $0.lost == .field && $0.id == "H" })
    #expect(listing.skipped[1].reason == "expected text, found an object in 2 of 4")
    #expect(
      listing.sections[0].items == [
        StoreItem(
          id: "H",
          title: "t",
          badges: ["a", "b"],
          deliveryTypes: ["dawn"],
          salePrice: Price(minorUnits: 5200, currency: "KRW")
        )
      ]
    )
  }

  @Test(
    arguments: [
      (#"{"detail_hash": 7, "title": 5}"#, "7", "5"),
      (#"{"detail_hash": 1.5, "title": -0.25}"#, "1.5", "-0.25"),
      (#"{"detail_hash": 2.0, "title": "t"}"#, "2", "t"),
    ])
  func `a number as id or title becomes text`(json: String, id: String, title: String) throws {
    let listing = try decode("[\(json)]")

    #expect(listing.sections[0].items == [StoreItem(id: id, title: title)])
    #expect(listing.skipped.isEmpty)
  }

  @Test(arguments: ["null", #""""#, "[]"])
  func `an empty value falls back to the next alternative`(empty: String) throws {
    let body = """
      [{"a": {"id": \(empty), "title": \(empty), "text": \(empty), "badge": \(empty),
              "price": \(empty), "image": \(empty), "lat": \(empty), "lon": \(empty)},
        "b": {"id": "B", "title": "tb", "text": "x", "badge": ["y"], "price": "5,200",
              "image": ["b.jpg"], "lat": 1, "lon": "2"}}]
      """

    let listing = try decode(
      body,
      """
      items: $
      item:
        id: [$.a.id, $.b.id]
        title: [$.a.title, $.b.title]
        description: [$.a.text, $.b.text]
        badges: [$.a.badge, $.b.badge]
        salePrice: [$.a.price, $.b.price]
        normalPrice: ["$.a['price', 'none']", "$.b['none', 'price']"]
        latitude: [$.a.lat, $.b.lat]
        longitude: [$.a.lon, $.b.lon]
        images: {gallery: [$.a.image, $.b.image]}
      """
    )

    #expect(listing.skipped == [])
    #expect(
      listing.sections[0].items == [
        StoreItem(
          id: "B",
          title: "tb",
          description: "x",
          badges: ["y"],
          normalPrice: Price(minorUnits: 5200, currency: "KRW"),
          salePrice: Price(minorUnits: 5200, currency: "KRW"),
          coordinate: Coordinate(latitude: 1, longitude: 2),
          images: [ImageReference(role: .gallery, url: "b.jpg")]
        )
      ]
    )
  }

  @Test(
    arguments: [
      (#"{"statusCode": 500}"#, CatalogError.Code.reportedFailure),
      (#"{"statusCode": 500, "body": []}"#, .reportedFailure),
      (#"{"status": "404", "errors": []}"#, .reportedFailure),
      (#"{"message": "x", "errors": []}"#, .absentItems), (#"{"body": {}}"#, .absentItems),
      ("{}", .absentItems), ("5", .otherItems), (#"{"body": "x"}"#, .otherItems),
      ("[{]", .malformedJSON),
      ("[]\n[]", .malformedJSON),
    ])
  func `a body without the expected items is an error`(body: String, code: CatalogError.Code) {
    #expect(decodingError(body)?.code == code)
    #expect(decodingError(body)?.description.hasPrefix("cannot read section main: ") == true)
  }

  @Test(arguments: ["[]", #"{"body": []}"#, #"{"statusCode": 200, "body": []}"#, #"{"1": []}"#])
  func `an empty array is an empty section`(body: String) throws {
    let listing = try decode(body)

    #expect(listing.sections.map(\.items) == [[]])
    #expect(listing.elementCount == 0)
  }

  @Test func `one item with an impossible number does not spoil the section`() throws {
    let body = #"[{"detail_hash": 123456789012345678901, "title": "t"}, \#(Self.dish)]"#

    #expect(try decode(body).sections.first?.items.map(\.id) == ["123456789012345678901", "H1"])
  }

  @Test func `an item that is twice in a section has two listings`() throws {
    #expect(try decode("[\(Self.dish), \(Self.dish)]").sections.first?.items.count == 2)
  }

  @Test func `sections of one response are distinguished by their keys`() throws {
    let file = try catalog(
      sections: #"{url: best, each: "$[*]", key: $.category_id, title: $.name}"#
    )
    let body = """
      [{"category_id": 17, "name": "덮밥", "items": [\(Self.dish), {}]},
       {"category_id": "18", "items": []}, {"name": "no key", "items": []},
       {"category_id": "../x", "items": []}, {"category_id": "19"}, {"category_id": 20, "items": [{}]},
       {"category_id": "20", "items": []}]
      """

    let listing = try decodeSource(bytes(body), at: 0, using: file)

    #expect(listing.sections.map(\.key) == ["17", "18"])
    #expect(listing.sections.map(\.title) == ["덮밥", "18"])
    #expect(listing.sections.map(\.items.count) == [1, 0])
    #expect(listing.skipped.map(\.section) == ["17"])
    #expect(listing.skipped.map(\.index) == [1])
    #expect(listing.failed.map(\.index) == [2, 3, 4, 5, 6])
    #expect(listing.failed.map(\.key) == [nil, nil, "19", "20", "20"])
  }

  @Test func `a section without a readable title is named by its key`() throws {
    let file = try catalog(
      sections: #"{url: best, each: "$[*]", key: $.id, title: $.name, subtitle: $.line}"#
    )
    let body = """
      [{"id": 1, "name": 2026, "items": [\(Self.dish)]},
       {"id": 2, "name": {"ko": "국"}, "line": [1], "items": [\(Self.dish)]}]
      """

    let listing = try decodeSource(bytes(body), at: 0, using: file)

    #expect(listing.sections.map(\.title) == ["2026", "2"])
    #expect(listing.sections.map(\.items.count) == [1, 1])
    #expect(listing.skipped.map(\.field) == ["name", "line"])
    #expect(listing.skipped.allSatisfy { $0.index == 1 && $0.lost == .field })
  }

  @Test func `missing sections are an error, an empty list of sections is not`() throws {
    let file = try catalog(sections: #"{url: x, each: "$.list[*]", key: $.k}"#)

    #expect(try decodeSource(bytes(#"{"list": []}"#), at: 0, using: file).sections == [])
    #expect(throws: CatalogError.self) {
      try decodeSource(bytes("{}"), at: 0, using: file)
    }
  }

  @Test func `parts of a section are joined, and skipped items are counted across them`() throws {
    let decoder = ListingDecoder(try catalog(), position: 0)
    var earlier = ListingDecoder.EarlierSections()
    var listing = try decoder.listing(bytes("[\(Self.dish), 1]"), after: &earlier)

    listing.append(try decoder.listing(bytes("[1, \(Self.dish)]"), after: &earlier))

    #expect(listing.sections.map(\.items.count) == [2])
    #expect(listing.skipped.map(\.index) == [1, 2])
    #expect(listing.elementCount == 4)
  }

  @Test func `a path to the items works as well as one to their array`() throws {
    let lines = "items: $.menu[*]\nitem: {id: $.sku, title: $.name}"

    #expect(
      try decode(#"{"menu": [{"sku": 1, "name": "a"}]}"#, lines).sections.first?.items.map(\.id)
        == ["1"]
    )
    #expect(try decode(#"{"menu": []}"#, lines).sections.first?.items == [])
    #expect(decodingError(#"{"menu": {}}"#, lines)?.code == .absentItems)
  }

  @Test(
    arguments: [
      ("{path: $.p, minorUnits: true}", "1299", 1299, "USD"),
      ("{path: $.p, minorUnits: true, currency: $.c}", "1299, \"c\": \"krw\"", 1299, "KRW"),
      ("{path: $.p, minorUnits: true, currency: $.c}", "1299", 1299, "USD"),
      ("{path: $.p, divisor: 1000}", "12990", 1299, "USD"),
      ("{path: $.p, currency: EUR}", "\"19,90\"", 1990, "EUR"),
      ("{path: $.p, minorUnits: false}", "12.5", 1250, "USD"),
    ])
  func `a price is read by its rule`(
    rule: String,
    price: String,
    units: Int,
    code: String
  ) throws {
    let lines = "items: $.items\nitem: {id: $.id, title: $.t, salePrice: \(rule)}"

    let listing = try decode(
      "{\"items\": [{\"id\": 1, \"t\": \"A\", \"p\": \(price)}]}",
      lines,
      currency: "USD"
    )

    #expect(listing.skipped.isEmpty)
    #expect(
      listing.sections[0].items[0].salePrice == Price(minorUnits: units, currency: code)
    )
  }

  @Test(arguments: ["divisor: 7", "scale: 2, divisor: 100", "currency: won", "minorUnits: maybe"])
  func `a price rule that makes no sense is refused`(rule: String) {
    let lines = "items: $.items\nitem: {id: $.id, title: $.t, salePrice: {path: $.p, \(rule)}}"

    #expect(throws: CatalogError.self) { try catalog(lines) }
  }
}
