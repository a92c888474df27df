import Base
import Cache
import GRDB
import SampleStore
import Support
import Testing

@testable import Catalog
@testable import Pipeline

/// The lowest price of an item in the last 30 days, from its recorded price changes.
struct PriceHistoryTests {
  private static let day: Int64 = 86_400

  private func item(_ sale: Int?, normal: Int? = nil) -> StoreItem {
    StoreItem(
      id: "A1",
      title: "A1",
      normalPrice: normal.map { Price(minorUnits: $0, currency: "KRW") },
      salePrice: sale.map { Price(minorUnits: $0, currency: "KRW") }
    )
  }

  private func sale(_ day: Int64, _ units: Int64?) -> PriceStep {
    PriceStep(
      run: day,
      time: UnixTime(day * Self.day),
      field: .salePrice,
      value: units.map { .price($0, currency: "KRW") }
    )
  }

  private func listed(_ day: Int64, _ isListed: Bool) -> PriceStep {
    PriceStep(
      run: day,
      time: UnixTime(day * Self.day),
      field: .listed,
      value: isListed ? .listed : nil
    )
  }

  /// The lowest price from day 70 on, and the day on which that price began.
  private func lowest(_ item: StoreItem, _ steps: [PriceStep]) -> [Int64]? {
    LowestPrice(of: item, steps, since: UnixTime(Self.day), from: UnixTime(70 * Self.day)).map {
      [Int64($0.price.minorUnits), $0.time.seconds / Self.day]
    }
  }

  @Test func `a price that never changed is the lowest since the history began`() {
    #expect(lowest(item(7000), []) == [7000, 1])
    #expect(lowest(item(nil, normal: 8000), []) == [8000, 1])
    #expect(lowest(item(nil), []) == nil)
  }

  @Test func `the lowest price is one that applied within the 30 days`() {
    #expect(lowest(item(7000), [sale(1, 5000), sale(80, 7000)]) == [5000, 1])
    #expect(lowest(item(7000), [sale(1, 5000), sale(70, 7000)]) == [7000, 70])
    #expect(lowest(item(7000), [sale(1, 9000), sale(80, 6000), sale(90, 7000)]) == [6000, 80])
  }

  @Test func `a price that applied twice is dated by the second time`() {
    #expect(
      lowest(item(6000), [sale(60, 6000), sale(80, 7000), sale(90, 6000)]) == [6000, 90]
    )
  }

  @Test func `if older prices were deleted, the lowest is not known`() {
    #expect(lowest(item(7000), [listed(1, true), sale(80, 7000)]) == nil)
    #expect(lowest(item(7000), [listed(1, true), sale(60, 7000)]) == [7000, 60])
    // An older larder recorded no missing price.
    #expect(lowest(item(7000), [listed(1, true), sale(75, nil), sale(80, 7000)]) != nil)
  }

  @Test func `after a sale the normal price applies`() {
    #expect(lowest(item(nil, normal: 8000), [sale(60, 6000), sale(80, nil)]) == [6000, 60])
    #expect(lowest(item(nil, normal: 8000), [sale(60, 6000), sale(69, nil)]) == [8000, 69])
  }

  @Test func `time in which no section lists the item does not count`() {
    let gone = [listed(1, true), listed(60, false), listed(90, true)]
    #expect(lowest(item(7000), gone + [sale(1, 5000), sale(90, 7000)]) == [7000, 90])
    #expect(lowest(item(7000), [listed(90, true), sale(90, 7000)]) == [7000, 90])
  }

  @Test func `the later of two runs in one second sets the price, and both count as seen`() {
    func step(_ run: Int64, _ units: Int64) -> PriceStep {
      PriceStep(
        run: run,
        time: UnixTime(90 * Self.day),
        field: .salePrice,
        value: .price(units, currency: "KRW")
      )
    }
    #expect(lowest(item(7000), [sale(1, 8000), step(91, 6000), step(92, 7000)]) == [6000, 90])
  }

  @Test func `a price in another currency is not compared`() {
    let dollars = PriceStep(
      run: 1,
      time: UnixTime(Self.day),
      field: .salePrice,
      value: .price(499, currency: "USD")
    )
    #expect(lowest(item(7000), [dollars, sale(80, 7000)]) == [7000, 80])
  }
}

/// The history of a shop as recorded by syncs.
struct RecordedHistoryTests {
  private static func text(_ change: RecordedChange) -> String {
    let values = [change.from, change.to].map { $0?.text ?? "-" }.joined(separator: " → ")
    return "\(change.run) \(change.section)/\(change.id) \(change.kind) \(values)"
  }

  @Test func `picture changes are found by their bytes, with the same URL or another`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 3)
    _ = try shop.sync(folder)
    let reader = { try CatalogReader(cache: folder.path("cache"), catalog: nil) }
    let before = try reader().list().map { $0.thumbnail?.sha256 ?? "-" }
    let painted = try Picture(SampleShop.base).resource("repainted", byteCount: 500)
    shop.store.content["/pictures/A1-thumb.jpg"] = painted
    shop.items["A"]?[1].thumbnail = "/pictures/other.jpg"
    try shop.publish()
    shop.clock.advance(3601)

    _ = try shop.sync(folder)

    let after = try reader().list().map { $0.thumbnail?.sha256 ?? "-" }
    #expect(
      try reader().history().map(Self.text) == [
        "2 A/A1 thumbnail \(before[0]) → \(after[0])",
        "2 A/A2 thumbnail \(before[1]) → \(after[1])",
      ]
    )
    #expect(before[0] != after[0] && before[1] != after[1])
  }

  @Test func `a damaged index keeps its history, and the next sync continues it`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 3)
    _ = try shop.sync(folder)
    shop.items["A"]?[0].price = "6,500원"
    try shop.publish()
    _ = try shop.sync(folder)
    try DatabaseQueue(path: folder.path("cache/index.sqlite")).write { db in
      try db.execute(sql: "UPDATE item SET body = x'00'")
    }
    shop.items["A"]?[0].price = "6,000원"
    try shop.publish()

    let report = try shop.sync(folder)

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(report.run == 3)
    #expect(
      try reader.history(of: "A1").map(Self.text) == [
        "2 A/A1 salePrice 7000 KRW → 6500 KRW", "3 A/A1 salePrice 6500 KRW → 6000 KRW",
      ]
    )
    #expect(try reader.show("A1")?.lowest30Days?.price.minorUnits == 6000)
  }

  @Test func `an earlier catalog has its items and prices, and those pictures that are unchanged`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 3)
    _ = try shop.sync(folder)
    let first = shop.clock.now
    let then = try CatalogReader(cache: folder.path("cache"), catalog: nil).list()
    let painted = try Picture(SampleShop.base).resource("repainted", byteCount: 500)
    shop.store.content["/pictures/A1-thumb.jpg"] = painted
    shop.items["A"]?[1].price = "100원"
    shop.items["A"]?.removeLast()
    try shop.publish()
    shop.clock.advance(3601)
    _ = try shop.sync(folder)

    func list(_ moment: UnixTime) throws -> [ShownItem] {
      try CatalogReader(cache: folder.path("cache"), catalog: nil, at: moment).list()
    }
    let past = try list(first + 3600)
    let now = try list(shop.clock.now)

    #expect(past.map(\.item) == then.map(\.item))
    #expect(past.map { $0.thumbnail?.state } == [.missing, .held, .held])
    #expect(past[2] == then[2] && past[1].lowest30Days == then[1].lowest30Days)
    #expect(now.map(\.id) == ["A1", "A2"] && now[1].lowest30Days?.price.minorUnits == 100)
    #expect(throws: LarderError.self) { _ = try list(first + -1) }
  }

  // MARK: - Sections

  /// A shop whose sections A and B list the dish "x" at a price, or not, two days apart.
  private func moves(
    _ runs: [[String: String]],
    _ isEnd: (Int) -> Bool = { _ in true },
    then read: (CatalogReader) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 2)
    let others = shop.items
    var options = SyncOptions()
    options.noDetails = true
    options.allowRemovals = true
    for (number, prices) in runs.enumerated() {
      shop.clock.advance(2 * 86_400)
      for (key, items) in others {
        var item = SampleShop.Item("x")
        if let price = prices[key] { item.price = price }
        shop.items[key] = items + (prices[key] == nil ? [] : [item])
      }
      try shop.publish()
      _ = try shop.sync(folder, shop.catalog(detail: false), options: options)
      guard isEnd(number) else { continue }
      try read(CatalogReader(cache: folder.path("cache"), catalog: nil, at: shop.clock.now))
    }
  }

  @Test func `an item that returns to a section continues its history there`() throws {
    let runs = [["A": "500", "B": "500"], ["A": "500"], ["B": "300"], ["B": "600"], ["B": "600"]]
    var lowest: [Int] = []
    var kinds: [String] = []
    try moves(runs) { reader in
      let item = try reader.list().first { $0.id == "x" && $0.sections == ["B"] }
      lowest.append(item?.lowest30Days?.price.minorUnits ?? 0)
      kinds = try reader.history(of: "x").map { "\($0.run) \($0.section) \($0.kind)" }
    }

    #expect(lowest == [500, 0, 300, 300, 300])
    #expect(
      kinds == [
        "2 B removed", "3 A removed", "3 B back", "3 B salePrice", "4 B salePrice",
      ]
    )
  }

  @Test func `an item that comes back in another section continues its history there`() throws {
    var lowest: [Int] = []
    var kinds: [String] = []
    try moves([["A": "1000"], [:], ["B": "4000"], ["B": "3000"], [:], ["B": "3000"]]) { reader in
      lowest.append(try reader.list().first { $0.id == "x" }?.lowest30Days?.price.minorUnits ?? 0)
      kinds = try reader.history(of: "x").map { "\($0.run) \($0.section) \($0.kind)" }
    }

    #expect(lowest == [1000, 0, 1000, 1000, 0, 1000])
    #expect(
      kinds == [
        "2 B removed", "3 B back", "3 B salePrice", "3 B section", "4 B salePrice", "5 B removed",
        "6 B back",
      ]
    )
  }

  /// The kinds of changes of an item that each day's sync finds as given, or not at all, and its change since the first.
  private func history(of item: [SampleShop.Item?]) throws -> (kinds: [String], change: NetChange)
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 12)
    let others = shop.items["A"] ?? []
    for item in item {
      shop.clock.advance(86_400)
      shop.items["A"] = others + [item].compactMap(\.self)
      try shop.publish()
      _ = try shop.sync(folder, shop.catalog(detail: false))
    }
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    return (
      try reader.history(of: "x").map { "\($0.run) \($0.kind)" },
      try #require(reader.netChanges(after: 1).first)
    )
  }

  @Test func `an item that comes back with another picture has changed`() throws {
    let first = SampleShop.Item("x")
    var last = first
    last.thumbnail = "/pictures/other.jpg"

    let (kinds, change) = try history(of: [first, nil, last, nil, last])

    #expect(kinds == ["2 removed", "3 back", "3 thumbnail", "4 removed", "5 back"])
    #expect(change.presence == .stayed && change.hasNewPictures)
  }

  @Test
  func `a picture that could be fetched only later is in the history, those of details are not`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 3)
    _ = try shop.sync(folder)
    shop.items["A"]?[0].thumbnail = "/pictures/other.jpg"
    shop.items["A"]?[0].gallery[0] = "/pictures/other-top.jpg"
    try shop.publish()
    shop.store.faults = [FaultRule("/pictures/other.jpg", .status(500))]
    for _ in 0..<2 {
      shop.clock.advance(86_400)
      _ = try shop.sync(folder)
      shop.store.faults = .none
    }
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    func digest(_ path: String) throws -> String {
      Hexadecimal.text(ContentDigest.sha256(try SampleShop.bytes(of: path)))
    }
    let url = "\(shop.store.baseURL)/pictures/other.jpg"

    #expect(
      try reader.history().map(Self.text) == [
        "2 A/A1 thumbnail \(digest("/pictures/A1-thumb.jpg")) → \(url)",
        "3 A/A1 thumbnail \(url) → \(digest("/pictures/other.jpg"))",
      ]
    )
  }

  @Test func `an item that comes back with other values has changed`() throws {
    var first = SampleShop.Item("x")
    first.badges = ["new"]
    var last = first
    (last.badges, last.title) = (["sale"], "Another title")

    let (kinds, change) = try history(of: [first, nil, last, nil, last])

    #expect(kinds == ["2 removed", "3 back", "3 title", "3 badges", "4 removed", "5 back"])
    #expect(change.presence == .stayed && change.badges == "new" && change.newBadges == "sale")
  }

  @Test func `the lowest price at a time before an item moved is that of the section then`() throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 2)
    let others = shop.items
    var times: [UnixTime] = []
    for (price, key) in [("500", "A"), ("300", "A"), ("600", "A"), ("700", "B"), ("800", "B")] {
      shop.clock.advance(2 * 86_400)
      var item = SampleShop.Item("x")
      item.price = price
      shop.items = others
      shop.items[key]?.append(item)
      try shop.publish()
      var options = SyncOptions()
      options.allowRemovals = true
      _ = try shop.sync(folder, shop.catalog(detail: false), options: options)
      times.append(shop.clock.now)
    }

    let lowest = try times.map { time in
      let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil, at: time)
      return try reader.list().first { $0.id == "x" }?.lowest30Days?.price.minorUnits
    }

    #expect(lowest == [500, 300, 300, 300, 300])
  }

  @Test func `notices tell the price of the section in which it changed`() throws {
    let runs = [["A": "1000", "B": "2000"], ["A": "1000", "B": "1900"]]
    var told: [String] = []
    try moves(runs, { $0 == 1 }) { reader in
      told = try reader.netChanges(after: RunID(rawValue: 1)).map {
        "\($0.section) \($0.price?.minorUnits ?? 0) \($0.newPrice?.minorUnits ?? 0)"
      }
    }

    #expect(told == ["B 2000 1900"])
  }
}
