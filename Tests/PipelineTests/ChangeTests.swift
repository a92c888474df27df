import Base
import Cache
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The changes that are reported between two runs, and the shrink guard, which rejects sudden removals.
struct ChangeTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 12)
  }

  private func reader() throws -> CatalogReader {
    try CatalogReader(cache: folder.path("cache"), catalog: nil)
  }

  @Test func `details are changed if they have other values, and not if they have other bytes`()
    throws
  {
    func publish(_ first: String, _ second: String, _ space: String = "") {
      for (id, data) in [("A1", first), ("A2", second)] {
        shop.put(#"{\#(space)"hash": "\#(id)", "data": {\#(data)}}"#, at: "/shop/detail/\(id)")
      }
    }
    func run() throws -> SyncReport.Details {
      shop.clock.advance(100_000)
      return try shop.sync(folder).details
    }
    let words = #""product_description": "About""#
    publish("\(words), \"top_image\": \"/pictures/A1-top.jpg\"", words)
    #expect(try run().changed == 0)

    publish("\(words), \"top_image\": \"/pictures/A1-top.jpg\"", words, " ")
    let same = try run()
    publish(words, words)
    let stripped = try run()
    publish(#""product_description": "More""#, #""product_description": "More""#)
    let other = try run()
    shop.put(nil, at: "/shop/detail/A1")
    let gone = try run()
    var options = SyncOptions()
    options.allowRemovals = true
    shop.clock.advance(100_000)
    let removed = try shop.sync(folder, options: options).details

    #expect(same.fetched == 2 && same.changed == 0)
    #expect(stripped.fetched == 2 && stripped.changed == 1)
    #expect(other.fetched == 2 && other.changed == 2)
    #expect(gone.missing == 1 && gone.changed == 0)
    #expect(removed.missing == 1 && removed.changed == 1)
    #expect(try run().changed == 0)
  }

  @Test func `an earlier catalog has the details that the shop only sent again since`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    shop["/x"] = ScriptedShop.Answer(body: CacheSuiteOrigin.picture("x"))
    shop["/detail/A1"] = ScriptedShop.Answer(body: ScriptedShop.detail("About"))
    func details(at moment: UnixTime) throws -> [String?] {
      try CatalogReader(cache: shop.folder.path("cache"), catalog: nil, at: moment).list()
        .map { $0.detail?.description }
    }
    try shop.run(detail: true)
    let first = shop.clock.now
    shop.clock.advance(100_000)
    #expect(try shop.run(detail: true).details.unchanged == 1)

    #expect(try details(at: first) == ["About"])

    shop["/detail/A1"] = ScriptedShop.Answer(body: ScriptedShop.detail("More"))
    shop.clock.advance(100_000)
    #expect(try shop.run(detail: true).details.changed == 1)
    #expect(try details(at: first) == [nil])
  }

  @Test
  func `items that are added, removed, or get a new price, badge or picture are each reported`()
    throws
  {
    _ = try shop.sync(folder)
    var items = try #require(shop.items["A"])
    items[0].price = "6,500원"
    items[1].badges = ["이벤트특가", "론칭특가"]
    items.remove(at: 2)
    items.append(SampleShop.Item("A99"))
    items.swapAt(5, 6)
    shop.items["A"] = items
    try shop.publish()
    let painted = try Picture(SampleShop.base).resource("repainted", byteCount: 500)
    shop.store.content["/pictures/B1-thumb.jpg"] = painted
    shop.clock.advance(3601)

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.items.added == ["A99"])
    #expect(report.items.removed == ["A3"])
    #expect(
      report.items.changed == [
        .init(id: "A1", field: "salePrice", from: "7000", to: "6500"),
        .init(id: "A2", field: "badges", from: "신상품", to: "이벤트특가, 론칭특가"),
      ]
    )
    #expect(report.pictures.changed == 1)
    #expect(report.sections.map(\.source) == [.network, .unchanged])

    let diff = try reader().diff(from: nil, to: nil)
    #expect(diff.old == 1 && diff.new == 2)
    #expect(diff.items.added.map(\.id) == ["A99"])
    #expect(diff.items.removed.map(\.id) == ["A3"])
    #expect(diff.items.changed.map(\.id) == ["A1", "A2"])
    #expect(diff.pictures == ["\(shop.store.baseURL)/pictures/B1-thumb.jpg"])

    _ = try shop.sync(folder)
    #expect(try reader().diff(from: nil, to: nil).items.isEmpty)
    #expect(try reader().diff(from: 1, to: 3).items.added.map(\.id) == ["A99"])
    #expect(try reader().diff(from: 2, to: 1).items.added.map(\.id) == ["A3"])
    #expect(throws: LarderError.self) { _ = try reader().diff(from: 1, to: 17) }
  }

  @Test func `an item that changes its section is neither added nor removed`() throws {
    _ = try shop.sync(folder)
    let items = try #require(shop.items["A"])
    shop.items["A"] = Array(items.dropFirst())
    shop.items["B"]?.append(items[0])
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.items.changed == [.init(id: "A1", field: "section", from: "A", to: "B")])
    #expect(report.items.added.isEmpty && report.items.removed.isEmpty)
  }

  @Test func `a section that shrinks too fast keeps its whole list until the feed recovers`()
    throws
  {
    _ = try shop.sync(folder)
    let all = try #require(shop.items["A"])
    var cut = Array(all.prefix(6)) + [SampleShop.Item("A99")]
    cut[0].price = "1,000원"
    shop.items["A"] = cut
    try shop.publish()

    let withheld = try shop.sync(folder)
    shop.store.clearRequests()
    let unchanged = try shop.sync(folder)

    #expect(shop.store.requests.first { $0.path == "/shop/A" }?.status == 304)
    for report in [withheld, unchanged] {
      #expect(report.outcome == .withheld)
      #expect(report.items.withheld == (7...12).map { "A\($0)" })
      #expect(report.items.removed.isEmpty && report.items.added.isEmpty)
      #expect(report.items.changed.isEmpty)
      #expect(report.sections[0].items == 12 && report.sections[0].source == .withheld)
      #expect(report.pictures.total == 73)
    }
    #expect(try reader().list(section: "A").map(\.item.id) == all.map(\.id))

    shop.items["A"] = all
    try shop.publish()
    let recovered = try shop.sync(folder)
    #expect(recovered.outcome == .complete)
    #expect(recovered.items.withheld.isEmpty && recovered.items.added.isEmpty)
  }

  @Test func `allowed removals are applied, even if the origin answers 304`() throws {
    _ = try shop.sync(folder)
    shop.items["A"] = Array(try #require(shop.items["A"]).prefix(3))
    try shop.publish()
    #expect(try shop.sync(folder).outcome == .withheld)
    var options = SyncOptions()
    options.allowRemovals = true

    let report = try shop.sync(folder, options: options)

    #expect(report.outcome == .complete)
    #expect(report.items.removed == (4...12).map { "A\($0)" })
    #expect(try reader().list(section: "A").count == 3)
    #expect(try shop.sync(folder).outcome == .complete)
  }

  @Test func `all items of a section that is suddenly empty are kept`() throws {
    _ = try shop.sync(folder)
    shop.items["A"] = []
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.outcome == .withheld)
    #expect(report.items.withheld.count == 12 && report.items.total == 24)
  }

  @Test func `an outage does not release the shrink guard`() throws {
    _ = try shop.sync(folder)
    shop.items["A"] = Array(try #require(shop.items["A"]).prefix(3))
    try shop.publish()
    #expect(try shop.sync(folder).outcome == .withheld)
    shop.store.faults = [FaultRule("/shop/A", .status(503))]
    #expect(try shop.sync(folder).sections[0].items == 12)
    shop.store.faults = []

    let report = try shop.sync(folder)

    #expect(report.outcome == .withheld)
    #expect(report.items.withheld.count == 9)
  }
}
