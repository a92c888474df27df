import Catalog
import CurlTransport
import Foundation
import Pipeline
import SampleStore
import Support
import Testing

/// Built-in formats and placeholders in detail URLs, tested over a network.
struct FormatSyncTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  private func sync(_ yaml: String) throws -> SyncReport {
    var options = shop.transportOptions()
    options.allowPrivateAddresses = true
    let catalog = try CatalogFile(parsing: Array(yaml.utf8), file: "shop.yaml")
    return try shop.sync(folder, catalog, transport: options)
  }

  private static func answer(_ body: String) -> [ScriptedServer.Action] {
    [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nETag: \"1\"\r\n\r\n\(body)")]
  }

  private static func paths(_ server: ScriptedServer) -> [String] {
    server.received.map { String($0.text.split(separator: " ")[1]) }
  }

  @Test func `a detail's URL may contain a field of its item, also when the listing is unchanged`()
    throws
  {
    let server = ScriptedServer { request in
      request.text.hasPrefix("GET /list")
        ? Self.answer(#"{"products": [{"id": 1, "title": "Pan", "handle": "red pan"}]}"#)
        : Self.answer(#"{"product": {"body_html": "long"}}"#)
    }
    let yaml = """
      name: shop
      currency: USD
      base: \(server.url())
      format: shopify
      paging: null
      sections: [{key: main, url: list}]
      detail: {url: "products/{handle}.json"}
      """

    let first = try sync(yaml)
    let second = try sync(yaml)

    #expect(first.details.fetched == 1)
    #expect(second.sections[0].source == .unchanged)
    let asked = Self.paths(server).filter { $0.hasPrefix("/products") }
    #expect(asked == ["/products/red%20pan.json", "/products/red%20pan.json"])
  }

  @Test func `an item without the field is reported, and the other items have their details`()
    throws
  {
    let server = ScriptedServer { request in
      request.text.hasPrefix("GET /list")
        ? Self.answer(
          #"{"products": [{"id": 1, "title": "Pan"}, {"id": 2, "title": "Pot", "handle": "pot"}]}"#
        )
        : Self.answer(#"{"product": {"body_html": "long"}}"#)
    }

    let report = try sync(
      """
      name: shop
      currency: USD
      base: \(server.url())
      format: shopify
      paging: null
      sections: [{key: main, url: list}]
      detail: {url: "products/{handle}.json"}
      """
    )

    #expect(report.details.fetched == 1)
    #expect(report.failures.map(\.id) == ["1"])
    #expect(report.failures[0].detail?.contains("{handle}") == true)
  }

  @Test func `a format reads all pages without any configuration`() throws {
    let server = ScriptedServer { request in
      let pages = ["&page=1": #"{"id": 1, "title": "A"}"#, "&page=2": #"{"id": 2, "title": "B"}"#]
      let items = pages.first { request.text.contains($0.key + " ") }?.value ?? ""
      return Self.answer("{\"products\": [\(items)]}")
    }

    let report = try sync(
      """
      name: shop
      currency: USD
      base: \(server.url())
      format: shopify
      sections: [{key: main, url: products.json}]
      """
    )

    #expect(report.sections[0].items == 2)
    #expect(Self.paths(server).map { $0.suffix(7) } == ["&page=1", "&page=2", "&page=3"])
  }

  @Test(arguments: ["text/html; charset=euc-kr", "text/html; charset=utf-8"])
  func `a page is read in the encoding of its header field, but as UTF-8 if it is UTF-8`(
    _ type: String
  ) throws {
    // "파란 컵" in EUC-KR.
    let words: [UInt8] =
      type.hasSuffix("utf-8")
      ? Array("파란 컵".utf8) : [0xC6, 0xC4, 0xB6, 0xF5, 0x20, 0xC4, 0xC5]
    let page =
      Array(
        #"<html><script type="application/ld+json">{"@type":"Product","sku":"1","name":""#.utf8
      )
      + words + Array(#""}</script></html>"#.utf8)
    shop.store.content["/shop/A"] = Resource(page, type: type)

    _ = try sync(
      """
      name: shop
      currency: USD
      base: \(shop.base)
      format: json-ld
      sections: [{key: A, url: A}]
      """
    )

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list().map(\.item.title) == ["파란 컵"])
  }

  @Test(arguments: [
    (#"<script type="application/ld+json">{"@type": "Organization"}</script>"#, true),
    (#"<script type="application/ld+json">[]</script>"#, true),
    (#"<meta property="og:title" content="Please log in">"#, false),
    (#"<script type="application/ld+json">{"@type": "Product",</script>"#, false),
    ("<p>Please log in</p>", false),
  ])
  func `a page of the shop without products ends a listing of pages`(
    _ last: String,
    _ isEnd: Bool
  ) throws {
    let product =
      #"<script type="application/ld+json">{"@type":"Product","sku":"1","name":"Cup"}</script>"#
    for (page, data) in [product, last].enumerated() {
      shop.store.faults.append(
        FaultRule(
          "/shop/A",
          query: "page=\(page + 1)",
          .body(Array("<html><head>\(data)</head></html>".utf8))
        )
      )
    }
    shop.put("[]", at: "/shop/A")

    let report = try sync(
      """
      name: shop
      currency: USD
      base: \(shop.base)
      format: json-ld
      paging: {page: page}
      sections: [{key: A, url: A}]
      """
    )

    #expect(report.outcome == (isEnd ? .complete : .partial))
    #expect(report.sections.map(\.items) == [1])
  }
}
