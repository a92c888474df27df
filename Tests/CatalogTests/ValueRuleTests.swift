import Testing

@testable import Catalog

/// The rules of a catalog file for values: placeholders, HTML, templates of several fields, and
/// sizes.
struct ValueRuleTests {
  private static func items(_ lines: String, _ items: String) throws -> DecodedListing {
    try decodeSource(
      bytes("[\(items)]"),
      at: 0,
      using: try catalog("items: $\n\(lines)", currency: "EUR")
    )
  }

  @Test func `a value that means nothing reads as absent`() throws {
    let listing = try Self.items(
      """
      none: ["N/A", no_selection, -1]
      item: {id: $.id, title: [$.name, $.id], description: $.text, salePrice: $.price, images: {thumbnail: $.image}}
      """,
      #"{"id": "a", "name": "N/A", "text": "N/A", "price": -1, "image": "no_selection"}"#
    )

    let item = try #require(listing.sections[0].items.first)
    #expect(item.title == "a" && item.description == nil && item.salePrice == nil)
    #expect(item.images == [] && listing.skipped == [])
  }

  @Test func `a price of 0 can be ignored in favour of the next`() throws {
    let listing = try Self.items(
      "item: {id: $.id, title: $.id, salePrice: [{path: $.sale, none: 0}, $.price]}",
      #"{"id": "a", "sale": 9, "price": 10}, {"id": "b", "sale": "0.00", "price": 10}"#
    )

    #expect(listing.sections[0].items.map(\.salePrice?.minorUnits) == [900, 1000])
  }

  @Test func `text loses its HTML tags and entities, and URLs only their entities`() throws {
    let listing = try Self.items(
      """
      text: html
      item: {id: $.id, title: $.t, description: $.d, badges: $.b, images: {thumbnail: $.i}}
      """,
      #"{"id": "a&amp;b", "t": "<b>A</b> pot &amp; more", "d": "<p>One</p><p>two</p>", "b": ["5 &lt; 6"], "i": "/a?x=1&amp;copy=2"}"#
    )

    let item = try #require(listing.sections[0].items.first)
    #expect(item.id == "a&amp;b" && item.title == "A pot & more")
    #expect(item.description == "One\ntwo" && item.badges == ["5 < 6"])
    #expect(item.images.map(\.url) == ["/a?x=1&copy=2"])
  }

  @Test func `a template may use numbers and nested fields of the item`() throws {
    let listing = try Self.items(
      """
      item:
        id: $.id
        title: $.id
        images:
          thumbnail: {template: "images/{category}/{id}.webp"}
          gallery: {path: $.files, template: "https://cdn.example/{shop.code}/{value}"}
      """,
      #"{"id": 7, "category": "Gift & Home", "files": [1, "b.png"], "shop": {"code": "s"}}, {"id": 8}"#
    )

    #expect(
      listing.sections[0].items.map { $0.images.map(\.url) } == [
        [
          "images/Gift%20%26%20Home/7.webp", "https://cdn.example/s/1",
          "https://cdn.example/s/b.png",
        ], [],
      ]
    )
  }

  @Test(arguments: [
    #"[{"width": 75, "src": "/s.jpg"}, {"width": "1000", "src": "/l.jpg"}, {"src": "/x.jpg"}]"#,
    #"{"s": {"width": 75, "src": "/s.jpg"}, "l": {"width": 1000, "src": "/l.jpg"}}"#,
  ])
  func `the largest of several sizes is chosen`(_ sizes: String) throws {
    let listing = try Self.items(
      """
      item:
        id: $.id
        title: $.id
        images: {gallery: {path: "$.photos[*].sizes", largest: $.width, url: $.src}}
      """,
      "{\"id\": 1, \"photos\": [{\"sizes\": \(sizes)}, {\"sizes\": []}]}"
    )

    #expect(listing.sections[0].items[0].images.map(\.url) == ["/l.jpg"])
  }

  @Test(arguments: [
    ("text: rich", "$.p", "expected plain or html"),
    ("none: null", "{path: $.p, template: \"{id}.png\"}", "{value}"),
    ("none: null", "{path: $.p, largest: $.w}", "largest and url"),
  ])
  func `a rule without effect is an error`(_ line: String, _ rule: String, _ words: String) {
    let lines = "\(line)\nitems: $\nitem: {id: $.id, title: $.t, images: {top: \(rule)}}"

    let error = #expect(throws: CatalogError.self) { try catalog(lines, currency: "EUR") }

    #expect(error.map { "\($0)".contains(words) } == true)
  }
}
