import Foundation
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Listings that go on where the catalog file does not say how: shown as they came, and warned of.
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

  @Test func `more items than are listed are warned of in every run, until all are listed`() throws
  {
    try serve(total: 50)
    let first = try sync()
    let second = try sync()
    try serve(total: 1)
    let third = try sync()

    #expect(first.outcome == .complete && first.sections[0].items == 1)
    #expect(first.sections[0].warning?.contains("50 items, and lists 1;") == true)
    #expect(second.sections[0].warning == first.sections[0].warning)
    #expect(third.sections[0].warning == nil)
  }

  @Test func `a next page by a Link header is warned of, and not asked for`() throws {
    shop.store.faults.rules.append(
      FaultRule("/shop/A", .header("Link", "</shop/A?page=2>; rel=\"next\""))
    )

    let report = try sync()

    #expect(report.sections[0].warning?.contains("paging: {link: true}") == true)
    #expect(shop.store.requestCounts["/shop/A"] == 1)
  }

  @Test func `where paging is configured, nothing is warned of`() throws {
    try serve(total: 50)

    #expect(try sync("paging: {page: page}").sections[0].warning == nil)
  }
}
