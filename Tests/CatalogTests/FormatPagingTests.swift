import Testing

@testable import Catalog

/// The paging and the requests that built-in formats define.
struct FormatPagingTests {
  private func file(_ lines: String, sections: String = "[{key: main, url: list}]") throws
    -> CatalogFile
  {
    try CatalogFile(
      parsing: bytes("name: shop\ncurrency: USD\nsections: \(sections)\n\(lines)"),
      file: "shop.yaml"
    )
  }

  private func first(_ file: CatalogFile, _ url: String = "list", at position: Int = 0) -> String {
    file.paging(ofSource: position)?.firstPage(of: url) ?? url
  }

  @Test(arguments: [
    ("banchan", "list"), ("fakestore", "list"), ("shopify", "list?limit=250&page=1"),
    ("woocommerce", "list?per_page=100&page=1"), ("dummyjson", "list?limit=100&skip=0"),
    ("magento", "list?searchCriteria[pageSize]=100&searchCriteria[currentPage]=1"),
  ])
  func `a format pages as its shop system does`(format: String, url: String) throws {
    #expect(first(try file("format: \(format)")) == url)
  }

  @Test func `null removes a format's paging, for all sections or for one`() throws {
    let all = try file("format: shopify\npaging: null")
    let one = try file(
      "format: shopify",
      sections: "[{key: a, url: list, paging: null}, {key: b, url: list}]"
    )

    #expect(all.paging(ofSource: 0) == nil)
    #expect(one.paging(ofSource: 0) == nil)
    #expect(one.paging(ofSource: 1) != nil)
  }

  @Test func `null removes the catalog's own paging for one section`() throws {
    let file = try file(
      "format: fakestore\npaging: {page: p}",
      sections: "[{key: a, url: list, paging: null}, {key: b, url: list}]"
    )

    #expect(file.paging(ofSource: 0) == nil)
    #expect(first(file, at: 1) == "list?p=1")
  }

  @Test func `the paging of the catalog file overrides that of the format`() throws {
    let file = try file(
      "format: shopify\npaging: {page: p}",
      sections: "[{key: a, url: list}, {key: b, url: list, paging: {offset: o}}]"
    )

    #expect(first(file) == "list?p=1")
    #expect(first(file, at: 1) == "list?o=0")
  }

  @Test func `a section's own format applies its own paging`() throws {
    let file = try file(
      "format: shopify",
      sections: "[{key: a, url: list, format: dummyjson}, {key: b, url: list, format: fakestore}]"
    )

    #expect(first(file) == "list?limit=100&skip=0")
    #expect(file.paging(ofSource: 1) == nil)
  }

  @Test(arguments: ["list?limit=10", "list?page=2", "list?a=b&limit=10#c"])
  func `a URL that already selects a page is left unchanged`(url: String) throws {
    let file = try file("format: shopify", sections: "[{key: a, url: \"\(url)\"}]")

    #expect(file.paging(ofSource: 0) == nil)
  }

  @Test func `a custom query gets no paging parameters of another interface`() throws {
    let file = try file("format: shopify\nrequest: {body: '{\"query\": \"x\"}'}")

    #expect(file.paging(ofSource: 0) == nil)
  }

  @Test func `the storefront format requests all products by GraphQL`() throws {
    let file = try file("format: shopify-storefront")
    let request = file.request(ofSource: 0)
    let paging = try #require(file.paging(ofSource: 0))
    func body(_ cursor: String) throws -> JSONNode {
      let filled = request.body(filling: [.cursor: cursor, .size: "100"])
      return try JSONDocument(parsing: filled, of: "body").root
    }

    #expect(request.method == .post)
    #expect(paging.usesPlace(in: "list", request))
    #expect(try body("")["variables"]?["after"]?.kind == .null)
    #expect(try body("e\"1")["variables"]?["after"]?.text == "e\"1")
    #expect(try body("")["query"]?.text?.contains("featuredImage { url }") == true)
  }

  @Test(arguments: [(true, "c2"), (false, nil)] as [(Bool, String?)])
  func `the storefront's paging ends at hasNextPage false`(goesOn: Bool, next: String?) throws {
    let body = """
      {"data": {"products": {"nodes": [
        {"id": "gid://shopify/Product/1", "title": "Tee", "tags": ["new"], "description": "d",
         "featuredImage": {"url": "https://cdn.example/a.jpg"},
         "images": {"nodes": [{"url": "https://cdn.example/b.jpg"}]},
         "priceRange": {"minVariantPrice": {"amount": "12.5", "currencyCode": "EUR"}},
         "compareAtPriceRange": {"minVariantPrice": {"amount": "0.0", "currencyCode": "EUR"}}}],
       "pageInfo": {"hasNextPage": \(goesOn), "endCursor": "c2"}}}}
      """
    for format in ["shopify-storefront", "shopify"] {
      let file = try file("format: \(format)")
      let listing = try decodeSource(bytes(body), at: 0, using: file)

      let item = try #require(listing.sections[0].items.first)
      #expect(item.salePrice == Price(minorUnits: 1250, currency: "EUR"))
      #expect(item.normalPrice == nil)
      #expect(
        item.images.map(\.url) == ["https://cdn.example/a.jpg", "https://cdn.example/b.jpg"]
      )
      if format == "shopify-storefront" { #expect(listing.nextPage == next) }
    }
  }
}
