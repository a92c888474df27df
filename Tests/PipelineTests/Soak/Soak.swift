import Base
import Cache
import Foundation
import Pipeline
import Support

/// A cache, its origin and the model of the expected contents, over any number of runs.
struct Soak {
  private let folder: TemporaryFolder
  private var random: SplitMix64
  private var shop: SoakShop
  private var model = SoakModel()
  /// The difference between larder's clock and the origin's.
  private var skew: Int64 = 0
  private var tally = Tally()
  private(set) var words = ""

  private struct Tally {
    var runs = 0
    var requests = 0
    var cuts = 0
    /// The number of runs whose plan was compared completely, pictures included.
    var plans = 0
    var sweeps = 0
    var outcomes: [String: Int] = [:]
  }

  init(seed: UInt64, lies: Set<SoakLie>) throws {
    folder = try TemporaryFolder()
    random = SplitMix64(seed)
    shop = SoakShop(&random, at: 1_700_000_000, lies: lies)
  }

  /// Statistics of the runs so far.
  var figures: String {
    let outcomes = tally.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(tally.runs) runs (\(outcomes.joined(separator: ", "))), \(tally.cuts) cut short, "
      + "\(tally.plans) just as planned, "
      + "\(tally.sweeps) sweeps, \(tally.requests) requests, "
      + "\(model.pictures.values.count { !$0.values.contains(nil) }) pictures held"
  }

  /// The number of runs whose `--dry-run` plan was compared completely, pictures included.
  var plans: Int { tally.plans }

  /// Changes the shop, runs larder once, and compares the cache and the requests with the model.
  ///
  /// - Returns: The differences from the model, in words.
  mutating func run(_ number: Int) throws -> [String] {
    shop.live(
      &random,
      seconds: random.pick([
        (0, weight: 2), (1, weight: 1), (40, weight: 2), (600, weight: 3), (4_000, weight: 6),
        (30_000, weight: 3), (100_000, weight: 2), (900_000, weight: 1),
      ])
    )
    moveClock()
    var run = SoakRun(
      catalog: shop.catalogs[random.pick([(0, weight: 3), (1, weight: 2), (2, weight: 2)])],
      isWarm: random.happens(0.85),
      allowsRemovals: random.happens(0.05),
      now: shop.time + skew,
      cut: random.happens(0.08) ? cut() : nil
    )
    words =
      "\(run.catalog.name)\(run.isWarm ? " warm" : "")\(run.allowsRemovals ? " removing" : "")\(run.cut.map { " \($0)" } ?? "")"
    try run.perform(shop, in: folder)
    tally.runs += 1
    tally.requests += run.exchanges.values.reduce(0) { $0 + $1.count }
    tally.cuts += run.wasCut ? 1 : 0
    tally.outcomes[run.report?.outcome.rawValue ?? "crashed", default: 0] += 1
    let before = model
    try model.compare(run, folder)
    tally.plans += model.comparePlan(run, before) ? 1 : 0
    if random.happens(0.1) {
      tally.sweeps += 1
      try model.sweep(folder, at: UnixTime(run.now))
    }
    return model.complaints
  }

  private mutating func cut() -> SoakRun.Cut {
    let place = Int.random(in: 1...60, using: &random)
    return random.pick([
      (.stop(after: place), weight: 3), (.crash(at: place), weight: 2),
      (.diskError(at: place), weight: 1),
    ])
  }

  /// Sometimes sets larder's clock wrong, and right again.
  private mutating func moveClock() {
    if skew != 0, random.happens(0.3) {
      skew = 0
    } else if random.happens(0.04) {
      skew = random.pick([
        (-200, weight: 1), (-5_000, weight: 1), (-400_000, weight: 1), (7_000, weight: 1),
        (3 * 365 * 86_400, weight: 1),
      ])
    }
  }
}
