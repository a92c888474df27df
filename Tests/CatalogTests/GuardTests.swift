import Testing

@testable import Catalog

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
  func `a listing is refused when more is lost than allowed, or when nothing is left`(
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

  @Test func `what no item has any more is kept, beside what is new`() {
    let incoming = (2...6).map { id in
      dish(id) {
        $0.title = "New"
        $0.salePrice = nil
        $0.images = []
        $0.badges = []
      }
    }

    let verdict = FieldGuard.judge(previous: (1...5).map { dish($0) }, incoming: incoming)

    #expect(verdict.kept == [.salePrice, .thumbnail])
    #expect(verdict.items.map(\.title) == ["New", "New", "New", "New", "New"])
    #expect(verdict.items.map(\.salePrice?.minorUnits) == [2, 3, 4, 5, nil])
    #expect(verdict.items.map(\.images.count) == [1, 1, 1, 1, 0])
    #expect(verdict.items.allSatisfy { $0.badges.isEmpty })
  }

  @Test func `what one item still has, what few had and what small sections lose may go`() {
    let bare: (inout StoreItem) -> Void = {
      $0.description = nil
      $0.salePrice = nil
    }
    let whole = (1...4).map { dish($0) }

    let one = FieldGuard.judge(previous: whole, incoming: [dish(1), dish(2, bare), dish(3, bare)])
    let few = FieldGuard.judge(
      previous: [dish(1), dish(2), dish(3, bare), dish(4, bare)],
      incoming: (1...4).map { dish($0, bare) }
    )
    let small = FieldGuard.judge(
      previous: [dish(1), dish(2)],
      incoming: [dish(1, bare), dish(2, bare)]
    )

    #expect(one.kept.isEmpty && few.kept.isEmpty && small.kept.isEmpty)
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

  @Test func `the fields that a file spells out are those that it gives paths`() throws {
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
  func `a field that no item yields is absent; a list of none is a value`(
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

  @Test func `items that have all one id are an error, one item in three listings is none`() throws
  {
    let body = { (titles: [String]) in
      "[" + titles.map { "{\"id\": 7, \"title\": \"\($0)\"}" }.joined(separator: ",") + "]"
    }

    #expect(decodingError(body(["a", "b", "c"]))?.description.contains("same id \"7\"") == true)
    #expect(try decode(body(["a", "a", "a"])).sections.first?.items.count == 3)
    #expect(try decode(body(["a", "b"])).sections.first?.items.count == 2)
  }

  @Test func `sections that all fail are an error, with the first reason`() throws {
    let plan = CombinedSections(
      url: "x",
      each: try JSONPath(parsing: "$[*]"),
      key: try JSONPath(parsing: "$.k")
    )

    let error = #expect(throws: CatalogError.self) {
      try decodeSections(bytes("[{\"k\": null}, 7]"), plan: plan, using: catalog())
    }

    #expect(
      error?.description
        == "cannot read sections: none of 2 can be used, the first because it has no "
        + "key at $.k; correct \"key\" under sections, or the feed"
    )
  }
}
