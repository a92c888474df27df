import Foundation
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Listings with further pages that the catalog file does not configure: they are shown as
/// received, with a warning.
struct UnfollowedListingTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  private func serve(total: Int) throws {
    let items = [["detail_hash": "1", "title": "Dish"]]
    shop.put(try SampleShop.json(["body": items, "total": total]), at: "/shop/A")
  }

  private func sync(_ paging: String = "") throws -> SyncReport {
    try shop.sync(
      folder,
      shop.catalog(sections: "[{key: A, url: A}]", detail: false, paging)
    )
  }

  @Test func `a total larger than the listing is warned of in every run, until all are listed`()
    throws
  {
    try serve(total: 50)
    let first = try sync()
    let second = try sync()
    try serve(total: 1)
    let third = try sync()

    #expect(first.outcome == .partial && first.sections[0].items == 1)
    #expect(first.sections[0].warning?.contains("50 items, and lists 1;") == true)
    #expect(second.sections[0].warning == first.sections[0].warning)
    #expect(third.sections[0].warning == nil && third.outcome == .complete)
  }

  @Test(arguments: [
    #""has_more": true"#, #""pageInfo": {"hasNextPage": true, "endCursor": "c"}"#,
    #""next": "https://shop.example/?page=2""#, #""links": {"next": {"href": "/2"}}"#,
    #""nextCursor": "c""#, #""meta": {"pagination": {"page": 1, "pageCount": 4}}"#,
    #""nextPage": 2"#,
  ])
  func `a body with signs of a next page is warned of`(words: String) throws {
    let items = #""body": [{"detail_hash": "1", "title": "Dish"}]"#
    shop.put("{\(items), \(words)}", at: "/shop/A")

    let report = try sync()

    #expect(report.outcome == .partial)
    #expect(report.sections[0].warning?.contains("reports further pages") == true)
  }

  @Test(arguments: [
    #""has_more": false"#, #""next": null"#, #""next": """#, #""links": {"next": null}"#,
    #""meta": {"pagination": {"page": 4, "pageCount": 4}}"#, #""endCursor": "c""#,
  ])
  func `a body that is its listing's last page is not warned of`(words: String) throws {
    let items = #""body": [{"detail_hash": "1", "title": "Dish", "next": "x", "has_more": true}]"#
    shop.put("{\(items), \(words)}", at: "/shop/A")

    let report = try sync()

    #expect(report.outcome == .complete && report.sections[0].warning == nil)
  }

  @Test func `a section with paging null is not warned of`() throws {
    try serve(total: 50)

    let report = try shop.sync(
      folder,
      shop.catalog(sections: "[{key: A, url: A, paging: null}]", detail: false)
    )

    #expect(report.outcome == .complete && report.sections[0].warning == nil)
  }

  @Test func `an unconfigured next page in a Link header is warned of, and not requested`() throws
  {
    shop.store.faults.append(
      FaultRule("/shop/A", .header("Link", "</shop/A?page=2>; rel=\"next\""))
    )

    let report = try sync()

    #expect(report.sections[0].warning?.contains("paging: {link: true}") == true)
    #expect(shop.store.requestCounts["/shop/A"] == 1)
  }

  @Test func `where paging is configured, signs of further pages raise no warning`() throws {
    shop.put(
      #"{"body": [{"detail_hash": "1", "title": "Dish"}], "has_more": true}"#,
      at: "/shop/A"
    )

    #expect(try sync("paging: {page: page}").sections[0].warning == nil)
  }
}
