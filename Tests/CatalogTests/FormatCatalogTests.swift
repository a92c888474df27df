import Foundation
import Testing

@testable import Catalog

/// The built-in formats, whose files are embedded in the binary.
struct FormatCatalogTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `every format file of the folder is embedded`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Self.folder.appending(path: "Sources/Catalog/Formats").path()
    )
    let names = files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }

    #expect(FormatFiles.names.sorted() == names.sorted())
  }

  @Test(arguments: FormatFiles.names)
  func `a format is shown as its embedded file, and that file is read the same by its path`(
    _ name: String
  )
    throws
  {
    let text = try FormatCatalog.file(of: name)
    let lines = "name: s\ncurrency: EUR\nbase: https://s.example/\nsections: [{key: a, url: a}]\n"

    let own = try CatalogFile(parsing: bytes("\(lines)format: \(name)"), file: "s.yaml")
    let copied = try CatalogFile(parsing: bytes("\(lines)format: ./mine.yaml"), file: "s.yaml") {
      path throws(CatalogError) in
      #expect(path == "./mine.yaml")
      return bytes(text)
    }

    #expect(copied.mapping.fingerprint == own.mapping.fingerprint)
    #expect(copied.paging(ofSource: 0) == own.paging(ofSource: 0))
    #expect(copied.request(ofSource: 0) == own.request(ofSource: 0))
  }

  @Test func `every format has a one-line summary`() {
    let entries = FormatCatalog.entries

    #expect(entries.map(\.name) == FormatFiles.names)
    #expect(entries.allSatisfy { !$0.summary.isEmpty && !$0.summary.contains("\n") })
  }

  @Test func `an unknown format suggests the nearest`() {
    let error = #expect(throws: CatalogError.self) { try FormatCatalog.file(of: "shopfy") }

    #expect(error?.remedy?.contains("the nearest is \"shopify\"") == true)
  }

  @Test
  func
    `a format file fills in keys that the catalog file omits, and its errors name the format file`()
    throws
  {
    func file(_ format: String, _ lines: String = "") throws -> CatalogFile {
      let text = "name: s\nsections: [{key: a, url: a}]\nformat: mine/own.yaml\n\(lines)"
      return try CatalogFile(parsing: bytes(text), file: "s.yaml") { _ in bytes(format) }
    }
    let format = """
      about: our shop
      currency: CHF
      base: https://own.example/
      headers: {Accept: application/json}
      item: {id: $.sku, title: $.name}
      detail: {url: "d/{id}", description: $.text}
      """

    let own = try file(format)
    let changed = try file(format, "currency: EUR\ndetail: null\n")
    let faulty = #expect(throws: CatalogError.self) { try file("about: x\nitm: {}") }

    #expect(own.currency == "CHF" && own.base == "https://own.example/")
    #expect(own.headers.map(\.name) == ["Accept"] && own.detail?.urlTemplate == "d/{id}")
    #expect(changed.currency == "EUR" && changed.detail == nil)
    #expect(faulty?.file == "mine/own.yaml" && faulty?.line == 2)
    #expect(faulty?.remedy?.hasPrefix("the nearest known key is \"item\"") == true)
    #expect(parsingError("name: s\ncurrency: EUR\nsections: []\nformat: ./a.yaml") != nil)
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
        == (body.contains("media_gallery")
          ? ["/media/catalog/product/t.jpg", "/media/catalog/product/t.jpg"] : ["/t.jpg"])
    )
  }
}
