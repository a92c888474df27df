import Testing

@testable import Catalog

/// The checks of a new listing against the last good one.
struct GuardTests {
  @Test(
    arguments: [
      (SkipLimit.standard, 0, 0, false), (.standard, 0, 3, false), (.standard, 1, 3, false),
      (.standard, 1, 1, true), (.standard, 2, 3, true), (.standard, 2, 20, false),
      (.standard, 3, 20, true), (.standard, 10, 100, false), (.standard, 11, 100, true),
      (.percent(0), 1, 100, true), (.percent(0), 0, 100, false), (.percent(100), 99, 100, false),
      (.percent(100), 100, 100, true), (.percent(2.5), 2, 80, false), (.percent(2.5), 3, 80, true),
      (.count(3), 3, 4, false), (.count(3), 4, 1000, true), (.count(0), 1, 1000, true),
    ])
  func `a listing is refused when it lost more than allowed, or everything`(
    limit: SkipLimit,
    lost: Int,
    elements: Int,
    isRefused: Bool
  ) {
    #expect(limit.refuses(lost: lost, of: elements) == isRefused)
  }

  private func dish(_ id: Int, _ change: (inout StoreItem) -> Void = { _ in }) -> StoreItem {
    var item = StoreItem(
      id: "i\(id)",
      title: "T",
      description: "D\(id)",
      badges: ["new"],
      salePrice: Price(minorUnits: id, currency: "KRW"),
      images: [ImageReference(role: .thumbnail, url: "\(id).jpg")]
    )
    change(&item)
    return item
  }

  private func findings(
    _ held: [StoreItem],
    _ incoming: [StoreItem],
    _ lines: String = "format: banchan"
  ) throws -> [FieldGuard.Finding] {
    let mapping = try catalog(lines).mapping.item
    var fields = FieldGuard(held: held, mapping, count: incoming.count)
    fields.add(incoming)
    return fields.findings
  }

  private let bare: @Sendable (inout StoreItem) -> Void = {
    $0.salePrice = nil
    $0.images = []
    $0.badges = []
  }

  @Test func `a field that most items had and none has now is found`() throws {
    let held = (1...5).map { dish($0) }

    #expect(
      try findings(held, (2...6).map { dish($0, bare) }) == [.gone(.salePrice), .gone(.thumbnail)]
    )
    #expect(try findings(held, (2...6).map { dish($0, bare) } + [dish(7)]) == [])
  }

  @Test func `rare fields, small sections and unmapped fields may lose their values`() throws {
    let (one, two) = ([dish(1), dish(2)], [dish(1, bare), dish(2, bare)])

    #expect(try findings(one + two, two) == [])
    #expect(try findings(one, two) == [.gone(.thumbnail)])
    #expect(try findings(one, two, "items: $\nitem: {id: $.id, title: $.t}") == [])
  }

  @Test func `a price before a reduction may vanish while current prices remain`()
    throws
  {
    let reduced: (inout StoreItem) -> Void = {
      $0.normalPrice = Price(minorUnits: 9, currency: "KRW")
    }
    let full: (inout StoreItem) -> Void = {
      reduced(&$0)
      $0.salePrice = nil
    }
    let held = [dish(1, reduced), dish(2, full), dish(3, full)]

    #expect(try findings(held, (1...3).map { dish($0) }) == [])
    #expect(
      try findings(held, (1...3).map { dish($0) { $0.salePrice = nil } }) == [.gone(.normalPrice)]
    )
  }

  @Test(arguments: [FieldGuard.SharedField.picture, .price, .title])
  func `one value in all of more than 10 items is found if their values differed before`(
    _ field: FieldGuard.SharedField
  ) throws {
    func named(_ id: Int) -> StoreItem { dish(id) { $0.title = "T\(id)" } }
    func alike(_ id: Int) -> StoreItem {
      dish(id) {
        $0.title = field == .title ? "Sold out" : "T\(id)"
        if field == .price { $0.salePrice = Price(minorUnits: 1, currency: "KRW") }
        if field == .picture {
          $0.images = [ImageReference(role: .thumbnail, url: "placeholder.jpg")]
        }
      }
    }
    let held = (1...12).map(named)

    #expect(try findings(held, (1...12).map(alike)) == [.shared(field)])
    #expect(try findings(held, (1...12).map(alike) + [named(13)]) == [])
    #expect(try findings(held, (1...10).map(alike)) == [])
    #expect(try findings((1...12).map(alike), (1...12).map(alike)) == [])
    #expect(try findings([], (1...12).map(alike)) == [])
    // Of twelve items, one that differed before may become like the others; two may not.
    #expect(try findings((1...11).map(alike) + [named(12)], (1...12).map(alike)) == [])
    let two = (1...10).map(alike) + [named(11), named(12)]
    #expect(try findings(two, (1...12).map(alike)) == [.shared(field)])
  }

  private static let lines = """
    items: $.items
    item:
      id: $.id
      title: $.name
      description: [$.text, $.body]
      badges: $.tags
      normalPrice: null
      images: {thumbnail: "$.pictures[*].src", gallery: $.more}
    """

  @Test
  func `the fields whose paths are in the catalog file itself, not in its format, are its own`()
    throws
  {
    #expect(
      try catalog(Self.lines).mapping.item.given == [.description, .badges, .thumbnail, .gallery]
    )
    #expect(try catalog("format: shopify").mapping.item.given == [])
    let overridden = try catalog("format: shopify\nitem: {badges: $.t, images: {top: $.x}}")
    #expect(overridden.mapping.item.given == [.badges, .top])
  }

  @Test(
    arguments: [
      (#"{}"#, [.description, .badges, .thumbnail, .gallery]),
      (#"{"text": null, "body": "", "tags": []}"#, [.description, .thumbnail, .gallery]),
      (#"{"body": "b", "tags": ["x"], "pictures": [], "more": null}"#, [.gallery]),
      (#"{"body": "b", "tags": "x", "pictures": [{"src": "a"}], "more": []}"#, []),
      (#"{"body": "b", "tags": "x", "pictures": [{"url": "a"}], "more": []}"#, [.thumbnail]),
    ] as [(String, Set<ItemField>)]
  )
  func `a field that no item has is absent, but an empty list is a value`(
    json: String,
    absent: Set<ItemField>
  ) throws {
    let item = #"{"id": 1, "name": "t"}"#
    let other = json.replacing("{", with: #"{"id": 2, "name": "t", "x": 0, "#, maxReplacements: 1)
      .replacing(", }", with: "}")

    let listing = try decode("{\"items\": [\(item), \(other)]}", Self.lines)

    #expect(listing.skipped.isEmpty)
    #expect(listing.absent["main"] == absent)
  }

  @Test func `an empty list of an element that is no item is no value`() throws {
    let item = #"{"id": 1, "name": "t"}"#

    let listing = try decode(#"{"items": [\#(item), {"id": 2, "tags": []}]}"#, Self.lines)

    #expect(listing.absent["main"]?.contains(.badges) == true)
  }

  @Test func `one id for all items is an error, but one item listed three times is not`() throws {
    let body = { (titles: [String]) in
      "[" + titles.map { "{\"id\": 7, \"title\": \"\($0)\"}" }.joined(separator: ",") + "]"
    }

    #expect(decodingError(body(["a", "b", "c"]))?.description.contains("same id \"7\"") == true)
    #expect(try decode(body(["a", "a", "a"])).sections.first?.items.count == 3)
    #expect(try decode(body(["a", "b"])).sections.first?.items.count == 2)
  }

  @Test func `an error in every section is an error of the whole, with the first reason`() throws {
    let file = try catalog(sections: #"{url: x, each: "$[*]", key: $.k}"#)

    let error = #expect(throws: CatalogError.self) {
      try decodeSource(bytes("[{\"k\": null}, 7]"), at: 0, using: file)
    }

    #expect(
      error?.description
        == "cannot read sections: none of 2 can be used, the first because it has no "
        + "key at $.k; correct \"key\" under sections, or the feed"
    )
  }
}
