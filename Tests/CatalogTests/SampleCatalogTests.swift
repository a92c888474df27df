import Foundation
import Testing

@testable import Catalog

/// The catalog files in samples/catalogs, for shops without a built-in format.
struct SampleCatalogTests {
  private func sample(_ name: String) throws -> CatalogFile {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let bytes = try Data(contentsOf: root.appending(path: "samples/catalogs/\(name).yaml"))
    return try CatalogFile(parsing: Array(bytes), file: "\(name).yaml")
  }

  private func listing(_ body: String, _ file: CatalogFile) throws -> DecodedListing {
    try decodeSource(bytes(body), at: 0, using: file)
  }

  @Test func `contentful's entries get the pictures included beside them`() throws {
    let file = try sample("contentful")
    let link = { (id: String) in
      #"{"sys": {"type": "Link", "linkType": "Asset", "id": "\#(id)"}}"#
    }
    let body = """
      {"sys": {"type": "Array"}, "total": 3, "skip": 0, "limit": 2, "items": [
        {"sys": {"id": "e1", "type": "Entry"}, "fields": {"title": "Cup", "description": "Blue", "price": 7.5,
          "image": \(link("a1")), "images": [\(link("a2")), \(link("gone"))]}},
        {"sys": {"id": "e2", "type": "Entry"}, "fields": {"title": "Jug", "price": 12,
          "description": {"nodeType": "document", "content": []}}}],
       "errors": [{"sys": {"id": "notResolvable", "type": "error"}, "details": {"id": "gone"}}],
       "includes": {"Asset": [
        {"sys": {"id": "a1", "type": "Asset"}, "fields": {"file": {"url": "//images.example/a1.jpg"}}},
        {"sys": {"id": "a2", "type": "Asset"}, "fields": {"file": {"url": "//images.example/a2.jpg"}}}]}}
      """

    let listing = try listing(body, file)

    let items = listing.sections[0].items
    #expect(items.map(\.id) == ["e1", "e2"])
    #expect(items.map(\.title) == ["Cup", "Jug"])
    #expect(items.map(\.description) == ["Blue", nil])
    #expect(items.map { $0.salePrice?.minorUnits } == [750, 1200])
    #expect(items[0].images.map(\.url) == ["//images.example/a1.jpg", "//images.example/a2.jpg"])
    #expect(items[0].images.map(\.role) == [.thumbnail, .gallery])
    #expect(listing.skipped == [])
    let paging = try #require(file.paging(ofSource: 0))
    let first = paging.firstPage(of: "entries?content_type=product")
    #expect(first == "entries?content_type=product&limit=100&skip=0")
    #expect(
      paging.nextPage(afterReading: 1, of: first, last: first, listing: listing)
        == "entries?content_type=product&limit=100&skip=2"
    )
  }

  @Test func `contentful's page after the last is empty and ends the listing`() throws {
    let file = try sample("contentful")

    let listing = try listing(#"{"total": 3, "skip": 3, "limit": 2, "items": []}"#, file)

    #expect(listing.sections[0].items == [])
    let paging = try #require(file.paging(ofSource: 0))
    #expect(
      paging.nextPage(afterReading: 2, of: "entries", last: "entries?skip=3", listing: listing)
        == nil
    )
  }

  @Test func `square's items have the pictures and prices of the objects that they refer to`()
    throws
  {
    let file = try sample("square")
    let body = """
      {"cursor": "next/+=", "objects": [
        {"type": "ITEM", "id": "I1", "item_data": {"name": "Tea", "description_plaintext": "Green",
          "image_ids": ["P1", "P2", "GONE"], "categories": [{"id": "K1"}], "variations": [
            {"type": "ITEM_VARIATION", "id": "V0", "item_variation_data": {"pricing_type": "VARIABLE_PRICING"}},
            {"type": "ITEM_VARIATION", "id": "V1", "item_variation_data": {
              "pricing_type": "FIXED_PRICING", "price_money": {"amount": 450, "currency": "USD"}}}]}},
        {"type": "ITEM", "id": "I2", "item_data": {"name": "Matcha", "variations": [
            {"id": "V2", "item_variation_data": {"price_money": {"amount": 700, "currency": "JPY"}}}]}},
        {"type": "ITEM", "id": "I3", "is_deleted": true, "item_data": {"name": "Old"}}],
       "related_objects": [
        {"type": "IMAGE", "id": "P1", "image_data": {"url": "https://images.example/p1.jpg"}},
        {"type": "IMAGE", "id": "P2", "image_data": {"url": "https://images.example/p2.jpg"}},
        {"type": "CATEGORY", "id": "K1", "category_data": {"name": "Drinks"}}]}
      """

    let listing = try listing(body, file)

    let items = listing.sections[0].items
    #expect(items.map(\.id) == ["I1", "I2"])
    #expect(items.map(\.title) == ["Tea", "Matcha"])
    #expect(items.map(\.description) == ["Green", nil])
    #expect(
      items.map(\.salePrice) == [
        Price(minorUnits: 450, currency: "USD"), Price(minorUnits: 700, currency: "JPY"),
      ]
    )
    #expect(items[0].images.map { $0.url.suffix(6) } == ["p1.jpg", "p2.jpg"])
    #expect(items[0].images.map(\.role) == [.thumbnail, .gallery])
    #expect(listing.skipped == [])
    #expect(listing.nextPage == "next/+=")
  }

  @Test func `square's next page is requested in the body, until the last`() throws {
    let file = try sample("square")
    let request = file.request(ofSource: 0)
    let size = try #require(Placeholder.all(in: request.body).first { $0 == .size })

    let first = request.body(filling: [size: "100", .cursor: ""])
    let second = request.body(filling: [size: "100", .cursor: "next/+="])

    #expect(request.method == .post)
    #expect(try JSONDocument(parsing: first).root["cursor"]?.kind == .null)
    #expect(try JSONDocument(parsing: second).root["cursor"]?.text == "next/+=")
    #expect(try JSONDocument(parsing: second).root["limit"]?.integer == 100)
    #expect(try listing("{}", file).nextPage == nil)
    #expect(try listing("{}", file).sections[0].items == [])
  }
}
