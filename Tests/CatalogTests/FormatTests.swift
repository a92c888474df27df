import Testing

@testable import Catalog

struct FormatTests {
  @Test(arguments: ["[ITEM]", #"{"products": [ITEM], "total": 1, "skip": 0, "limit": 30}"#])
  func `dummyjson reads its pictures and whole prices`(envelope: String) throws {
    let item = """
      {"id": 1, "title": "Mascara", "description": "Long", "price": 9.99, "tags": ["beauty"],
       "shippingInformation": "Ships in 3 days", "thumbnail": "https://c.example/1/thumbnail.webp",
       "images": ["https://c.example/1/1.webp", "https://c.example/1/2.webp"]}
      """
    let body = envelope.split(separator: "ITEM").joined(separator: item)

    let listing = try decode(body, "format: dummyjson", currency: "USD")

    let decoded = try #require(listing.sections.first?.items.first)
    #expect(decoded.id == "1")
    #expect(decoded.salePrice == Price(minorUnits: 999, currency: "USD"))
    #expect(decoded.deliveryTypes == ["Ships in 3 days"])
    #expect(decoded.images.map(\.role) == [.thumbnail, .gallery, .gallery])
    #expect(decoded.images.last?.url == "https://c.example/1/2.webp")
  }

  @Test func `shopify reads the first variant's prices`() throws {
    let body = """
      {"products": [{"id": 632910392, "title": "Pod", "body_html": "<p>x</p>", "tags": ["new"],
        "variants": [{"id": 1, "price": "199.00", "compare_at_price": "249.00"}, {"price": "1.00"}],
        "images": [{"id": 5, "src": "https://s.example/a.jpg"}, {"src": "https://s.example/b.jpg"}]}]}
      """

    let item = try decode(body, "format: shopify", currency: "USD").sections.first?.items.first

    #expect(item?.id == "632910392")
    #expect(item?.salePrice?.minorUnits == 19900)
    #expect(item?.normalPrice?.minorUnits == 24900)
    #expect(item?.badges == ["new"])
    #expect(item?.images.map(\.url.last) == ["g", "g", "g"])
    #expect(item?.images.map(\.role) == [.thumbnail, .gallery, .gallery])
  }

  @Test(
    arguments: [
      #""prices": {"price": "1800", "regular_price": "2000", "currency_minor_unit": 2}"#,
      #""prices": {"price": "18", "regular_price": "20", "currency_minor_unit": 0}"#,
      #""price": "18.00", "regular_price": "20.00""#,
    ])
  func `woocommerce prices use the scale that the item gives`(prices: String) throws {
    let body = """
      [{"id": 7, "name": "Beanie", \(prices), "tags": [{"id": 1, "name": "warm"}],
        "images": [{"src": "https://w.example/a.jpg", "thumbnail": "https://w.example/t.jpg"}]}]
      """

    let item = try decode(body, "format: woocommerce", currency: "EUR").sections.first?.items.first

    #expect(item?.salePrice?.minorUnits == 1800)
    #expect(item?.normalPrice?.minorUnits == 2000)
    #expect(item?.badges == ["warm"])
    #expect(item?.images.first?.url == "https://w.example/t.jpg")
  }

  @Test func `a woocommerce error in the body is reported`() {
    let body = #"{"code": "no_route", "message": "x", "data": {"status": 404}}"#

    #expect(decodingError(body, "format: woocommerce")?.code == .reportedFailure)
  }

  @Test func `fakestore reads one picture per item`() throws {
    let body = """
      [{"id": 1, "title": "Bag", "price": 109.95, "category": "men's clothing", "description": "d",
        "image": "https://f.example/1.png", "rating": {"rate": 3.9}}]
      """

    let item = try decode(body, "format: fakestore", currency: "USD").sections.first?.items.first

    #expect(item?.salePrice?.minorUnits == 10995)
    #expect(item?.images == [ImageReference(role: .thumbnail, url: "https://f.example/1.png")])
  }

  @Test func `every built-in format has its own mapping and fingerprint`() throws {
    let fingerprints = try FormatFiles.names.map { try Format(named: $0).mapping().fingerprint }

    #expect(Set(fingerprints).count == FormatFiles.names.count)
    #expect(try catalog("format: banchan").mapping == catalog().mapping)
  }

  @Test(
    arguments: [
      "item: {title: $.name}", "items: $.menu", "item: {images: {top: $.big}}",
      "detail: {url: 'd/{id}', prices: $.cost}", "item: {badges: null}",
      "item: {salePrice: {path: $.s_price, scale: 2}}", "envelope: {title: $.header}",
      "detail: {url: 'd/{id}', notes: {point: $.points}}",
    ])
  func `an override changes the fingerprint`(lines: String) throws {
    let plain = try catalog("format: banchan").mapping

    let overridden = try catalog("format: banchan\n\(lines)").mapping

    #expect(overridden.fingerprint != plain.fingerprint)
  }

  @Test func `any change of a source of sections changes its fingerprint`() throws {
    let path = try JSONPath(parsing: "$.a")
    let other = try JSONPath(parsing: "$.b")
    func source(_ key: String, _ title: String?, _ subtitle: String?, _ url: String)
      -> SectionSource
    {
      SectionSource(key: key, title: title, subtitle: subtitle, url: url)
    }
    func only(_ url: String, _ parts: CombinedSections) -> SectionSource {
      SectionSource(key: "", url: url, parts: parts)
    }
    let sources = [
      source("a", nil, nil, "u"), source("b", nil, nil, "u"),
      source("a", "t", nil, "u"), source("a", nil, "t", "u"),
      source("a", "", nil, "u"), source("a", "null", nil, "u"),
      source("a", nil, nil, "v"), source("a\",\"b", nil, nil, "u"),
      SectionSource(key: "a", url: "u", parts: CombinedSections(each: path, key: path)),
      only("u", CombinedSections(each: path, key: path)),
      only("v", CombinedSections(each: path, key: path)),
      only("u", CombinedSections(each: other, key: path)),
      only("u", CombinedSections(each: path, key: other)),
      only("u", CombinedSections(each: path, key: path, title: path)),
      only("u", CombinedSections(each: path, key: path, subtitle: path)),
    ]

    #expect(Set(sources.map(\.fingerprint)).count == sources.count)
  }
}
