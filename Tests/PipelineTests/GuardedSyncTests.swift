import Cache
import Catalog
import SampleStore
import Support
import Testing
import Transport

@testable import Pipeline

/// What a run does not believe, across sections and over time.
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
  func `many small sections that lose a little each lose nothing together`(_ count: Int) throws {
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
      #expect(report.sections.allSatisfy { ($0.source == .withheld) == (count == 0) })
    }
    #expect(allowed.outcome == .complete && allowed.items.total == 20 * count)
  }

  @Test func `a small section may change as it likes, and a catalog lose a tenth`() throws {
    _ = try sync()
    shop.items["A"] = [SampleShop.Item("A1")]
    shop.items["B"] = [SampleShop.Item("B1"), SampleShop.Item("B99")]
    try shop.publish()

    let report = try sync()

    #expect(report.outcome == .complete)
    #expect(report.items.removed.count == 18 && report.items.total == 183)
  }

  @Test func `details that go missing at once are withheld until they are back or let go`() throws
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
    #expect(try reader.index.referencedPictures().count == 31)

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

  @Test func `two details that go are gone one by one, and what they were stays`() throws {
    let shop = try SampleShop(sections: 1, items: 10)
    _ = try shop.sync(folder)
    for number in 1...10 {
      shop.store.faults.rules.append(FaultRule("/shop/detail/A\(number)", .status(410)))
      shop.clock.advance(100)
      let report = try shop.sync(folder)
      #expect(report.outcome == .complete)
      #expect(report.details.stale == number && report.details.withheld.isEmpty)
    }

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list().allSatisfy { $0.detail != nil && $0.detailSince != nil })
    #expect(Set(try reader.list().map(\.detailSince)).count == 10)
    #expect(try reader.index.referencedPictures().count == 31)
  }

  @Test func `a shared document that loses most of its details loses none here`() throws {
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
    #expect(try reader.list().allSatisfy { $0.images.contains { $0.role == .top } })
  }

  @Test func `an item that cannot be read stays as it was, and one that went is gone`() throws {
    let shop = try SampleShop(sections: 1, items: 6)
    _ = try shop.sync(folder)
    let rows = (1...6).map { "{\"detail_hash\": \"A\($0)\", \"title\": \"Dish A\($0)\"}" }
    func publish(_ rows: [String]) {
      shop.put("{\"body\": [\(rows.joined(separator: ","))]}", at: "/shop/A")
    }
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let torn = "{\"title\": \"who?\"}"

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
  }
}
