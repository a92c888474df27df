import Base
import Transport

/// The plan of a measurement.
package struct BenchPlan: Sendable {
  /// Which runs count; a pass that others need is run in any case.
  package var passes: [Pass] = Pass.allCases
  /// How many transfers at once.
  package var sweep = SweepPlan.auto()
  /// How often.
  package var repetition = RepetitionPlan.narrow(halfWidth: 0.05)
  /// Where the bytes go.
  package var sink = Sink.cache
  /// How many requests a pass makes over a list of URLs, which is repeated as needed; nil fills ``leastSeconds``.
  package var count: Int?
  /// How long a pass over a list of URLs takes at least, when nothing says how many requests it makes.
  package static let leastSeconds = 1.0
  /// Requests a second, each counted from its planned start; nil starts one when another ends.
  package var rate: Double?
  /// The time after which nothing more is started; earlier measurements are reported.
  package var deadline: MonotonicTime?

  /// The defaults above.
  package init() {}

  /// The coming measurements and their number, with the least duration if it is known.
  package func announcement(repeatsList: Bool) -> String {
    let names = order.map(\.rawValue).joined(separator: ", ")
    let (levels, atOnce) =
      switch sweep {
      case .levels(let levels):
        (levels.count...levels.count, levels.map(String.init).joined(separator: ", "))
      case .auto(let limit): (4...Self.doublings(to: limit), "1, 2, 4 … \(limit)")
      }
    let (least, most) =
      switch repetition {
      case .fixed(let count): (count, count)
      case .narrow(_, let least, let most): (least, most)
      }
    let passes = levels.lowerBound * least * order.count...levels.upperBound * most * order.count
    let often = most == 1 ? "once" : least == most ? "\(least) times" : "\(least) to \(most) times"
    let all =
      passes.count == 1 ? "\(passes.lowerBound)" : "\(passes.lowerBound) to \(passes.upperBound)"
    let isTimed = repeatsList && sink == .discard && count == nil
    let time =
      isTimed
      ? ", \(Int(Double(passes.lowerBound) * Self.leastSeconds)) s or more" : ""
    return
      "measuring \(names) with \(atOnce) at once, \(often) each: \(all) \(passes.upperBound == 1 ? "pass" : "passes")\(time)"
  }

  private static func doublings(to limit: Int) -> Int {
    (0...20).prefix { 1 << $0 <= limit }.count
  }

  /// The passes to run, in an order in which each finds its precondition.
  var order: [Pass] {
    let last = Pass.allCases.lastIndex { passes.contains($0) } ?? 0
    // A warm run needs a cold one before it, a revalidation as well; neither needs the other.
    return Pass.allCases[...last].filter { $0 == .cold || passes.contains($0) }
  }
}

/// The dependencies of a measurement.
package struct BenchSurroundings: Sendable {
  /// Makes a transport with this number of simultaneous transfers; it ends when it is released.
  package var transport: @Sendable (_ parallel: Int) throws -> any Fetching
  /// A clock that never goes back.
  package var monotonic: @Sendable () -> MonotonicTime
  /// The wall clock.
  package var wall: @Sendable () -> UnixTime
  /// Where `${NAME}` in a catalog's headers comes from.
  package var variables: [String: String]
  /// The folder in which a temporary one is made.
  package var scratch: String

  /// Takes all of them.
  package init(
    transport: @escaping @Sendable (_ parallel: Int) throws -> any Fetching,
    monotonic: @escaping @Sendable () -> MonotonicTime,
    wall: @escaping @Sendable () -> UnixTime,
    variables: [String: String] = [:],
    scratch: String
  ) {
    self.transport = transport
    self.monotonic = monotonic
    self.wall = wall
    self.variables = variables
    self.scratch = scratch
  }
}

/// The state of the cache before a run.
package enum Pass: String, Sendable, Codable, CaseIterable {
  /// Nothing: an empty cache, no connections.
  case cold
  /// Everything, and fresh: the cost of a second sync.
  ///
  /// With ``Sink/discard``: nothing but the connections.
  case warm
  /// Everything, and stale: the origin is asked about each picture.
  case revalidate
}

/// The destination of the bytes.
package enum Sink: String, Sendable, Codable {
  /// larder's own cache: files, hashes, index, synced to disk.
  case cache
  /// Counted and thrown away: transfers alone.
  case discard
}

/// Which numbers of transfers at once are measured.
package enum SweepPlan: Sendable, Equatable {
  /// These, in their order.
  case levels([Int])
  /// 1, 2, 4 and so on up to `limit`, until it no longer pays.
  case auto(limit: Int = 128)

  /// A doubling that brings less than this is no gain.
  private static let gain = 1.05

  /// Reads `auto` or numbers from 1 to 1024 between commas; nil for anything else.
  package init?(_ text: String) {
    if text == "auto" {
      self = .auto()
      return
    }
    var levels: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let level = Int(part), (1...1024).contains(level), !levels.contains(level) else {
        return nil
      }
      levels.append(level)
    }
    self = .levels(levels)
  }

  /// The next measurement.
  ///
  /// - Parameter rates: The median rates of the measurements so far, in that order.
  /// - Returns: The next number, nil at the end of the sweep.
  package func next(after rates: [Double]) -> Int? {
    switch self {
    case .levels(let levels):
      return rates.count < levels.count ? levels[rates.count] : nil
    case .auto(let limit):
      let level = 1 << min(rates.count, 20)
      guard level <= limit, !Self.hasPeaked(rates) else { return nil }
      return level
    }
  }

  /// Whether neither of the last two brought anything over the best before them.
  private static func hasPeaked(_ rates: [Double]) -> Bool {
    guard rates.count > 3, let best = rates.dropLast(2).max() else { return false }
    return rates.suffix(2).allSatisfy { $0 < best * gain }
  }
}

/// How often a measurement is repeated.
package enum RepetitionPlan: Sendable, Equatable {
  /// Exactly so often.
  case fixed(Int)
  /// Until the half-width of every confidence interval is at most `halfWidth`, 0.05 for ±5 %.
  case narrow(halfWidth: Double, least: Int = 3, most: Int = 12)

  /// Whether the rates of one parallelism, an array a pass, say enough.
  package func isEnough(_ rates: [[Double]]) -> Bool {
    let count = rates.map(\.count).min() ?? 0
    switch self {
    case .fixed(let wanted):
      return count >= wanted
    case .narrow(let halfWidth, let least, let most):
      if count >= most { return true }
      return count >= least
        && rates.allSatisfy { values in
          // A pass in which nothing was fetched stays so, however often it is repeated.
          guard let estimate = Estimate(values) else { return true }
          return estimate.halfWidth.map { $0 <= halfWidth } ?? false
        }
    }
  }
}
