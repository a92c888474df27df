import GRDB
import Support
import Testing

@testable import Cache
@testable import Pipeline

/// A section whose body is so large that it is read in parts, called windows.
struct LargeListingTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  /// Publishes items, of which every `step`-th has its own picture.
  private func serve(
    _ ids: Range<Int>,
    titles: [Int: String] = [:],
    total: Int,
    pictureEvery step: Int = 800,
    shared: [Int: Int] = [:]
  ) {
    let pad = String(repeating: #"[\"x, "#, count: 360)
    let items = ids.map { id in
      let title = titles[id] ?? "\"Dish \(id)\""
      let name = shared[id] ?? (id % step == 0 ? id : nil)
      let picture = name.map { ", \"image\": \"/pictures/A1-thumb.jpg?\($0)\"" } ?? ""
      return "{\"hash\": \"\(id)\", \"title\": \(title), \"description\": \"\(pad)\"\(picture)}"
    }
    shop.put("{\"total\": \(total), \"body\": [\(items.joined(separator: ","))]}", at: "/shop/A")
  }

  private func sync() throws -> SyncReport { try shop.sync(folder, shop.catalog(detail: false)) }

  @Test func `a large listing is stored, its unreadable items reported and its changes found`()
    throws
  {
    serve(0..<2200, titles: [2100: "{}"], total: 2200)
    let first = try sync()
    let second = try sync()
    serve(1..<2200, titles: [7: "\"Soup\""], total: 2600)
    let third = try sync()

    #expect(first.outcome == .complete && first.items.added.count == 2199)
    #expect(first.skipped.map(\.index) == [2100])
    #expect(first.pictures.fetched == 3 && first.failures.isEmpty)
    #expect(second.sections[0].source == .unchanged && second.items.total == 2199)
    #expect(third.items.removed == ["0"] && third.items.added == ["2100"])
    #expect(third.items.changed.map(\.id) == ["7"])
    #expect(third.sections[0].warning?.contains("2600 items, and lists 2199;") == true)
    #expect(try verify(folder).isClean)
  }

  @Test func `the pictures of a large listing are fetched once each`() throws {
    serve(0..<2200, total: 2200, pictureEvery: 3, shared: [2198: 0, 1102: 0])

    let report = try sync()

    #expect(report.outcome == .complete && report.failures.isEmpty)
    #expect(report.pictures.referenced == 736 && report.pictures.total == 734)
    #expect(report.pictures.fetched == 734)
    #expect(shop.store.requests.count { $0.path.hasPrefix("/pictures") } == 734)
    #expect(try verify(folder).isClean)
  }

  @Test func `malformed JSON near the end fails only its section, and the next run is complete`()
    throws
  {
    serve(0..<2200, titles: [2100: "\"torn"], total: 2200)
    let torn = try sync()
    serve(0..<2200, total: 2200)
    let whole = try sync()
    serve(0..<2200, titles: [2100: "\"torn"], total: 2200)
    let stale = try sync()

    #expect(torn.sections[0].source == .failed && torn.items.total == 0)
    #expect(whole.outcome == .complete && whole.items.total == 2200)
    #expect(stale.sections[0].source == .stale && stale.items.total == 2200)
    #expect(try verify(folder).isClean)
  }

  /// Publishes several sections in one response.
  private func serveMenus(_ menus: [(key: String, ids: Range<Int>, title: String)]) {
    let pad = String(repeating: #"[\"x, "#, count: 360)
    let text = menus.map { menu in
      let items = menu.ids.map { id in
        let picture = id % 400 == 0 ? ", \"image\": \"/pictures/A1-thumb.jpg?\(id)\"" : ""
        let title = id == 1900 ? "{}" : "\"\(menu.title) \(id)\""
        return "{\"hash\": \"\(id)\", \"title\": \(title), \"description\": \"\(pad)\"\(picture)}"
      }
      return "{\"slug\": \(menu.key), \"items\": [\(items.joined(separator: ","))]}"
    }
    shop.put("{\"menus\": [\(text.joined(separator: ","))]}", at: "/shop/A")
  }

  @Test func `a large body of many sections is read like a small one`() throws {
    let catalog = try shop.catalog(
      sections: "{url: A, each: \"$.menus[*]\", key: $.slug}",
      detail: false,
      """
      items: $.items
      item: {id: $.hash, title: $.title, description: $.description, images: {thumbnail: $.image}}
      """
    )
    serveMenus([
      ("\"tea\"", 0..<3, "Tea"), ("\"dishes\"", 3..<2000, "Dish"),
      ("null", 2000..<2001, "X"),
      ("\"rice\"", 2001..<2100, "Rice"), ("\"tea\"", 2100..<2201, "X"),
    ])
    let first = try shop.sync(folder, catalog)
    let second = try shop.sync(folder, catalog)
    serveMenus([("\"tea\"", 0..<3, "Tea"), ("\"dishes\"", 3..<1999, "Dish")])
    let third = try shop.sync(folder, catalog)

    #expect(
      first.sections.filter { $0.source == .network }.map(\.key) == ["dishes", "rice"]
    )
    #expect(first.sections.filter { $0.source == .network }.map(\.items) == [1996, 99])
    #expect(first.skipped.map(\.index) == [1897] && first.skipped[0].section == "dishes")
    #expect(first.pictures.fetched == 4 && first.outcome == .partial)
    let words = first.failures.map { $0.detail ?? "" }
    #expect(first.failures.map(\.stage) == [.section, .section])
    #expect(words.contains { $0.contains("it has no key at $.slug; correct") }, "\(words)")
    #expect(words.contains { $0.contains("another section has the same key at $.slug") })
    #expect(second.items.total == 2095 && second.items.added.isEmpty)
    #expect(third.sections.map(\.items) == [3, 1995, 99])
    #expect(third.sections.map(\.source) == [.network, .network, .withheld])
    #expect(try verify(folder).isClean)
  }

  @Test(arguments: ["item", "picture"])
  func `an index that lost rows is rebuilt, and no picture is lost or waited for`(_ lost: String)
    throws
  {
    serve(0..<600, total: 600, pictureEvery: 1)
    _ = try sync()
    let index = try Index(CacheLayout(creating: folder.path("cache")))
    try index.write { db in
      try db.execute(
        sql: "DELETE FROM \(lost) WHERE row = (SELECT row FROM \(lost) LIMIT 1 OFFSET 300)"
      )
    }

    // Each run checks 256 items, so the loss is found in one of the next three.
    for _ in 0..<3 {
      let report = try sync()
      #expect(report.outcome == .complete && report.items.total == 600)
      #expect(report.pictures.total == 600 && report.pictures.failed == 0)
      #expect(report.pictures.fetched == 0)
    }
    #expect(try verify(folder).isClean)
  }
}
