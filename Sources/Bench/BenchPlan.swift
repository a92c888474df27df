import Base
import Transport

/// The plan of a measurement: which passes `larder bench` runs, how often, and with how many transfers.
package struct BenchPlan: Sendable {
  /// The passes to report.
  ///
  /// If a reported pass needs another pass before it, that pass is run too, but not reported.
  package var passes: [Pass] = Pass.allCases
  /// The numbers of simultaneous transfers to measure.
  package var sweep = SweepPlan.auto()
  /// How often to repeat each measurement.
  package var repetition = RepetitionPlan.narrow(halfWidth: 0.05)
  /// The destination of the received bytes.
  package var sink = Sink.cache
  /// The number of requests in a pass over a list of URLs; the list is repeated as needed.
  ///
  /// Nil to run for at least ``leastSeconds``.
  package var count: Int?
  /// The shortest duration of a pass over a list of URLs if ``count`` is nil.
  package static let leastSeconds = 1.0
  /// The number of requests to start per second (an open loop); latencies are measured from the planned starts.
  ///
  /// Nil starts a request whenever another one ends (a closed loop).
  package var rate: Double?
  /// The time after which no measurement is started; finished measurements are reported.
  package var deadline: MonotonicTime?

  /// A plan with the defaults.
  package init() {}

  /// A line that announces the measurements: how many there are, and the shortest duration if it is known.
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

  /// The passes to run, in an order in which each follows the pass that it needs.
  var order: [Pass] {
    let last = Pass.allCases.lastIndex { passes.contains($0) } ?? 0
    // Warm and revalidating passes need a cold pass before them, but not each other.
    return Pass.allCases[...last].filter { $0 == .cold || passes.contains($0) }
  }
}

/// The dependencies of a measurement.
package struct BenchSurroundings: Sendable {
  /// Makes a transport for a number of simultaneous transfers.
  ///
  /// The transport shuts down when its last reference is released.
  package var transport: @Sendable (_ parallel: Int) throws -> any Fetching
  /// A monotonic clock.
  package var monotonic: @Sendable () -> MonotonicTime
  /// The wall clock.
  package var wall: @Sendable () -> UnixTime
  /// Environment variables for `${NAME}` in a catalog's headers.
  package var variables: [String: String]
  /// The folder in which the run creates its temporary folder.
  package var scratch: String

  /// Creates the dependencies.
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
  /// The cache is empty, and no connection is open.
  case cold
  /// The cache is full and everything in it is fresh: measures the cost of a second sync.
  ///
  /// With ``Sink/discard``, only the connections are kept.
  case warm
  /// The cache is full and everything in it is stale: each picture is revalidated at the origin.
  case revalidate
}

/// The destination of the received bytes.
package enum Sink: String, Sendable, Codable {
  /// The bytes are stored in a cache with files, hashes and index, synced to disk.
  case cache
  /// The bytes are counted and discarded, to measure only the transfers.
  case discard
}

/// The numbers of simultaneous transfers to measure.
package enum SweepPlan: Sendable, Equatable {
  /// The given numbers, in order.
  case levels([Int])
  /// The numbers 1, 2, 4 and so on up to `limit`, until the rate no longer rises.
  case auto(limit: Int = 128)

  /// The factor by which the rate must rise to count as a gain.
  private static let gain = 1.05

  /// Parses `auto`, or numbers from 1 to 1024 such as `1,4,16`; nil for any other text.
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

  /// The next number to measure.
  ///
  /// - Parameter rates: The median rates measured so far, in order.
  /// - Returns: The next number; nil at the end of the sweep.
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

  /// Whether neither of the last two rates is a gain over the best rate before them.
  private static func hasPeaked(_ rates: [Double]) -> Bool {
    guard rates.count > 3, let best = rates.dropLast(2).max() else { return false }
    return rates.suffix(2).allSatisfy { $0 < best * gain }
  }
}

/// How often a measurement is repeated.
package enum RepetitionPlan: Sendable, Equatable {
  /// A measurement is repeated exactly this number of times.
  case fixed(Int)
  /// A measurement is repeated until the half-width of every confidence interval is at most `halfWidth`, where 0.05
  /// means ±5 %.
  ///
  /// The number of runs is from `least` to `most`.
  case narrow(halfWidth: Double, least: Int = 3, most: Int = 12)

  /// Whether the rates at one number of transfers are precise enough; `rates` has an array for each pass.
  package func isEnough(_ rates: [[Double]]) -> Bool {
    let count = rates.map(\.count).min() ?? 0
    switch self {
    case .fixed(let wanted):
      return count >= wanted
    case .narrow(let halfWidth, let least, let most):
      if count >= most { return true }
      return count >= least
        && rates.allSatisfy { values in
          // More repetitions do not help a pass in which nothing was fetched.
          guard let estimate = Estimate(values) else { return true }
          return estimate.halfWidth.map { $0 <= halfWidth } ?? false
        }
    }
  }
}
