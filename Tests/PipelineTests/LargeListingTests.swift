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

  /// Lists sections in one response.
  private func serveMenus(_ menus: [(key: String, ids: Range<Int>, title: String)]) {
    let pad = String(repeating: #"[\"x, "#, count: 90)
    let text = menus.map { menu in
      let items = menu.ids.map { id in
        let picture = id % 3000 == 0 ? ", \"image\": \"/pictures/A1-thumb.jpg?\(id)\"" : ""
        let title = id == 16_000 ? "{}" : "\"\(menu.title) \(id)\""
        return "{\"hash\": \"\(id)\", \"title\": \(title), \"description\": \"\(pad)\"\(picture)}"
      }
      return "{\"slug\": \(menu.key), \"items\": [\(items.joined(separator: ","))]}"
    }
    shop.put("{\"menus\": [\(text.joined(separator: ","))]}", at: "/shop/A")
  }

  @Test func `a large body of many sections is read as a small one is`() throws {
    let catalog = try shop.catalog(
      sections: "{url: A, each: \"$.menus[*]\", key: $.slug}",
      detail: false,
      """
      items: $.items
      item: {id: $.hash, title: $.title, description: $.description, images: {thumbnail: $.image}}
      """
    )
    serveMenus([
      ("\"tea\"", 0..<3, "Tea"), ("\"dishes\"", 3..<17_000, "Dish"),
      ("null", 17_000..<17_001, "X"),
      ("\"rice\"", 17_001..<17_500, "Rice"), ("\"tea\"", 17_500..<18_001, "X"),
    ])
    let first = try shop.sync(folder, catalog)
    let second = try shop.sync(folder, catalog)
    serveMenus([("\"tea\"", 0..<3, "Tea"), ("\"dishes\"", 3..<16_999, "Dish")])
    let third = try shop.sync(folder, catalog)

    #expect(
      first.sections.filter { $0.source == .network }.map(\.key) == ["dishes", "rice"]
    )
    #expect(first.sections.filter { $0.source == .network }.map(\.items) == [16_996, 499])
    #expect(first.skipped.map(\.index) == [15_997] && first.skipped[0].section == "dishes")
    #expect(first.images.fetched == 5 && first.outcome == .partial)
    let words = first.failures.map { $0.detail ?? "" }
    #expect(first.failures.map(\.stage) == [.section, .section])
    #expect(words.contains { $0.contains("it has no key at $.slug; correct") }, "\(words)")
    #expect(words.contains { $0.contains("another section has the same key at $.slug") })
    #expect(second.items.total == 17_495 && second.items.added.isEmpty)
    #expect(third.sections.map(\.items) == [3, 16_995, 499])
    #expect(third.sections.map(\.source) == [.network, .network, .withheld])
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
