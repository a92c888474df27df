import Base
import Cache
import Catalog
import CurlTransport
import SampleStore
import Support
import Synchronization
import Testing

@testable import Pipeline

/// Sudden losses that a guard rejects, in several sections and over several runs.
struct GuardedSyncTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 20, items: 10)
  }

  private func sync(allowRemovals: Bool = false) throws -> SyncReport {
    var options = SyncOptions()
    options.noDetails = true
    options.allowRemovals = allowRemovals
    return try shop.sync(folder, options: options)
  }

  private func cut(to count: Int) throws {
    for key in shop.keys { shop.items[key] = Array((shop.items[key] ?? []).prefix(count)) }
    try shop.publish()
  }

  @Test(arguments: [0, 5, 8])
  func `many small sections that each lose a few items are guarded together`(_ count: Int) throws {
    _ = try sync()
    try cut(to: count)

    let reports = try (0..<2).map { _ in try sync() }
    let allowed = try sync(allowRemovals: true)

    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(report.items.withheld.count == 20 * (10 - count))
      #expect(report.items.total == 200 && report.items.removed.isEmpty)
      #expect(report.sections.allSatisfy { $0.withheld == 10 - count })
      #expect(report.sections.allSatisfy { $0.error != nil && $0.remedy == .acceptRemovals })
      #expect(report.sections.allSatisfy { $0.source == .withheld })
    }
    #expect(allowed.outcome == .complete && allowed.items.total == 20 * count)
  }

  @Test func `in a catalog that lost too much, only the lists without losses are new`() throws {
    _ = try sync()
    let before = shop.items
    let (whole, moved) = (shop.keys[0], shop.keys[1])
    for key in shop.keys.dropFirst() {
      shop.items[key] = (before[key] ?? []).dropLast(2) + [SampleShop.Item("\(key)new")]
    }
    shop.items[whole] = (before[whole] ?? []) + (before[moved] ?? []).suffix(2)
    shop.items[moved]?[0].price = "1,000원"
    try shop.publish()
    shop.store.clearRequests()

    let reports = try (0..<2).map { _ in try sync() }

    for report in reports {
      #expect(report.outcome == .withheld && report.items.removed.isEmpty)
      #expect(report.sections.count { $0.source == .withheld } == shop.keys.count - 1)
    }
    #expect(reports[0].items.added == (before[moved] ?? []).suffix(2).map(\.id))
    #expect(reports[0].items.changed.isEmpty)
    #expect(shop.store.requests.allSatisfy { !$0.path.contains("new") })
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list(section: whole).map(\.item.id) == shop.items[whole]?.map(\.id))
    for key in shop.keys.dropFirst() {
      #expect(try reader.list(section: key).map(\.item.id) == before[key]?.map(\.id))
    }
  }

  @Test func `a small section may change freely, and a catalog may lose a tenth`() throws {
    _ = try sync()
    shop.items["A"] = [SampleShop.Item("A1")]
    shop.items["B"] = [SampleShop.Item("B1"), SampleShop.Item("B99")]
    try shop.publish()

    let report = try sync()

    #expect(report.outcome == .complete)
    #expect(report.items.removed.count == 18 && report.items.total == 183)
  }

  @Test
  func
    `details that all go missing at once are kept until they return or their removal is allowed`()
    throws
  {
    let shop = try SampleShop(sections: 1, items: 10)
    _ = try shop.sync(folder)
    shop.store.faults = [FaultRule("/shop/detail/*", .status(404))]
    shop.clock.advance(100)
    let gone = shop.clock.now

    let reports = try (0..<2).map { _ in
      shop.clock.advance(100)
      return try shop.sync(folder)
    }

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(report.details.withheld.count == 10 && report.details.missing == 10)
      #expect(report.failures.isEmpty)
    }
    #expect(
      try reader.list().allSatisfy { $0.detail != nil && $0.detailSince == gone + 100 }
    )
    #expect(try reader.index.held(at: 0).count { $0.unreferenced == nil } == 31)

    shop.store.faults = []
    #expect(try shop.sync(folder).outcome == .complete)
    #expect(try reader.list().allSatisfy { $0.detail != nil && $0.detailSince == nil })

    shop.store.faults = [FaultRule("/shop/detail/*", .status(404))]
    var options = SyncOptions()
    options.allowRemovals = true
    let letGo = try shop.sync(folder, options: options)
    #expect(letGo.outcome == .complete && letGo.details.missing == 10)
    #expect(try reader.list().allSatisfy { $0.detail == nil })
  }

  @Test
  func `details that vanish one by one do not trigger the guard, and their last version is kept`()
    throws
  {
    let shop = try SampleShop(sections: 1, items: 10)
    _ = try shop.sync(folder)
    for number in 1...10 {
      shop.store.faults.append(FaultRule("/shop/detail/A\(number)", .status(410)))
      shop.clock.advance(100)
      let report = try shop.sync(folder)
      #expect(report.outcome == .complete)
      #expect(report.details.stale == number && report.details.withheld.isEmpty)
    }

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list().allSatisfy { $0.detail != nil && $0.detailSince != nil })
    #expect(Set(try reader.list().map(\.detailSince)).count == 10)
    #expect(try reader.index.held(at: 0).count { $0.unreferenced == nil } == 31)
  }

  @Test func `details that vanish at once from a shared document are kept`() throws {
    let shop = try SampleShop(sections: 1, items: 6)
    func publish(_ count: Int) throws {
      let details = (1...6).prefix(count).map { number -> [String: Any] in
        ["hash": "A\(number)", "data": ["top_image": "/pictures/top-\(number).jpg"]]
      }
      shop.put(try SampleShop.json(["body": details]), at: "/shop/details")
    }
    try publish(6)
    let catalog = try shop.catalog(detail: false, "detail: {url: details}")
    _ = try shop.sync(folder, catalog)
    try publish(2)

    let reports = try (0..<3).map { _ in try shop.sync(folder, catalog) }

    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(report.details.withheld == ["A3", "A4", "A5", "A6"])
    }
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list().allSatisfy { $0.pictures.contains { $0.role == .top } })
  }

  @Test func `an unreadable item keeps its earlier form, and a missing one is removed`() throws {
    let shop = try SampleShop(sections: 1, items: 6)
    _ = try shop.sync(folder)
    let rows = try (shop.items["A"] ?? []).map { try SampleShop.json($0.listed) }
    func publish(_ rows: [String]) {
      shop.put("{\"body\": [\(rows.joined(separator: ","))]}", at: "/shop/A")
    }
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let torn = "{\"detail_hash\": \"A3\"}"

    publish(Array(rows[..<2]) + [torn] + Array(rows[3...]))
    for _ in 0..<2 {
      let report = try shop.sync(folder)
      #expect(report.sections[0].unread == ["A3"] && report.skipped.map(\.index) == [2])
      #expect(try reader.list().map(\.item.id) == ["A1", "A2", "A3", "A4", "A5", "A6"])
    }
    publish(Array(rows[..<2]) + [torn] + Array(rows[3..<5]))
    let report = try shop.sync(folder)

    #expect(report.items.removed == ["A6"] && report.sections[0].unread == ["A3"])
    #expect(try reader.list().map(\.item.id) == ["A1", "A2", "A3", "A4", "A5"])

    // Without an id, it is not guessed which item is meant.
    publish(Array(rows[..<2]) + ["{\"title\": \"who?\"}"] + Array(rows[3..<5]))
    let unnamed = try shop.sync(folder)
    #expect(unnamed.items.removed == ["A3"] && unnamed.sections[0].unread.isEmpty)
    #expect(try reader.list().map(\.item.id) == ["A1", "A2", "A4", "A5"])
  }

  private func options(allowRemovals: Bool = false) -> SyncOptions {
    var options = SyncOptions()
    options.noDetails = true
    options.allowRemovals = allowRemovals
    return options
  }

  private func ids() throws -> [String] {
    try CatalogReader(cache: folder.path("cache"), catalog: nil).list().map(\.item.id)
  }

  @Test(arguments: [4, 40])
  func `when all items of a section are replaced, its last good listing is shown`(
    _ count: Int
  ) throws {
    let shop = try SampleShop(sections: 1, items: count)
    _ = try shop.sync(folder, options: options())
    let ours = shop.items["A"]
    shop.items["A"] = (0..<count).map { SampleShop.Item("X\($0)") }
    try shop.publish()

    let reports = try (0..<2).map { _ in try shop.sync(folder, options: options()) }

    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(report.sections.map(\.source) == [.withheld])
      #expect(report.sections[0].error?.hasPrefix("cannot replace section A: ") == true)
      #expect(report.items.withheld.count == count && report.items.total == count)
      #expect(report.items.added.isEmpty && report.items.removed.isEmpty)
    }
    #expect(try ids() == ours?.map(\.id))
    let theirs = shop.items["A"]
    shop.items["A"] = ours
    try shop.publish()
    #expect(try shop.sync(folder, options: options()).outcome == .complete)
    shop.items["A"] = theirs
    try shop.publish()
    let allowed = try shop.sync(folder, options: options(allowRemovals: true))
    #expect(allowed.outcome == .complete && allowed.items.removed.count == count)
    #expect(try ids() == theirs?.map(\.id))
  }

  @Test func `items that move to another section are not removed from the catalog`() throws {
    _ = try sync()
    // Every section passes two of its ten items to the next section.
    let before = shop.items
    for (place, key) in shop.keys.enumerated() {
      let giver = shop.keys[(place + 1) % shop.keys.count]
      shop.items[key] = Array((before[key] ?? []).dropFirst(2) + (before[giver] ?? []).prefix(2))
    }
    try shop.publish()

    let report = try sync()

    #expect(report.outcome == .complete && report.items.total == 200)
  }

  @Test func `a listing is withheld when all pictures become one placeholder, or a field is lost`()
    throws
  {
    let shop = try SampleShop(sections: 1, items: 12)
    _ = try shop.sync(folder, options: options())
    let ours = shop.items["A"] ?? []
    shop.items["A"] = ours.map { item in
      var item = item
      item.title += ", new"
      item.thumbnail = "/pictures/placeholder.jpg"
      return item
    }
    try shop.publish()

    let placeholder = try shop.sync(folder, options: options())
    shop.put(
      "{\"body\": [\(ours.map { "{\"detail_hash\": \"\($0.id)\", \"title\": \"\($0.id)\"}" }.joined(separator: ","))]}",
      at: "/shop/A"
    )
    let bare = try shop.sync(folder, options: options())

    for report in [placeholder, bare] {
      #expect(report.outcome == .withheld && report.sections.map(\.source) == [.withheld])
      #expect(report.items.total == 12 && report.items.changed.isEmpty)
      #expect(report.sections[0].remedy == .acceptRemovals)
    }
    #expect(placeholder.sections[0].kept == ["item.images"])
    #expect(
      placeholder.sections[0].error?.contains("all 12 items have the same picture") == true
    )
    #expect(
      bare.sections[0].kept == ["item.description", "item.salePrice", "item.images.thumbnail"]
    )
    #expect(shop.store.requests.allSatisfy { $0.path != "/pictures/placeholder.jpg" })
    let shown = try CatalogReader(cache: folder.path("cache"), catalog: nil).list()
    #expect(shown.map(\.item.title) == ours.map(\.title))
  }

  @Test func `an id twice in a section counts once, and a differing copy is reported`() throws {
    let shop = try SampleShop(sections: 1, items: 3)
    var other = SampleShop.Item("A1")
    other.title = "Another"
    other.thumbnail = "/pictures/another.jpg"
    let items = shop.items["A"] ?? []
    let torn = "{\"title\": \"who?\"}"
    let rows = try (items[..<1] + items + [other]).map { try SampleShop.json($0.listed) }
    shop.put("{\"body\": [\(([torn] + rows).joined(separator: ","))]}", at: "/shop/A")

    let reports = try (0..<2).map { _ in try shop.sync(folder, options: options()) }

    for report in reports {
      #expect(report.outcome == .complete && report.items.total == 3)
      #expect(report.sections[0].skipped == 2)
      #expect(report.skipped.map(\.index) == [0, 5] && report.skipped.map(\.id) == [nil, "A1"])
      #expect(report.skipped.last?.reason == "duplicate-id" && report.skipped.last?.lost == .item)
    }
    #expect(reports[1].sections.map(\.source) == [.unchanged])
    #expect(try ids() == ["A1", "A2", "A3"])
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.show("A1")?.item.title == "Dish A1")
    #expect(shop.store.requests.allSatisfy { $0.path != "/pictures/another.jpg" })
    #expect(try verify(folder).isClean)
  }

  @Test func `a catalog that suddenly has another host is reported until it is accepted`() throws {
    let (ours, theirs) = (try SampleShop(sections: 1), try SampleShop(sections: 1))
    theirs.items["A"] = (0..<4).map { SampleShop.Item("X\($0)") }
    try theirs.publish()
    func notices(_ shop: SampleShop, allowRemovals: Bool = false) throws -> (SyncReport, [String])
    {
      let notices = Mutex<[String]>([])
      let curl = try CurlTransport(shop.transportOptions())
      defer { curl.shutdown() }
      let run = SyncRun(
        try shop.catalog(),
        folder: folder.path,
        cache: folder.path("cache"),
        options: options(allowRemovals: allowRemovals),
        transport: curl,
        disk: SystemDisk(durable: false),
        now: { [clock = shop.clock] in clock.now },
        notice: { words in notices.withLock { $0.append(words) } }
      )
      return (try run.run(holder: "a test"), notices.withLock { $0 })
    }

    #expect(try notices(ours).1 == [])
    let moved = try notices(theirs)
    #expect(moved.0.outcome == .withheld && moved.0.items.withheld == ["A1", "A2", "A3", "A4"])
    #expect(
      moved.1 == [
        "catalog shop was synced from 127.0.0.1:\(ours.store.port) before, and is synced from "
          + "127.0.0.1:\(theirs.store.port) now; if that is another shop, give it another name"
      ]
    )
    #expect(try notices(ours).1 == [])
    #expect(try notices(theirs, allowRemovals: true).1.count == 1)
    #expect(try notices(theirs).1 == [])
  }

  @Test func `a first sync in which all of three or more details are missing is partial`() throws {
    for (count, outcome) in [(2, SyncReport.Outcome.complete), (3, .partial)] {
      let folder = try TemporaryFolder()
      let shop = try SampleShop(sections: 1, items: count)
      shop.store.faults = [FaultRule("/shop/detail/*", .status(404))]

      let first = try shop.sync(folder)
      let second = try shop.sync(folder)

      #expect(first.outcome == outcome && second.outcome == .complete)
      #expect(first.failures.map(\.reason) == (count == 3 ? ["details-missing"] : []))
      #expect(first.details.missing == count && second.failures.isEmpty)
    }
  }

  @Test(arguments: [401, 403, 404, 410])
  func `a permanent failure is reported once, and in strict mode in every run`(_ status: Int)
    throws
  {
    let shop = try SampleShop(sections: 1, items: 3)
    shop.store.faults = [FaultRule("/pictures/A2-thumb.jpg", .status(status))]
    var strict = SyncOptions()
    strict.strict = true

    let reports = try (0..<3).map { _ in try shop.sync(folder) }
    let hard = try shop.sync(folder, options: strict)
    shop.store.faults = []
    let mended = try shop.sync(folder)

    #expect(reports.map(\.outcome) == [.partial, .complete, .complete])
    #expect(reports.map { $0.failures.map(\.isKnown) } == [[false], [true], [true]])
    #expect(reports.allSatisfy { $0.pictures.failed == 1 })
    #expect(hard.outcome == .partial && hard.failures.map(\.isKnown) == [true])
    #expect(mended.outcome == .complete && mended.failures.isEmpty)
  }

  @Test func `a temporary failure is reported in every run`() throws {
    let shop = try SampleShop(sections: 1, items: 3)
    shop.store.faults = [FaultRule("/pictures/A2-thumb.jpg", .status(503))]

    let reports = try (0..<2).map { _ in try shop.sync(folder) }

    #expect(reports.map(\.outcome) == [.partial, .partial])
    #expect(reports.allSatisfy { $0.failures.allSatisfy { !$0.isKnown } })
  }
}
