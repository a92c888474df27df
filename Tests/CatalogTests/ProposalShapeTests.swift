import Testing

@testable import Catalog

/// Proposals for the ways in which shops write values, each tried with three items of one
/// response.
struct ProposalShapeTests {
  /// A way to write a value, and the catalog file's line that reads it.
  struct Way: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Members of an item; NUMBER is 1, 2 or 3.
    let item: String
    /// Members beside the list of items.
    var around = #""x": 1"#
    /// The lines that the file must contain, without their comments.
    let lines: [String]
  }

  static let ways: [Way] = [
    Way(
      testDescription: "a price with a code behind it",
      item: #""price": "24.45 EUR""#,
      lines: ["currency: EUR", "  salePrice: $.price"]
    ),
    Way(
      testDescription: "a sign that one currency has",
      item: #""price": "₦1,299.00""#,
      lines: ["currency: NGN"]
    ),
    Way(
      testDescription: "a sign that many have, told by the response",
      item: #""price": "$12.990""#,
      around: #""shop": {"currency": "CLP"}"#,
      lines: ["currency: CLP"]
    ),
    Way(
      testDescription: "a sign behind a price that nobody calls so",
      item: #""gia": "12.99NUMBER ₫""#,
      lines: ["currency: VND", "  salePrice: $.gia"]
    ),
    Way(
      testDescription: "a price with taxes in it",
      item: #""価格": "￥1,98NUMBER（税込）""#,
      lines: ["currency: JPY", "  salePrice: $.価格"]
    ),
    Way(
      testDescription: "an amount beside its currency that nobody calls a price",
      item: #""priceMoney": {"amountMinor": 420NUMBER, "currency": "EUR"}"#,
      lines: ["  salePrice: {path: $.priceMoney.amountMinor, minorUnits: true}"]
    ),
    Way(
      testDescription: "amounts that were calculated, in variants",
      item: #""variants": [{"cost": {"calculated_amount": 4.2, "original_amount": 5}}]"#
        .replacing("cost", with: "calculated_price"),
      lines: [
        "  salePrice: \"$.variants[0].calculated_price.calculated_amount\"",
        "  normalPrice: \"$.variants[0].calculated_price.original_amount\"",
      ]
    ),
    Way(
      testDescription: "a number whose unit stands beside it",
      item: #""price": {"amount": 420NUMBER, "currency": "EUR", "unit": "cents"}"#,
      lines: ["  salePrice: {path: $.price.amount, minorUnits: true}"]
    ),
    Way(
      testDescription: "a fee beside a price",
      item: #""fee": "2.50 EUR", "now": {"it": "4.2NUMBER EUR"}"#,
      lines: ["  salePrice: $.now.it"]
    ),
    Way(
      testDescription: "pictures by number",
      item: #""images": {"1": "/NUMBER-1.png", "2": "/NUMBER-2.png"}"#,
      lines: ["    thumbnail: \"$.images['1']\"", "    gallery: \"$.images[*]\""]
    ),
    Way(
      testDescription: "a picture in sizes, each an object",
      item:
        #""images": {"small": {"src": "/s-NUMBER.png"}, "large": {"src": "/l-NUMBER.png"}}"#,
      lines: ["    thumbnail: $.images.small.src", "    gallery: $.images.large.src"]
    ),
    Way(
      testDescription: "a picture in sizes, beside one another",
      item: #""thumbnailImage": "/s-NUMBER.png", "largeImage": "/l-NUMBER.png""#,
      lines: ["    thumbnail: $.thumbnailImage", "    gallery: $.largeImage"]
    ),
    Way(
      testDescription: "a text that is shown, beside its label",
      item: #""info": {"description": {"DisplayValue": "Long NUMBER", "Label": "Text"}}"#,
      lines: ["  description: $.info.description.DisplayValue"]
    ),
    Way(
      testDescription: "pictures in sizes that are numbers",
      item:
        #""images": [{"url_75x75": "/s.png", "url_570xN": "/m.png", "url_fullxfull": "/l.png"}]"#,
      lines: ["    gallery: \"$.images[*].url_fullxfull\""]
    ),
    Way(
      testDescription: "a range as text",
      item: #""price": "10.00 EUR - 12.50 EUR""#,
      lines: ["currency: EUR", "  salePrice: $.price"]
    ),
    Way(
      testDescription: "a range as two numbers",
      item: #""price": {"min": 5, "max": 7.5}"#,
      lines: ["  salePrice: $.price.min"]
    ),
    Way(
      testDescription: "a range as two prices",
      item: #""range": {"max_price": 7.5, "min_price": 5}"#,
      lines: ["  salePrice: $.range.min_price"]
    ),
    Way(
      testDescription: "an amount that is called value",
      item: #""price": {"currency": "EUR", "value": "4.20"}"#,
      lines: ["  salePrice: $.price.value"]
    ),
    Way(
      testDescription: "a divisor",
      item: #""price": {"amount": 420, "divisor": 100, "currency_code": "CAD"}"#,
      lines: ["  salePrice: {path: $.price.amount, divisor: 100}"]
    ),
    Way(
      testDescription: "cents beside their text",
      item: #""price": 7NUMBER0, "display": "$7.NUMBER0""#,
      lines: ["  salePrice: $.display"]
    ),
    Way(
      testDescription: "a special price that only some have",
      item: #""price": 9, "special_price": ["7.50", "", null][NUMBER]"#,
      lines: ["  salePrice: [$.special_price, $.price]", "  normalPrice: $.price"]
    ),
    Way(
      testDescription: "a sale price of zero, which is none",
      item: #""price": 9, "sale_price": 0, "retail_price": 0"#,
      lines: ["  salePrice: $.price"]
    ),
    Way(
      testDescription: "a price by another word",
      item: #""sales_price": 3000, "name": "두부 NUMBER""#,
      lines: ["currency: KRW", "  salePrice: $.sales_price"]
    ),
    Way(
      testDescription: "names shortened as in Korean services",
      item: #""menuNm": "국밥 NUMBER", "name": null, "salePrc": "2,500", "orgPrc": "3,000""#,
      lines: ["  title: $.menuNm", "  salePrice: $.salePrc", "  normalPrice: $.orgPrc"]
    ),
    Way(
      testDescription: "a price by its currency",
      item: #""price": {"EUR": 12.5, "USD": 14}"#,
      lines: ["currency: EUR", "  # salePrice: $.price.EUR"]
    ),
    Way(
      testDescription: "a price before a reduction that its parent tells",
      item: """
        "priceRange": {"minVariantPrice": {"amount": "5.0", "currencyCode": "EUR"}},
        "compareAtPriceRange": {"minVariantPrice": {"amount": "6.0", "currencyCode": "EUR"}}
        """,
      lines: [
        "  salePrice: $.priceRange.minVariantPrice.amount",
        "  normalPrice: $.compareAtPriceRange.minVariantPrice.amount",
      ]
    ),
    Way(
      testDescription: "attributes as names and values",
      item:
        #""price": 1, "more": [{"code": "image", "value": "/NUMBER.png"}, {"code": "summary", "value": "a b"}]"#,
      lines: [
        "    thumbnail: \"$.more[?@.code == 'image'].value\"",
        "  description: \"$.more[?@.code == 'summary'].value\"",
      ]
    ),
    Way(
      testDescription: "a text in several languages",
      item: #""description": {"de": "Tasse NUMBER", "en": "Cup NUMBER"}"#,
      lines: ["  description: $.description.de"]
    ),
    Way(
      testDescription: "a position as GeoJSON has it, and an address",
      item: #""at": {"type": "Point", "coordinates": [126.98, 37.NUMBER]}, "주소": "서울 NUMBER길""#,
      lines: [
        "  latitude: \"$.at.coordinates[1]\"", "  longitude: \"$.at.coordinates[0]\"",
        "  address: $.주소",
      ]
    ),
    Way(
      testDescription: "file names under an address that the response has",
      item: #""image": "NUMBER.png""#,
      around: #""config": {"image_base_url": "https://cdn.example/full"}"#,
      lines: [
        "    thumbnail: {path: $.image, template: \"https://cdn.example/full/{value}\"}"
      ]
    ),
    Way(
      testDescription: "pictures parted by commas",
      item: #""images": "/NUMBER.png, /NUMBERb.png""#,
      lines: ["    gallery: {path: $.images, split: \",\"}"]
    ),
    Way(
      testDescription: "commas within one address",
      item: #""images": ["https://cdn.example/w_300,h_200/NUMBER.png"]"#,
      lines: ["    gallery: $.images"]
    ),
    Way(
      testDescription: "texts and objects mixed",
      item: #""photos": ["/NUMBER.png", {"src": "/NUMBERb.png"}]"#,
      lines: ["    gallery: {all: [\"$.photos[*]\", \"$.photos[*].src\"]}"]
    ),
    Way(
      testDescription: "a picture in two sizes",
      item: #""images": {"small": "/NUMBER-s.png", "large": "/NUMBER-l.png"}"#,
      lines: ["    thumbnail: $.images.small", "    gallery: $.images.large"]
    ),
    Way(
      testDescription: "pictures under a name that says nothing",
      item: #""assets": [{"url": "/NUMBER.png"}]"#,
      lines: ["    gallery: \"$.assets[*].url\""]
    ),
    Way(
      testDescription: "the logo of a brand is no picture of the item",
      item: #""brand": {"logo": "/brand.png", "image": "/b.png"}, "photo": "/NUMBER.png""#,
      lines: ["    thumbnail: $.photo"]
    ),
    Way(
      testDescription: "a thumbnail that some have as data",
      item:
        #""thumb": ["/NUMBER.png", "data:image/png;base64,AA=="][NUMBER], "photos": ["/NUMBERb.png"]"#,
      lines: ["    thumbnail: [$.thumb, \"$.photos[0]\"]"]
    ),
  ]

  @Test(arguments: ways)
  func `a proposal reads the shapes that shops use`(_ way: Way) throws {
    let items = (1...3).map { number in
      let choices = way.item.split(separator: "][NUMBER]", omittingEmptySubsequences: false)
      // `[a, b][NUMBER]` stands for a different value in each item.
      var item = String(choices[0])
      if choices.count > 1, let open = item.lastIndex(of: "[") {
        let values = item[item.index(after: open)...].split(separator: ", ")
        item = "\(item[..<open])\(values[number % values.count])\(choices[1])"
      }
      return #"{"id": \#(number), "name": "Cup \#(number)", \#(item)}"#
        .replacing("NUMBER", with: "\(number)")
    }
    let body = bytes("{\(way.around), \"goods\": [\(items.joined(separator: ","))]}")

    let file = try ProposedFile(
      of: [ProposedPage(body: body, source: ProposedSource(url: "https://shop.example/cups"))],
      name: "cups.yaml"
    )

    let lines = linesWithoutComments(of: file.text)
    for line in way.lines { #expect(lines.contains(line), "\(line) in\n\(file.text)") }
    #expect(file.listings[0].sections[0].items.map(\.id) == ["1", "2", "3"])
  }

  @Test(
    arguments: [
      (
        #"{"sys": {"type": "Array"}, "items": [{"sys": {"id": "e1", "type": "Entry"}, "fields": {"title": "Cup", "price": 4,"#
          + #""image": {"sys": {"type": "Link", "linkType": "Asset", "id": "a1"}}}}],"#
          + #""includes": {"Asset": [{"sys": {"id": "a1"}, "fields": {"file": {"url": "//cdn.example/a.png"}}}]}}"#,
        "e1", "//cdn.example/a.png"
      ),
      (
        #"{"objects": [{"type": "ITEM", "id": "s1", "item_data": {"name": "Cup", "image_ids": ["i1"],"#
          + #""variations": [{"item_variation_data": {"price_money": {"amount": 400, "currency": "USD"}}}]}},"#
          + #"{"type": "IMAGE", "id": "i1", "image_data": {"url": "https://cdn.example/a.png"}}]}"#,
        "s1", "https://cdn.example/a.png"
      ),
      (
        #"{"data": [{"type": "p", "id": "j1", "attributes": {"name": "Cup", "price": "4.00"},"#
          + #""relationships": {"images": {"data": [{"type": "i", "id": "1"}]}}}],"#
          + #""included": [{"type": "i", "id": "1", "attributes": {"url": "https://cdn.example/a.png"}}]}"#,
        "j1", "https://cdn.example/a.png"
      ),
    ]
  )
  func `objects that items refer to by id are joined`(
    _ body: String,
    _ id: String,
    _ picture: String
  )
    throws
  {
    let source = ProposedSource(url: "https://shop.example/entries")

    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: source)],
      name: "shop.yaml"
    )

    let item = try #require(file.listings[0].sections[0].items.first)
    #expect(item.id == id && item.title == "Cup" && item.salePrice?.minorUnits == 400)
    #expect(item.images.first?.url == picture)
  }

  @Test(arguments: [
    #"<?xml version="1.0"?><rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:id>G1</g:id>"#
      + "<title>Cup</title><g:price>4.00 CHF</g:price></item></channel></rss>",
    "id\ttitle\timage_link\tprice\nG1\tCup\thttps://c.example/1.jpg\t4.00 CHF\n",
    "id\ttitle\tprice\nG1\tCup\t4.00 CHF\n",
  ])
  func `a product feed is proposed by its format`(_ body: String) throws {
    let source = ProposedSource(url: "https://shop.example/feed")

    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: source)],
      name: "shop.yaml"
    )

    #expect(file.text.contains("\nformat: google-merchant\n"))
    #expect(file.text.contains("\ncurrency: CHF   # 0.9: prices have \"CHF\"\n"))
    #expect(file.listings[0].sections[0].items.map(\.id) == ["G1"])
  }

  @Test func `a currency that neither a feed nor the user names is in doubt`() throws {
    let body = bytes("id\ttitle\timage_link\tprice\nG1\tCup\thttps://c.example/1.jpg\t4.00\n")
    let page = ProposedPage(body: body, source: ProposedSource(url: "https://shop.example/feed"))

    let assumed = try ProposedFile(of: [page], name: "shop.yaml")
    let given = try ProposedFile(of: [page], currency: "CHF", name: "shop.yaml")

    #expect(assumed.text.contains("\nformat: google-merchant\n") && assumed.unsure == ["currency"])
    #expect(given.unsure == [])
  }

  @Test(arguments: [
    #"{"columns": ["id", "name", "price"], "rows": [[1, "Cup", 4.5], [2, "Mug", 5]]}"#,
    #"{"range": "A1:C3", "values": [["id", "name", "price"], ["1", "Cup", "4.50"], ["2", "Mug", "5"]]}"#,
    #"[["id", "name", "price"], ["1", "Cup", "4.50"], ["2", "Mug", "5"]]"#,
  ])
  func `the rows of a table get the names of its columns`(_ body: String) throws {
    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    let items = file.listings[0].sections[0].items
    #expect(items.map(\.title) == ["Cup", "Mug"])
    #expect(items.map(\.salePrice?.minorUnits) == [450, 500])
  }

  @Test func `the cause is named if the rows of a table cannot get the names of its columns`() {
    let error = #expect(throws: CatalogError.self) {
      try proposal(of: #"[["id", "name"], ["1", "Cup", "3"], ["2", "Mug", "4"]]"#)
    }

    let cause = "its parts cannot be joined: the transform fails"
    #expect(error?.reason.contains(cause) == true, "\(error?.reason ?? "")")
  }

  @Test func `sections keyed by name in an object are all read`() throws {
    func group(_ name: String) -> String {
      #""\#(name)": {"title": "All \#(name)", "items": [{"id": "\#(name)1", "title": "A \#(name)", "price": 3}]}"#
    }

    let file = try ProposedFile(
      of: [
        ProposedPage(
          body: bytes("{\"groups\": {\(group("cups")), \(group("mugs"))}}"),
          source: ProposedSource(url: "https://shop.example/x")
        )
      ],
      name: "shop.yaml"
    )

    let sections = file.listings[0].sections
    #expect(sections.map(\.key) == ["cups", "mugs"])
    #expect(sections.map(\.title) == ["All cups", "All mugs"])
    #expect(sections.flatMap(\.items).map(\.id) == ["cups1", "mugs1"])
  }

  @Test func `nested sections become the sections`() throws {
    func group(_ name: String) -> String {
      let dishes = [1, 2].map {
        #"{"id": "\#(name)\#($0)", "title": "\#(name) with rice \#($0)", "price": \#($0)}"#
      }
      return #"{"name": "\#(name)", "dishes": [\#(dishes.joined(separator: ", "))]}"#
    }
    let body =
      #"{"menus": [{"id": "m", "name": "Lunch", "groups": [\#(group("soup")), \#(group("side"))]}]}"#

    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    #expect(file.text.contains("each: \"$.menus[*].groups[*]\""), "\(file.text)")
    #expect(file.listings[0].sections.map(\.key) == ["soup", "side"])
  }

  @Test func `the items may be nested deeper in a section`() throws {
    func group(_ key: String) -> String {
      #"{"handle": "\#(key)", "title": "T", "products": {"nodes": [{"id": "\#(key)1", "title": "Cup", "price": 2}]}}"#
    }
    let body = #"{"data": {"collections": {"nodes": [\#(group("a")), \#(group("b"))]}}}"#

    let file = try ProposedFile(
      of: [ProposedPage(body: bytes(body), source: ProposedSource(url: "https://shop.example/x"))],
      name: "shop.yaml"
    )

    #expect(file.listings[0].sections.map(\.key) == ["a", "b"])
    #expect(file.listings[0].sections.flatMap(\.items).map(\.id) == ["a1", "b1"])
  }
}
