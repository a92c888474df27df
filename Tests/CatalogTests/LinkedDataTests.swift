import Foundation
import Testing

@testable import Catalog

/// Products of schema.org in JSON-LD, in plain documents and in pages.
struct LinkedDataTests {
  private func items(_ body: String) throws -> [StoreItem] {
    try decode(body, "format: json-ld", currency: "EUR").sections[0].items
  }

  private func item(_ members: String) throws -> StoreItem {
    try #require(
      try items(#"{"@context": "https://schema.org", "@type": "Product", \#(members)}"#).first
    )
  }

  private static let cup = """
    {"@context": "https://schema.org", "@type": "Product", "sku": "C1", "name": "Cup",
     "offers": {"@type": "Offer", "price": "7.50", "priceCurrency": "EUR"}}
    """

  // MARK: - Where products are

  @Test(arguments: [
    "ITEM", "[ITEM]",
    #"{"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, ITEM]}"#,
    #"{"@type": "ItemPage", "mainEntity": ITEM}"#,
    #"{"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "position": 1, "item": ITEM}]}"#,
    #"{"@type": "ItemList", "itemListElement": ITEM}"#,
    #"{"@type": "OfferCatalog", "itemListElement": [{"@type": "OfferCatalog", "itemListElement": [ITEM]}]}"#,
    #"{"@type": "CollectionPage", "mainEntity": {"@type": "ItemList", "itemListElement": {"@list": [ITEM]}}}"#,
  ])
  func `a product is found at any depth`(_ around: String) throws {
    let items = try items(around.replacing("ITEM", with: Self.cup))

    #expect(items.map(\.id) == ["C1"])
    #expect(items.map(\.title) == ["Cup"])
    #expect(items[0].salePrice == Price(minorUnits: 750, currency: "EUR"))
  }

  @Test(arguments: [
    #""Product""#, #"["Product", "Book"]"#, #""https://schema.org/Product""#,
    #""http://schema.org/Product""#, #"["http://schema.org/Product"]"#, #""schema:Product""#,
    #""IndividualProduct""#,
  ])
  func `a type may be one text or a list, with or without a prefix`(_ type: String) throws {
    let items = try items(#"{"@type": \#(type), "sku": "A", "name": "Cup"}"#)

    #expect(items.map(\.title) == ["Cup"])
  }

  @Test func `prefixed names and typed values are read too`() throws {
    let items = try items(
      """
      [{"@type": ["http://schema.org/Product"], "http://schema.org/sku": [{"@value": "A"}],
        "http://schema.org/name": [{"@value": "Tasse", "@language": "de"}],
        "http://schema.org/image": [{"@id": "https://c.example/a.jpg"}],
        "http://schema.org/offers": [{"@type": ["http://schema.org/Offer"],
          "http://schema.org/price": [{"@value": "4.00"}],
          "http://schema.org/availability": [{"@id": "http://schema.org/SoldOut"}]}]}]
      """
    )

    #expect(items.map(\.id) == ["A"])
    #expect(items[0].title == "Tasse")
    #expect(items[0].images.map(\.url) == ["https://c.example/a.jpg"])
    #expect(items[0].salePrice?.minorUnits == 400)
    #expect(items[0].badges == ["SoldOut"])
  }

  @Test func `products that are only compared or reviewed are no items`() throws {
    let items = try items(
      """
      [{"@type": "Product", "sku": "A", "name": "Cup", "isRelatedTo": {"@type": "Product", "sku": "B", "name": "Jug"}},
       {"@type": "Review", "itemReviewed": {"@type": "Product", "name": "Cup"}},
       {"@type": "WebPage", "about": {"@type": "Product", "@id": "https://s.example/other#product"}}]
      """
    )

    #expect(items.map(\.id) == ["A"])
  }

  @Test func `a product within an offer is an item`() throws {
    let items = try items(
      """
      {"@type": "OfferCatalog", "name": "Menu", "itemListElement": [
        {"@type": "Offer", "price": 3, "priceCurrency": "EUR", "itemOffered": {"@type": "Product", "sku": "A", "name": "Tea"}},
        {"@type": "Offer", "price": 4, "priceCurrency": "EUR", "itemOffered": {"sku": "B", "name": "Milk"}},
        {"@type": "Offer", "price": 9, "itemOffered": {"@type": "Service", "name": "Delivery"}}]}
      """
    )

    #expect(items.map(\.id) == ["A", "B"])
    #expect(items.map { $0.salePrice?.minorUnits } == [300, 400])
  }

  @Test func `the variants of a group are items that inherit the group's values`() throws {
    let group = """
      {"@type": "ProductGroup", "@id": "#g", "productGroupID": "G", "name": "Tee", "description": "Soft",
       "image": "https://c.example/g.jpg", "brand": {"@type": "Brand", "name": "Nadel"}, "hasVariant": [
        {"@type": "Product", "sku": "S", "name": "Tee S", "offers": {"price": 9, "priceCurrency": "EUR"}},
        {"@id": "#m"}]}
      """
    let variant = """
      {"@type": "Product", "@id": "#m", "sku": "M", "image": "https://c.example/m.jpg",
       "isVariantOf": {"@id": "#g"}, "offers": {"price": 10, "priceCurrency": "EUR"}}
      """

    for body in ["[\(group), \(variant)]", "[\(variant), \(group)]"] {
      let items = try items(body).sorted { $0.id > $1.id }
      #expect(items.map(\.id) == ["S", "M"])
      #expect(items.map(\.title) == ["Tee S", "Tee"])
      #expect(items.map(\.description) == ["Soft", "Soft"])
      #expect(items.map { $0.images[0].url.suffix(5) } == ["g.jpg", "m.jpg"])
      #expect(items.map { $0.salePrice?.minorUnits } == [900, 1000])
    }
  }

  @Test func `a group without variants is an item`() throws {
    let items = try items(#"{"@type": "ProductGroup", "productGroupID": "G", "name": "Tee"}"#)

    #expect(items.map(\.id) == ["G"])
  }

  @Test func `a reference is resolved to the object with that id`() throws {
    let items = try items(
      """
      {"@graph": [
        {"@type": "WebPage", "mainEntity": {"@id": "#p"}},
        {"@type": "Product", "@id": "#p", "sku": "A", "name": "Cup", "image": [{"@id": "#i"}], "offers": {"@id": "#o"}},
        {"@type": "ImageObject", "@id": "#i", "url": "https://c.example/a.jpg"},
        {"@type": "Offer", "@id": "#o", "price": "2.00", "priceCurrency": "EUR"},
        {"@id": "#p", "description": "Blue"}]}
      """
    )

    #expect(items.map(\.id) == ["A"])
    #expect(items[0].images.map(\.url) == ["https://c.example/a.jpg"])
    #expect(items[0].salePrice?.minorUnits == 200)
    #expect(items[0].description == "Blue")
  }

  @Test func `an offer and a group that refer to a product add to it, in any order`() throws {
    let product = ##"{"@type": "Product", "@id": "#p", "sku": "A", "name": "Cup"}"##
    let offer = ##"{"@type": "Offer", "price": 3, "itemOffered": {"@id": "#p"}}"##
    let group =
      ##"{"@type": "ProductGroup", "description": "Soft", "hasVariant": {"@id": "#p"}}"##

    for body in ["[\(product), \(offer), \(group)]", "[\(group), \(offer), \(product)]"] {
      let items = try items(body)
      #expect(items.map(\.id) == ["A"])
      #expect(items[0].salePrice?.minorUnits == 300)
      #expect(items[0].description == "Soft")
    }
  }

  @Test func `a variant without a name has that of its group, in any order`() throws {
    let variant = ##"{"@type": "Product", "@id": "#p", "sku": "A", "offers": {"price": 3}}"##
    let group = ##"{"@type": "ProductGroup", "name": "Cup", "hasVariant": {"@id": "#p"}}"##

    for body in ["[\(variant), \(group)]", "[\(group), \(variant)]"] {
      let items = try items(body)
      #expect(items.map(\.id) == ["A"])
      #expect(items.map(\.title) == ["Cup"])
    }
  }

  @Test func `different products that share an id stay separate`() throws {
    let items = try items(
      """
      [{"@type": "Product", "@id": "/p", "sku": "A", "name": "Cup", "offers": {"price": 1}},
       {"@type": "Product", "@id": "/p", "sku": "B", "name": "Jug"}]
      """
    )

    #expect(items.map(\.id) == ["A", "B"])
    #expect(items.map { $0.salePrice?.minorUnits } == [100, nil])
  }

  @Test func `a product published twice is one item with the values of both`() throws {
    let items = try items(
      "[\(#"{"@type": "Product", "sku": "C1", "name": "Cup", "image": "/c.jpg"}"#), \(Self.cup)]"
    )

    #expect(items.map(\.id) == ["C1"])
    #expect(items[0].salePrice?.minorUnits == 750)
    #expect(items[0].images.map(\.url) == ["/c.jpg"])
  }

  // MARK: - Fields

  @Test func `the id is the first available identifier of a product`() throws {
    let names = [
      "sku", "productID", "gtin", "gtin14", "gtin13", "gtin12", "gtin8", "mpn", "@id", "url",
    ]

    for first in names.indices {
      let members = names[first...].map { #""\#($0)": "https://s.example/\#($0)""# }
      let item = try item(members.joined(separator: ", ") + #", "name": "Cup""#)
      #expect(item.id == "https://s.example/\(names[first])")
    }
  }

  @Test func `an id that only the page has is the last resort`() throws {
    let named = ##""@id": "#product", "name": "Cup""##

    #expect(try item(named).id == "#product")
    #expect(try item(named + #", "url": "/cup""#).id == "/cup")
    #expect(try item(named + #", "offers": {"price": 1, "url": "/offer"}"#).id == "/offer")
  }

  @Test(arguments: [
    (#""Tea &amp; cup""#, "Tea & cup"), (#""Caf&eacute; &#8211; x &lt;b&gt;""#, "Café – x <b>"),
    (#""A < B &amp; C""#, "A < B & C"), (#""AT&T""#, "AT&T"), (#"["Tasse", "Cup"]"#, "Tasse"),
    (#"{"@value": "Tasse", "@language": "de"}"#, "Tasse"), (#""김치""#, "김치"),
  ])
  func `HTML entities in a name are decoded`(name: String, title: String) throws {
    #expect(try item(#""sku": "A", "name": \#(name)"#).title == title)
  }

  @Test func `a description becomes plain text`() throws {
    let text = #"<p>Soft &amp; warm.</p><ul><li>blue<li>red</ul><script>x()</script>a < b"#

    let item = try item(#""sku": "A", "name": "Cup", "description": "\#(text)""#)

    #expect(item.description == "Soft & warm.\nblue\nred\na < b")
  }

  @Test(
    arguments: [
      (#"{"@type": "Offer", "price": "8.50", "priceCurrency": "EUR"}"#, 850, 850, "EUR"),
      (#"{"price": 8.5, "priceCurrency": "USD"}"#, 850, 850, "USD"),
      (
        #"[{"price": 9, "priceCurrency": "EUR"}, {"price": "8.00", "priceCurrency": "EUR"}]"#, 800,
        800, "EUR"
      ),
      (
        #"[{"price": 9, "priceCurrency": "EUR"}, {"price": 8, "priceCurrency": "USD"}]"#, 900, 900,
        "EUR"
      ),
      (
        #"[{"price": 9, "availability": "InStock"}, {"price": 8, "availability": "https://schema.org/OutOfStock"}]"#,
        900, 900, "EUR"
      ),
      (
        #"{"@type": "AggregateOffer", "lowPrice": 5, "highPrice": 7, "priceCurrency": "EUR"}"#,
        500, 500, "EUR"
      ),
      (#"{"@type": "AggregateOffer", "offers": [{"price": 6}, {"price": 5}]}"#, 500, 500, "EUR"),
      (#"{"priceSpecification": {"price": 4, "priceCurrency": "USD"}}"#, 400, 400, "USD"),
      (
        #"{"price": 4, "priceSpecification": {"priceType": "https://schema.org/ListPrice", "price": 6}}"#,
        400, 600,
        "EUR"
      ),
      (
        #"{"priceSpecification": [{"priceType": "StrikethroughPrice", "price": 6, "priceCurrency": "EUR"}, {"price": 4, "priceCurrency": "EUR"}]}"#,
        400, 600, "EUR"
      ),
      (
        #"{"priceSpecification": [{"priceType": "SalePrice", "price": 4}, {"priceType": "InvoicePrice", "price": 1}, {"price": 3, "validForMemberTier": {"name": "gold"}}]}"#,
        400, 400, "EUR"
      ),
      (
        #"{"price": 4, "priceCurrency": "EUR", "priceSpecification": {"priceType": "ListPrice", "price": 6, "priceCurrency": "USD"}}"#,
        400, 400, "EUR"
      ),
      (#"{"priceSpecification": {"priceType": "ListPrice", "price": 6}}"#, 600, 600, "EUR"),
    ] as [(String, Int, Int, String)]
  )
  func `the price is that of the best offer`(
    offers: String,
    sale: Int,
    normal: Int,
    currency: String
  ) throws {
    let item = try item(#""sku": "A", "name": "Cup", "offers": \#(offers)"#)

    #expect(item.salePrice == Price(minorUnits: sale, currency: currency))
    #expect(item.normalPrice == Price(minorUnits: normal, currency: currency))
  }

  @Test func `an unreadable price is dropped and reported`() throws {
    let listing = try decode(
      #"{"@type": "Product", "sku": "A", "name": "Cup", "offers": {"price": "on request"}}"#,
      "format: json-ld",
      currency: "EUR"
    )

    #expect(listing.sections[0].items[0].salePrice == nil)
    #expect(Set(listing.skipped.map(\.field)) == ["price"])
  }

  @Test(
    arguments: [
      (#""https://c.example/a.jpg""#, ["https://c.example/a.jpg"]),
      (#"["/a.jpg", "/b.jpg", "/a.jpg", ""]"#, ["/a.jpg", "/b.jpg"]),
      (#"{"@type": "ImageObject", "url": "/a.jpg"}"#, ["/a.jpg"]),
      (#"[{"contentUrl": "/a.jpg", "url": "/a.html"}, "/b.jpg"]"#, ["/a.jpg", "/b.jpg"]),
      (#""/a.jpg?w=1&amp;copy=2""#, ["/a.jpg?w=1&copy=2"]),
      (#"{"@id": "/nothing"}"#, []),
    ] as [(String, [String])]
  )
  func `pictures may be texts or objects, one or many`(image: String, urls: [String]) throws {
    let item = try item(#""sku": "A", "name": "Cup", "image": \#(image)"#)

    #expect(item.images.map(\.url) == urls)
    #expect(item.images.map(\.role) == urls.indices.map { $0 == 0 ? .thumbnail : .gallery })
  }

  @Test func `an unavailable product has its availability as a badge`() throws {
    func badges(_ availability: String) throws -> [String] {
      try item(
        #""sku": "A", "name": "C", "offers": {"price": 1, "availability": "\#(availability)"}"#
      ).badges
    }

    #expect(try badges("https://schema.org/InStock") == [])
    #expect(try badges("http://schema.org/OutOfStock") == ["OutOfStock"])
    #expect(try badges("PreOrder") == ["PreOrder"])
  }

  @Test func `other members keep their names, for custom mappings`() throws {
    let body = """
      {"@type": "Product", "sku": 7, "name": "Cup", "brand": {"@type": "Brand", "name": "Nadel &amp; Co"},
       "category": ["Kitchen", "Cups"], "aggregateRating": {"ratingValue": 5}}
      """

    let item = try decode(
      body,
      "format: json-ld\nitem: {badges: $.category, deliveryTypes: $.brand}",
      currency: "EUR"
    ).sections[0].items[0]

    #expect(item.id == "7")
    #expect(item.badges == ["Kitchen", "Cups"])
    #expect(item.deliveryTypes == ["Nadel & Co"])
  }
}
