import Base
import Cache
import Catalog
import Foundation
import GRDB
import SampleStore
import Support
import Testing

@testable import Pipeline

/// A model of a shop's history.
///
/// It stores every run completely, and the real history is compared with it.
private struct HistoryModel {
  /// A run whose listings are not yet forgotten.
  struct Run {
    let time: Int64
    /// The listings, one line for each item.
    let listed: [String]
  }

  /// The runs whose listings are not yet forgotten, oldest first.
  var runs: [Run] = []
  /// All changes, one line each.
  private(set) var lines: [(time: Int64, line: String)] = []
  /// The prices of each item, with the end of the run that set them.
  ///
  /// A price is nil while no section lists the item.
  private var prices: [String: [(time: Int64, price: Int?)]] = [:]
  private var before: [String: [String: SampleShop.Item]] = [:]
  private var seen: Set<String> = []
  private var forgotten = Int64.min
  private var isEmpty = true

  /// The normal price and the sale price of each item that was listed once, as it was listed last.
  private var known: [String: [Int?]] = [:]
  /// The first badge of each item that was listed once, as it was listed last.
  private var badges: [String: String] = [:]

  /// The normal price and the sale price.
  static func units(_ item: SampleShop.Item) -> [Int?] {
    [item.normalPrice ?? "", item.price].map { Int($0.filter(\.isNumber)) }
  }
  /// The price to pay.
  static func price(_ item: SampleShop.Item) -> Int? { units(item)[1] ?? units(item)[0] }

  /// Records a finished run.
  mutating func add(_ run: RunID, at now: Int64, _ shop: SampleShop) {
    for key in shop.keys.sorted() {
      let old = before[key] ?? [:]
      let new = Dictionary(uniqueKeysWithValues: (shop.items[key] ?? []).map { ($0.id, $0) })
      for id in Set(old.keys).union(new.keys).sorted() {
        func add(_ words: String) { lines.append((now, "\(run) \(key)/\(id) \(words)")) }
        let price = new[id].flatMap(Self.price)
        if prices[id] == nil || prices[id]?.last?.price != price {
          prices[id, default: []].append((now, price))
        }
        let last = seen.contains(id) ? known[id] : nil
        known[id] = new[id].map(Self.units) ?? known[id]
        let lastBadge = seen.contains(id) ? badges[id] : nil
        badges[id] = new[id].map { $0.badges.first ?? "-" } ?? badges[id]
        if isEmpty { continue }
        func addBadges() {
          guard let from = lastBadge, let to = badges[id], from != to else { return }
          add("badges \(from) → \(to)")
        }
        func addPrices() {
          guard let last, let units = new[id].map(Self.units) else { return }
          for (field, (from, to)) in zip(["normalPrice", "salePrice"], zip(last, units))
          where from != to {
            let words = [from, to].map { $0.map { "\($0) KRW" } ?? "-" }
            add("\(field) \(words[0]) → \(words[1])")
          }
        }
        switch (old[id], new[id]) {
        case (nil, .some):
          add("\(seen.contains(id) ? "back" : "added") - → -")
          addPrices()
          addBadges()
        case (.some, nil): add("removed - → -")
        case (.some, .some):
          addPrices()
          addBadges()
        case (nil, nil): break
        }
      }
      before[key] = new
      seen.formUnion(new.keys)
    }
    isEmpty = false
    let listed = shop.keys.flatMap { key in
      (shop.items[key] ?? []).map { "\(key)/\($0.id) \(Self.price($0) ?? 0) \($0.badges)" }
    }
    runs.append(Run(time: now, listed: listed))
  }

  /// Forgets the changes before a moment, and all runs but the last two.
  mutating func forget(before moment: Int64) {
    forgotten = max(forgotten, moment)
    lines.removeAll { $0.time < forgotten }
    runs = runs.suffix(2)
    // An item that was removed before that moment counts as new when it returns.
    for (id, steps) in prices {
      guard let last = steps.last, last.price == nil, last.time < forgotten else { continue }
      seen.remove(id)
      prices[id] = nil
    }
  }

  /// Starts a new history with the last run, as larder does if an older version without a history made the index.
  mutating func beginAgain() {
    runs = runs.suffix(1)
    lines = []
    seen = Set(before.values.flatMap(\.keys))
    prices = prices.filter { seen.contains($0.key) }
      .mapValues { [(runs.last?.time ?? 0, $0.last?.price)] }
  }

  /// The lowest price of the 30 days before a moment, and its start.
  func lowest(_ id: String, at now: Int64) -> (price: Int, time: Int64)? {
    let steps = (prices[id] ?? []).filter { $0.time <= now }
    var lowest: (price: Int, time: Int64)?
    for (place, step) in steps.enumerated() {
      let end = place + 1 < steps.count ? steps[place + 1].time : .max
      guard let price = step.price, end > now - 30 * 86_400 else { continue }
      if lowest.map({ price <= $0.price }) ?? true { lowest = (price, step.time) }
    }
    return lowest
  }
}

/// Histories of 200 runs, compared with a model that stores every run completely.
struct HistoryModelTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 6)
  }

  @Test(arguments: Sweep.isWhole ? Array(UInt64(1)...8) : [1])
  func `every answer equals the model's, after crashes, sweeps, repairs and a migration`(
    _ seed: UInt64
  ) throws {
    var random = SplitMix64(seed)
    var model = HistoryModel()
    func often(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    for round in 1...(Sweep.isWhole ? 200 : 120) {
      if round > 1 { change(using: &random) }
      try shop.publish()
      shop.clock.advance(86_400 * Int64.random(in: 1...4, using: &random))
      if round > 1, often(6) { try crash() }
      if often(25) {
        try sweep()
        model.forget(before: shop.clock.now.seconds - 60 * 86_400)
      }
      if round > 1, often(25) { try repairPicture() }
      if [60, 150].contains(round) {
        try migrate()
        model.beginAgain()
      }
      model.add(try sync(), at: shop.clock.now.seconds, shop)
      if [40, 110, 180].contains(round) {
        try repairIndex()
        model.runs = []
        // Another sync of the same shop, which fills the new index.
        shop.clock.advance(86_400)
        model.add(try sync(), at: shop.clock.now.seconds, shop)
      }
      try compare(with: model, "round \(round)")
      if let past = model.runs.randomElement(using: &random) {
        try compare(with: model, at: past, "round \(round), back to \(past.time)")
      }
    }
  }

  private func sync() throws -> RunID {
    var options = SyncOptions()
    options.noDetails = true
    options.allowRemovals = true
    let report = try shop.sync(folder, shop.catalog(detail: false), options: options)
    return try #require(report.run)
  }

  private func change(using random: inout SplitMix64) {
    for key in shop.keys {
      var items = shop.items[key] ?? []
      for place in items.indices where Int.random(in: 0..<4, using: &random) == 0 {
        items[place].price = "\(Int.random(in: 3...9, using: &random)),000원"
      }
      // A normal price from 11,000 to 15,000, and items without a sale price.
      for place in items.indices where Int.random(in: 0..<6, using: &random) == 0 {
        items[place].normalPrice = "1\(Int.random(in: 1...5, using: &random)),000원"
        if Bool.random(using: &random) { items[place].price = "" }
      }
      // Only items that are never removed are compared, because the history does not record the badges of an item that
      // returns.
      if Int.random(in: 0..<3, using: &random) == 0,
        let place = (0..<4).randomElement(using: &random)
      {
        items[place].badges = [["신상품"], ["론칭특가"], []].randomElement(using: &random) ?? []
      }
      if Int.random(in: 0..<3, using: &random) == 0, items.count > 4 {
        items.removeLast()
      } else if Int.random(in: 0..<2, using: &random) == 0, items.count < 6 {
        items.append(SampleShop.Item("\(key)\(items.count + 1)"))
      }
      shop.items[key] = items
    }
  }

  private func write(_ sql: String) throws {
    try DatabaseQueue(path: folder.path("cache/index.sqlite")).write { try $0.execute(sql: sql) }
  }

  /// Makes a run crash in its last transaction, after it has written everything including its changes.
  private func crash() throws {
    try write(
      """
      CREATE TRIGGER crash BEFORE UPDATE OF finished ON run WHEN new.finished IS NOT NULL
      BEGIN SELECT RAISE(ROLLBACK, 'a crash'); END
      """
    )

    #expect(throws: (any Error).self) { _ = try sync() }

    try write("DROP TRIGGER crash")
  }

  private func sweep() throws {
    var limits = SweepOptions()
    limits.prices = .seconds(60 * 86_400)
    limits.history = .zero
    _ = try CacheGc(folder.path("cache"), options: limits, now: shop.clock.now)
      .run(holder: "a test")
  }

  private func repair() throws {
    let check = try CacheCheck(
      folder.path("cache"),
      holder: "a test",
      depth: .full,
      now: shop.clock.now
    )
    let report = try check.run(.full)
    #expect(!report.isClean)
    try check.repair(report)
  }

  private func repairPicture() throws {
    let name = try #require(folder.files(below: "cache/images").keys.min())
    try folder.write(Array("no picture".utf8), to: name)
    try repair()
  }

  /// Damages the items of the index, so that it is rebuilt.
  private func repairIndex() throws {
    let path = folder.path("cache/index.sqlite")
    let (page, size) = try DatabaseQueue(path: path).read { db in
      (
        try Int.fetchOne(db, sql: "SELECT min(pageno) FROM dbstat WHERE name = 'item'") ?? 0,
        try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
      )
    }
    try #require(page > 1)
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: UInt64((page - 1) * size))
    try file.write(contentsOf: [UInt8](repeating: 0x5A, count: size))
    try file.close()
    try repair()
  }

  /// Turns the index into one of an older larder, which the next run migrates.
  private func migrate() throws { try OlderIndex.replace(folder.path("cache/index.sqlite")) }

  private func reader(at moment: UnixTime? = nil) throws -> CatalogReader {
    try CatalogReader(cache: folder.path("cache"), catalog: nil, at: moment)
  }

  private func compare(with model: HistoryModel, _ words: String) throws {
    let found = try reader().history().map { change in
      let values = [change.from, change.to].map { $0?.text ?? "-" }.joined(separator: " → ")
      return "\(change.run) \(change.section)/\(change.id) \(change.kind) \(values)"
    }
    #expect(found == model.lines.map(\.line), "\(words)")
    let last = try #require(model.runs.last)
    try compare(reader().list(), with: model, last, words)
  }

  private func compare(
    with model: HistoryModel,
    at past: HistoryModel.Run,
    _ words: String
  ) throws {
    try compare(reader(at: UnixTime(past.time + 3600)).list(), with: model, past, words)
  }

  private func compare(
    _ items: [ShownItem],
    with model: HistoryModel,
    _ run: HistoryModel.Run,
    _ words: String
  ) throws {
    let listed = items.map {
      "\($0.sections[0])/\($0.id) \(($0.salePrice ?? $0.normalPrice)?.minorUnits ?? 0) \($0.badges)"
    }
    #expect(listed == run.listed, "\(words)")
    for item in items {
      let lowest = model.lowest(item.id, at: run.time)
      #expect(item.lowest30Days?.price.minorUnits == lowest?.price, "\(words), \(item.id)")
      #expect(item.lowest30Days?.time.seconds == lowest?.time, "\(words), \(item.id)")
    }
  }
}
