import GRDB
import Support
import Testing

@testable import Cache
@testable import Pipeline

/// A section whose body is so large that it is read in windows is synced like any other.
struct LargeListingTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  /// Lists items, of which every so many-th has a picture of its own.
  private func serve(
    _ ids: Range<Int>,
    titles: [Int: String] = [:],
    total: Int,
    pictureEvery step: Int = 6000,
    shared: [Int: Int] = [:]
  ) {
    let pad = String(repeating: #"[\"x, "#, count: 90)
    let items = ids.map { id in
      let title = titles[id] ?? "\"Dish \(id)\""
      let name = shared[id] ?? (id % step == 0 ? id : nil)
      let picture = name.map { ", \"image\": \"/pictures/A1-thumb.jpg?\($0)\"" } ?? ""
      return "{\"hash\": \"\(id)\", \"title\": \(title), \"description\": \"\(pad)\"\(picture)}"
    }
    shop.put("{\"total\": \(total), \"body\": [\(items.joined(separator: ","))]}", at: "/shop/A")
  }

  private func sync() throws -> SyncReport { try shop.sync(folder, shop.catalog(detail: false)) }

  @Test func `all of it is kept, what cannot be read is named, and changes are found`() throws {
    serve(0..<18_000, titles: [17_000: "{}"], total: 18_000)
    let first = try sync()
    let second = try sync()
    serve(1..<18_000, titles: [7: "\"Soup\""], total: 20_000)
    let third = try sync()

    #expect(first.outcome == .complete && first.items.added.count == 17_999)
    #expect(first.skipped.map(\.index) == [17_000])
    #expect(first.images.fetched == 3 && first.failures.isEmpty)
    #expect(second.sections[0].source == .unchanged && second.items.total == 17_999)
    #expect(third.items.removed == ["0"] && third.items.added == ["17000"])
    #expect(third.items.changed.map(\.id) == ["7"])
    #expect(third.sections[0].warning?.contains("20000 items, and lists 17999;") == true)
    #expect(try verify(folder).isClean)
  }

  @Test func `its pictures are fetched once each, however many there are`() throws {
    serve(0..<18_000, total: 18_000, pictureEvery: 12, shared: [17_999: 0, 9001: 0])

    let report = try sync()

    #expect(report.outcome == .complete && report.failures.isEmpty)
    #expect(report.images.referenced == 1502 && report.images.unique == 1500)
    #expect(report.images.fetched == 1500)
    #expect(shop.store.requests.count { $0.path.hasPrefix("/pictures") } == 1500)
    #expect(try verify(folder).isClean)
  }

  @Test func `a body that is no JSON near its end fails its section, and the next one is whole`()
    throws
  {
    serve(0..<18_000, titles: [17_000: "\"torn"], total: 18_000)
    let torn = try sync()
    serve(0..<18_000, total: 18_000)
    let whole = try sync()
    serve(0..<18_000, titles: [17_000: "\"torn"], total: 18_000)
    let stale = try sync()

    #expect(torn.sections[0].source == .failed && torn.items.total == 0)
    #expect(whole.outcome == .complete && whole.items.total == 18_000)
    #expect(stale.sections[0].source == .stale && stale.items.total == 18_000)
    #expect(try verify(folder).isClean)
  }

  @Test
  func `an index that lost one of its items is made anew, and no picture is lost or waited for`()
    throws
  {
    serve(0..<1500, total: 1500, pictureEvery: 1)
    _ = try sync()
    let index = try Index(CacheLayout(creating: folder.path("cache")))
    try index.write { db in
      // As a run leaves it that ended before it came to the pictures, and one item torn out beside.
      try db.execute(sql: "DELETE FROM picture")
      try db.execute(
        sql: "DELETE FROM item WHERE id = (SELECT id FROM item ORDER BY id LIMIT 1 OFFSET 700)"
      )
    }

    let report = try sync()

    #expect(report.outcome == .complete && report.items.total == 1500)
    #expect(report.images.unique == 1500 && report.images.failed == 0)
    #expect(report.images.fetched == 0)
    #expect(try verify(folder).isClean)
  }
}
