import Testing

@testable import Catalog

struct FormatCatalogTests {
  @Test(arguments: BuiltInFormat.allCases)
  func `a format that is shown as a file reads what the format reads`(_ format: BuiltInFormat)
    throws
  {
    let text = try FormatCatalog.catalogFile(of: format.rawValue)

    var shown = try CatalogFile(parsing: bytes(text), file: "shown.yaml").mapping
    shown.item.given = []
    shown.item.placeValues = []
    shown.detail?.given = []
    #expect(shown == (try format.mapping()))
  }

  @Test func `every format has a line that says what it reads`() {
    let entries = FormatCatalog.entries

    #expect(entries.map(\.name) == BuiltInFormat.allCases.map(\.rawValue))
    #expect(entries.allSatisfy { !$0.summary.isEmpty && !$0.summary.contains("\n") })
  }

  @Test func `an unknown format names the nearest`() {
    let error = #expect(throws: CatalogError.self) { try FormatCatalog.catalogFile(of: "shopfy") }

    #expect(error?.nearestKey == "shopify")
  }

  @Test(arguments: [
    #"{"items": [{"id": 4, "sku": "T1", "name": "Tee", "price": 20, "media_gallery_entries": [{"file": "/t.jpg"}], "custom_attributes": [{"attribute_code": "special_price", "value": "15.5"}]}]}"#,
    #"{"data": {"products": {"items": [{"sku": "T1", "name": "Tee", "small_image": {"url": "/t.jpg"}, "price_range": {"minimum_price": {"regular_price": {"value": 20, "currency": "USD"}, "final_price": {"value": 15.5, "currency": "USD"}}}}]}}}"#,
  ])
  func `magento is read from REST and from GraphQL`(_ body: String) throws {
    let item = try #require(
      decode(body, "format: magento", currency: "USD").sections[0].items.first
    )

    #expect(item.id == "T1")
    #expect(item.normalPrice?.minorUnits == 2000)
    #expect(item.salePrice?.minorUnits == 1550)
    #expect(
      item.images.map(\.url)
        == (body.contains("media_gallery") ? ["/t.jpg", "/t.jpg"] : ["/t.jpg"])
    )
  }
}
