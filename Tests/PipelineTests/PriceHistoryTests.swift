import Base
import GRDB
import SampleStore
import Support
import Testing

@testable import Cache
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

/// The verdicts on reference prices, which are the higher prices crossed out beside a sale price.
struct StruckPriceTests {
  private static let day: Int64 = 86_400

  private enum Field {
    case struck, sale, listed
  }

  /// A price that is valid from a day on; 0 if there is none.
  private static func step(_ day: Int64, _ field: Field, _ units: Int64) -> PriceStep {
    let value: HistoryValue? = units == 0 ? nil : .price(units, currency: "KRW")
    let time = UnixTime(day * Self.day)
    switch field {
    case .struck: return PriceStep(run: day, time: time, field: .normalPrice, value: value)
    case .sale: return PriceStep(run: day, time: time, field: .salePrice, value: value)
    case .listed:
      return PriceStep(run: day, time: time, field: .listed, value: units == 0 ? nil : .listed)
    }
  }

  /// The verdict on an item with the reference price 8,000 and the sale price 6,000.
  ///
  /// Its history begins on day 1.
  private func judge(
    _ steps: [(Int64, Field, Int64)],
    struck: Int? = 8000,
    sale: Int? = 6000,
    currency: String = "KRW"
  ) -> String {
    let item = StoreItem(
      id: "A1",
      title: "A1",
      normalPrice: struck.map { Price(minorUnits: $0, currency: currency) },
      salePrice: sale.map { Price(minorUnits: $0, currency: "KRW") }
    )
    let course = PriceCourse(
      of: item,
      steps.map { Self.step($0.0, $0.1, $0.2) },
      since: UnixTime(Self.day)
    )
    switch StruckPrice.Judgement(of: item, course) {
    case nil: return "no sale"
    case .lowest: return "lowest"
    case .unknown: return "unknown"
    case .higher(let found):
      let days = [found.began, found.lowest.time].map { $0.seconds / Self.day }
      return "sale of \(days[0]): \(found.lowest.price.minorUnits) since \(days[1])"
    }
  }

  @Test func `an item without a lower sale price has no reference price`() {
    #expect(judge([], struck: nil) == "no sale")
    #expect(judge([], sale: nil) == "no sale")
    #expect(judge([], struck: 6000) == "no sale")
    #expect(judge([], struck: 5000) == "no sale")
    #expect(judge([], currency: "EUR") == "no sale")
  }

  @Test func `the reference price is fair when nothing lower applied in the 30 days`() {
    #expect(judge([(1, .sale, 0), (50, .sale, 6000)]) == "lowest")
    #expect(judge([(1, .sale, 8000), (50, .sale, 6000)]) == "lowest")
    #expect(judge([(1, .sale, 9000), (50, .sale, 6000)]) == "lowest")
    // A sale that ended on the day before the 30 days.
    #expect(judge([(1, .sale, 5000), (20, .sale, 0), (50, .sale, 6000)]) == "lowest")
  }

  @Test func `a lower price within the 30 days is reported, with its start`() {
    #expect(judge([(1, .sale, 7000), (50, .sale, 6000)]) == "sale of 50: 7000 since 1")
    #expect(
      judge([(1, .sale, 5000), (21, .sale, 0), (50, .sale, 6000)]) == "sale of 50: 5000 since 1"
    )
    #expect(
      judge([(1, .sale, 0), (40, .sale, 5500), (41, .sale, 0), (50, .sale, 6000)])
        == "sale of 50: 5500 since 40"
    )
    #expect(
      judge([(1, .struck, 7500), (45, .struck, 8000), (1, .sale, 0), (50, .sale, 6000)])
        == "sale of 50: 7500 since 1"
    )
  }

  @Test func `a sale that is reduced further is judged by the price before its last step`() {
    #expect(
      judge([(1, .sale, 0), (40, .sale, 7000), (50, .sale, 6000)]) == "sale of 50: 7000 since 40"
    )
  }

  @Test func `a reference price added to an unchanged price begins a sale`() {
    #expect(judge([(1, .struck, 0), (50, .struck, 8000)]) == "sale of 50: 6000 since 1")
    // A reference price that is raised later is judged by the days before the sale.
    #expect(
      judge([(1, .struck, 7500), (60, .struck, 8000), (1, .sale, 0), (50, .sale, 6000)])
        == "sale of 50: 7500 since 1"
    )
  }

  @Test func `days without a listing do not count, and the item's return begins a sale`() {
    let away: [(Int64, Field, Int64)] = [(1, .listed, 1), (30, .listed, 0), (50, .listed, 1)]
    #expect(judge(away) == "sale of 50: 6000 since 1")
    #expect(judge(away + [(1, .sale, 7000), (50, .sale, 6000)]) == "sale of 50: 7000 since 1")
    let long: [(Int64, Field, Int64)] = [(1, .listed, 1), (20, .listed, 0), (50, .listed, 1)]
    #expect(judge(long + [(1, .sale, 7000), (50, .sale, 6000)]) == "unknown")
  }

  @Test func `a history that does not cover 30 days before the sale gives no verdict`() {
    #expect(judge([]) == "unknown")
    #expect(judge([(1, .sale, 7000), (30, .sale, 6000)]) == "unknown")
    #expect(judge([(1, .sale, 7000), (31, .sale, 6000)]) == "sale of 31: 7000 since 1")
    // A new item, and an item whose prices before day 25 are forgotten.
    #expect(judge([(40, .listed, 1), (40, .sale, 7000), (50, .sale, 6000)]) == "unknown")
    #expect(judge([(25, .sale, 7000), (50, .sale, 6000)]) == "unknown")
  }

  @Test func `a price in another currency is not compared`() {
    let euro = PriceStep(
      run: 1,
      time: UnixTime(Self.day),
      field: .salePrice,
      value: .price(500, currency: "EUR")
    )
    let item = StoreItem(
      id: "A1",
      title: "A1",
      normalPrice: Price(minorUnits: 8000, currency: "KRW"),
      salePrice: Price(minorUnits: 6000, currency: "KRW")
    )
    let steps = [euro, Self.step(30, .sale, 8000), Self.step(50, .sale, 6000)]

    let course = PriceCourse(of: item, steps, since: UnixTime(Self.day))

    #expect(StruckPrice.Judgement(of: item, course) == .lowest)
  }

  @Test func `a catalog's sections are judged from the index, with the number of unknown items`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    for key in shop.keys {
      for place in 0..<3 { shop.items[key]?[place].normalPrice = "8,000원" }
    }
    shop.items["B"]?[2].normalPrice = nil
    try shop.publish()
    _ = try shop.sync(folder)
    shop.clock.advance(31 * Self.day)
    shop.items["A"]?[0].price = "6,000원"
    shop.items["A"]?[1].price = "7,500원"
    shop.items["A"]?[1].normalPrice = "7,000원"
    try shop.publish()
    _ = try shop.sync(folder)

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let found = try reader.struckPrices()

    #expect(found.map(\.itemCount) == [3, 3])
    #expect(found.map(\.saleCount) == [2, 2] && found.map(\.unknownCount) == [1, 2])
    let struck = try #require(found[0].higher.first)
    #expect(found.map(\.higher.count) == [1, 0] && struck.id == "A1")
    #expect(struck.price.minorUnits == 8000 && struck.salePrice.minorUnits == 6000)
    #expect(struck.began == shop.clock.now && struck.lowest.price.minorUnits == 7000)
    #expect(try reader.historyBeginning() == struck.lowest.time)
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
      shop.store.faults = []
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
