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

  @Test func `a text is not a number that means nothing`() throws {
    let listing = try Self.items(
      "none: [0, -1.0, 9007199254740992]\nitem: {id: $.id, title: $.id, description: $.text, badges: $.b}",
      #"{"id": "0E1", "text": "00", "b": ["0", 0, -1, "-1"]}, {"id": 9007199254740993, "text": "0x0"}, {"id": 0}"#
    )

    let items = listing.sections[0].items
    #expect(items.map(\.id) == ["0E1", "9007199254740993"])
    #expect(items.map(\.description) == ["00", "0x0"])
    #expect(items[0].badges == ["-1"])
  }

  @Test func `a text of tags alone is no value, and prices lose their tags`() throws {
    let listing = try Self.items(
      """
      text: html
      item: {id: $.id, title: [$.long, $.short], description: [$.long, $.short], badges: $.b, salePrice: $.p}
      """,
      #"{"id": "a", "long": " <p>&nbsp;</p>", "short": "S", "b": ["<i></i>", "<b>n</b>", "I <3 it", "a > b", "&lt;"], "p": "<span>&euro;5.50</span>"}"#
    )

    let item = try #require(listing.sections[0].items.first)
    #expect([item.title, item.description] == ["S", "S"])
    #expect(item.badges == ["n", "I <3 it", "a > b", "<"] && item.salePrice?.minorUnits == 550)
  }

  @Test func `a name in braces in a value of the response is no placeholder`() throws {
    let listing = try Self.items(
      """
      item: {id: $.id, title: $.id, images: {thumbnail: {path: $.v, template: "https://c.example/{cat}/{value}"}}}
      """,
      #"{"id": "a", "v": "{cat}{value}.png", "cat": "{value}"}"#
    )

    #expect(
      listing.sections[0].items.flatMap(\.images).map(\.url)
        == ["https://c.example/%7Bvalue%7D/{cat}{value}.png"]
    )
  }

  @Test func `an empty list gives way to the items at the next path`() throws {
    func titles(_ body: String) throws -> [String] {
      try decode(body, "items: [$.data, $.list]\nitem: {id: $.id, title: $.id}").sections[0].items
        .map(\.title)
    }

    #expect(try titles(#"{"data": [], "list": [{"id": "a"}]}"#) == ["a"])
    #expect(try titles(#"{"data": [{"id": "b"}], "list": [{"id": "a"}]}"#) == ["b"])
    #expect(try titles(#"{"data": [], "list": []}"#) == [])
    #expect(try titles(#"{"data": []}"#) == [])
  }

  @Test func `a record for which the program fails is skipped, with the reason`() throws {
    let listing = try decode(
      #"[{"id": "a", "n": "1"}, {"id": "b", "n": "x\u001b[1m"}, {"id": "c", "n": "3"}]"#,
      "items: $\nrecords: '.n |= tonumber'\nitem: {id: $.id, title: $.n}"
    )

    #expect(listing.sections[0].items.map(\.title) == ["1", "3"])
    #expect(listing.skipped.count == 1 && listing.skipped.first?.index == 1)
    let reason = listing.skipped.first?.reason ?? ""
    #expect(reason.hasPrefix("records: ") && !reason.contains("\u{1b}"))
  }

  @Test(
    "what stands at the path of the next page and is no address ends no listing silently",
    arguments: [
      (#"{"href": "/b"}"#, "an object"), (#"["/b"]"#, "a list"), ("true", "true or false"),
      ("7", "a number"),
    ]
  )
  func nextPages(_ value: String, _ words: String) throws {
    func page(_ value: String) throws -> DecodedListing {
      try decode(
        #"{"items": [{"id": "a"}], "next": \#(value)}"#,
        "items: $.items\npaging: {next: $.next}\nitem: {id: $.id, title: $.id}"
      )
    }

    let listing = try page(value)
    #expect(listing.nextPage == nil && listing.sections[0].items.count == 1)
    #expect(listing.invalidNext?.contains(words) == true)
    for end in ["null", "false", "[]", "{}", #""""#, "0", #"{"href": null}"#] {
      let last = try page(end)
      #expect(last.nextPage == nil && last.invalidNext == nil, "\(end)")
    }
    #expect(try page(#""/b""#).nextPage == "/b")
  }

  @Test func `a total is read from a text too`() throws {
    let listing = try decode(
      #"{"total": "10", "items": [{"id": "a"}]}"#,
      "items: $.items\nitem: {id: $.id, title: $.id}"
    )

    #expect(listing.total == 10)
  }

  @Test func `a price of 0 means none in every notation`() throws {
    let listing = try Self.items(
      "item: {id: $.id, title: $.id, salePrice: [{path: $.sale, none: 0}, $.price]}",
      #"{"id": "a", "sale": "0,00", "price": 10}, {"id": "b", "sale": "€0.00", "price": 10}, {"id": "c", "sale": "0,50 €", "price": 10}"#
    )

    #expect(listing.sections[0].items.map(\.salePrice?.minorUnits) == [1000, 1000, 50])
  }

  @Test func `the cells of a row do not run together`() throws {
    let listing = try Self.items(
      "text: html\nitem: {id: $.id, title: $.id, description: $.d}",
      #"{"id": "a", "d": "<table><tr><td>Weight<td>250 g</tr><tr><th>Size</th><td>M</td></tr></table>"}"#
    )

    #expect(listing.sections[0].items.map(\.description) == ["Weight 250 g\nSize M"])
  }

  @Test func `the text of an XML element with attributes is read wherever a text is expected`()
    throws
  {
    let xml = """
      <r><status c="x">200</status><next t="u">/b</next>
      <it><id>a</id><p c="y">5</p><n a="1">500000000</n><cur k="v">EUR</cur></it></r>
      """
    let listing = try decode(
      xml,
      """
      read: xml
      items: $.r.it
      paging: {next: $.r.next}
      envelope: {status: $.r.status}
      item: {id: $.id, title: $.id, salePrice: {units: $.p, nanos: $.n, currency: $.cur}}
      """
    )

    let item = try #require(listing.sections[0].items.first)
    #expect(item.salePrice == Price(minorUnits: 550, currency: "EUR"))
    #expect(listing.nextPage == "/b")
    let failed = xml.replacing("200", with: "500")
    #expect(
      decodingError(
        failed,
        "read: xml\nitems: $.r.it\nenvelope: {status: $.r.status}\nitem: {id: $.id, title: $.id}"
      ) != nil
    )
  }

  @Test func `an XML element that is not repeated is a list of one, and so is a section`() throws {
    func ids(_ xml: String, _ items: String) throws -> [String] {
      try decode(xml, "read: xml\nitems: \(items)\nitem: {id: $.id, title: $.id}").sections[0]
        .items.map(\.id)
    }
    let (one, two) = (
      "<r><it n='1'><id>a</id></it></r>", "<r><it><id>a</id></it><it><id>b</id></it></r>"
    )

    #expect(try ids(one, "$.r.it") == ["a"] && ids(one, "'$.r.it[*]'") == ["a"])
    #expect(try ids(two, "$.r.it") == ["a", "b"] && ids(two, "'$.r.it[*]'") == ["a", "b"])
    let sections = try decodeSource(
      bytes("<r><cat id='c'><it><id>a</id></it></cat></r>"),
      at: 0,
      using: catalog(
        "read: xml\nitems: $.it\nitem: {id: $.id, title: $.id}",
        sections: "{url: x, each: '$.r.cat[*]', key: \"$['@id']\"}"
      )
    )
    #expect(sections.sections.map(\.key) == ["c"] && sections.sections[0].items.map(\.id) == ["a"])
  }
}
