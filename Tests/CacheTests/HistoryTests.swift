import Base
import GRDB
import Support
import Testing

@testable import Cache

/// The history of items in the index: their changes and prices.
struct HistoryTests {
  private let index: Index
  private let shop: CatalogID

  init() throws {
    index = try Index()
    shop = try index.catalog(named: "shop", currency: "KRW").id
  }

  @discardableResult
  private func run(
    at time: Int64,
    _ changes: ItemChange...,
    catalog: CatalogID? = nil
  ) throws -> RunID {
    try run(at: time, changes, catalog)
  }

  private func run(
    at time: Int64,
    _ changes: [ItemChange],
    _ catalog: CatalogID? = nil
  ) throws -> RunID {
    let run = try index.beginRun(catalog: catalog ?? shop, at: UnixTime(time))
    try index.endRun(
      run,
      at: UnixTime(time),
      outcome: "complete",
      report: [],
      sections: [],
      changes: changes
    )
    return run
  }

  private func price(_ from: Int64?, _ to: Int64?, of id: String = "A1") -> ItemChange {
    ItemChange(
      section: "main",
      id: id,
      field: .salePrice,
      from: from.map { .price($0, currency: "KRW") },
      to: to.map { .price($0, currency: "KRW") }
    )
  }

  private func listed(_ isListed: Bool, _ id: String = "A1") -> ItemChange {
    ItemChange(
      section: "main",
      id: id,
      field: .listed,
      from: isListed ? nil : .listed,
      to: isListed ? .listed : nil
    )
  }

  /// The changes as short lines of text.
  private func lines(_ id: String? = nil, since: UnixTime? = nil) throws -> [String] {
    try index.history(catalog: shop, item: id, since: since).map { change in
      let values = [change.from, change.to].map { $0?.text ?? "-" }.joined(separator: " → ")
      return "\(change.time.seconds) \(change.section)/\(change.id) \(change.kind) \(values)"
    }
  }

  private func count(_ table: String) throws -> Int {
    try index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
  }

  @Test
  func `a change is recorded with both values, and a run without changes leaves no row`()
    throws
  {
    try run(at: 100)
    try run(at: 200, price(7000, 6500))
    try run(at: 300)
    try run(at: 400, price(6500, 5900))

    #expect(
      try lines() == [
        "200 main/A1 salePrice 7000 KRW → 6500 KRW", "400 main/A1 salePrice 6500 KRW → 5900 KRW",
      ]
    )
    #expect(try lines("A2") == [])
    #expect(try lines("A1", since: 300) == ["400 main/A1 salePrice 6500 KRW → 5900 KRW"])
    #expect(try count("history_run") == 3 && count("history") == 3)
  }

  @Test
  func `an item that is added, removed and listed again has all three events, and its new price`()
    throws
  {
    try run(at: 100)
    try run(at: 200, listed(true), price(7000, 7000))
    try run(at: 300, listed(false), price(7000, 7000))
    try run(at: 400, listed(true), price(6000, 6000))

    #expect(
      try lines() == [
        "200 main/A1 added - → -", "300 main/A1 removed - → -", "400 main/A1 back - → -",
        "400 main/A1 salePrice 7000 KRW → 6000 KRW",
      ]
    )
  }

  @Test
  func
    `an item that returns with other badges, and then gets the old ones back, has both changes`()
    throws
  {
    func badges(_ from: String?, _ to: String?) -> ItemChange {
      ItemChange(
        section: "main",
        id: "A1",
        field: .badges,
        from: from.map { .text($0) },
        to: to.map { .text($0) }
      )
    }
    try run(at: 100)
    try run(at: 200, badges(nil, "new"))
    try run(at: 300, listed(false))
    try run(at: 400, listed(true))
    try run(at: 500, badges("sale", "new"))

    #expect(
      try lines() == [
        "200 main/A1 badges - → new", "300 main/A1 removed - → -", "400 main/A1 back - → -",
        "400 main/A1 badges new → sale", "500 main/A1 badges sale → new",
      ]
    )
  }

  @Test func `the removal of an item that the first run listed is recorded, but not its addition`()
    throws
  {
    try run(at: 100)
    try run(at: 200, listed(false), price(7000, 7000))

    #expect(try lines() == ["200 main/A1 removed - → -"])
  }

  @Test func `an item keeps its history when it moves to another section`() throws {
    try run(at: 100)
    try run(at: 200, price(7000, 6500))
    try run(
      at: 300,
      ItemChange(
        section: "soup",
        id: "A1",
        field: .section,
        from: .text("main"),
        to: .text("soup")
      )
    )

    #expect(
      try lines() == [
        "200 soup/A1 salePrice 7000 KRW → 6500 KRW", "300 soup/A1 section main → soup",
      ]
    )
    #expect(try count("history_item") == 1)
  }

  @Test func `a price keeps the currency it was recorded in`() throws {
    try run(at: 100)
    try run(at: 200, price(7000, 6500))
    _ = try index.catalog(named: "shop", currency: "USD")
    try run(
      at: 300,
      ItemChange(
        section: "main",
        id: "A1",
        field: .salePrice,
        from: .price(6500, currency: "KRW"),
        to: .price(499, currency: "USD")
      )
    )

    #expect(
      try lines() == [
        "200 main/A1 salePrice 7000 KRW → 6500 KRW", "300 main/A1 salePrice 6500 KRW → 499 USD",
      ]
    )
    let view =
      "SELECT old || ' ' || old_currency || ' ' || new || ' ' || currency FROM changes ORDER BY run"
    #expect(
      try index.read { try String.fetchAll($0, sql: view) } == [
        "7000 KRW 6500 KRW", "6500 KRW 499 USD",
      ]
    )
  }

  @Test func `each catalog of a cache has its own history, removed together with it`() throws {
    let other = try index.catalog(named: "other", currency: "EUR").id
    try run(at: 100)
    try run(at: 110, catalog: other)
    try run(at: 200, price(7000, 6500))
    try run(at: 210, price(7000, 6900), catalog: other)

    #expect(try lines() == ["200 main/A1 salePrice 7000 KRW → 6500 KRW"])

    try index.forgetCatalogs(["other"])

    #expect(try lines() == ["200 main/A1 salePrice 7000 KRW → 6500 KRW"])
    #expect(try count("history_run") == 2 && count("history_item") == 1 && count("history") == 2)
  }

  @Test func `forgetting old history keeps the values in force at that time`() throws {
    try run(at: 100)
    try run(at: 200, price(7000, 6500), listed(false, "B1"), price(900, 900, of: "B1"))
    try run(at: 300, price(6500, 6000), listed(true, "C1"), price(500, 500, of: "C1"))
    try run(at: 500, price(6000, 8000), price(500, 400, of: "C1"))

    #expect(try index.forgetHistory(before: 400) == 5)

    #expect(
      try lines() == [
        "500 main/A1 salePrice 6000 KRW → 8000 KRW", "500 main/C1 salePrice 500 KRW → 400 KRW",
      ]
    )
    let steps = try #require(
      try index.priceSteps(of: [("main", "A1")], catalog: shop, since: 0, through: 99)
    )
    #expect(steps.beginning == 100 && steps.forgotten == 400)
    #expect(steps.items[0].map(\.time) == [300, 500])
    #expect(try count("history_item") == 2 && count("history_run") == 3)
    #expect(try index.forgetHistory(before: 400) == 0)
  }

  @Test func `prices since a moment start with the price in force at that moment`() throws {
    try run(at: 100)
    for time in stride(from: Int64(200), through: 900, by: 100) {
      try run(at: time, price(time - 100, time))
    }

    let steps = try index.priceSteps(of: [("main", "A1")], catalog: shop, since: 650, through: 8)

    #expect(steps?.items[0].map(\.time) == [600, 700, 800])
    #expect(
      try index.priceSteps(of: [], catalog: CatalogID(rawValue: 99), since: 0, through: 1) == nil
    )
  }

  @Test func `the history of an index from before history begins with its last run`() throws {
    let older = try index.beginRun(catalog: shop, at: 50)
    try index.endRun(older, at: 60, outcome: "complete", report: [], sections: [])
    try index.write { try $0.execute(sql: "DELETE FROM history_run") }

    try run(at: 100, price(7000, 6500))

    let steps = try index.priceSteps(of: [("main", "A1")], catalog: shop, since: 0, through: 9)
    #expect(steps?.beginning == 60)
    #expect(steps?.items[0].map(\.time) == [60, 100])
  }

  @Test func `a new run never reuses a number from the history`() throws {
    let last = try run(at: 100, price(7000, 6500))
    try index.write { try $0.execute(sql: "DELETE FROM run") }

    #expect(try index.beginRun(catalog: shop, at: 200) > last)
  }

  /// The catalog has 100 items, which stand for 10,000.
  ///
  /// The history covers ten years.
  ///
  /// Each night, 3 % of the prices change, 0.5 % of the badges, and 0.1 % each of the titles, thumbnails and normal
  /// prices. 0.1 % of the items are replaced by new items.
  @Test func `ten years of nightly runs of 10,000 items take less than 50 MB`() throws {
    var random = SplitMix64(1)
    var items = (0..<100).map { "ITEM\($0)" }
    try run(at: 0)

    for night in 1...3650 {
      var changes: [ItemChange] = []
      func often(_ percent: Double) -> Bool {
        Double.random(in: 0..<100, using: &random) < percent
      }
      for place in items.indices {
        func add(_ field: HistoryField, _ from: HistoryValue?, _ to: HistoryValue?) {
          changes.append(
            ItemChange(section: "main", id: items[place], field: field, from: from, to: to)
          )
        }
        let units = Int64.random(in: 10...900, using: &random) * 100
        let price = HistoryValue.price(units, currency: "KRW")
        if often(3) { add(.salePrice, .price(units + 100, currency: "KRW"), price) }
        if often(0.1) { add(.normalPrice, .price(units + 100, currency: "KRW"), price) }
        if often(0.5) { add(.badges, nil, .text("이벤트특가, 론칭특가 \(units)")) }
        if often(0.1) { add(.title, .text("상차림"), .text("경상도 한상차림 \(units)")) }
        if often(0.1) {
          let digest = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
          add(.thumbnail, nil, .digests(digest))
        }
        if often(0.1) {
          add(.listed, .listed, nil)
          add(.salePrice, price, price)
          items[place] = "ITEM\(night)-\(place)"
          add(.listed, nil, .listed)
          add(.salePrice, price, price)
        }
      }
      _ = try run(at: Int64(night) * 86_400, changes)
    }

    let bytes = try index.read { db in
      let tables = "name GLOB '*history*' AND name NOT GLOB '*history_run*'"
      return try Int.fetchOne(db, sql: "SELECT sum(pgsize) FROM dbstat WHERE \(tables)") ?? .max
    }
    #expect(bytes * 100 < 50_000_000, "\(bytes * 100) bytes")
  }
}
