import Base
import Transport

/// The plan of a measurement by `larder bench`.
///
/// It says which passes are run, how often each is repeated, and how many pictures are transferred at once.
package struct BenchPlan: Sendable {
  /// The passes to report.
  ///
  /// If a reported pass needs another pass before it, that pass is run too, but is not reported.
  package var passes: [Pass] = Pass.allCases
  /// The numbers of simultaneous transfers to measure.
  package var sweep = SweepPlan.auto
  /// How often each pass is run with each number of transfers.
  package var runs = 5
  /// The number of requests in a pass over a list of URLs.
  ///
  /// If the list is shorter, it is repeated. If the number is nil, a pass takes at least ``leastSeconds``.
  package var count: Int?
  /// The shortest duration of a pass over a list of URLs, if ``count`` is nil.
  package static let leastSeconds = 1.0

  /// Creates a plan with the default values.
  package init() {}

  /// The passes to run, in their order.
  var order: [Pass] {
    let last = Pass.allCases.lastIndex { passes.contains($0) } ?? 0
    // A warm or revalidating pass needs a cold pass before it, which fills the cache.
    return Pass.allCases[...last].filter { $0 == .cold || passes.contains($0) }
  }
}

/// The parts of the program's surroundings that a measurement uses.
package struct BenchSurroundings: Sendable {
  /// Makes a transport for a number of simultaneous transfers.
  ///
  /// The transport shuts down when the last reference to it is released.
  package var transport: @Sendable (_ parallel: Int) throws -> any Fetching
  package var wall: @Sendable () -> UnixTime = { .now() }
  /// The environment variables that replace `${NAME}` in the headers of a catalog file.
  package var variables: [String: String] = [:]
  /// The measurement creates its temporary folder inside the folder at this path.
  package var scratch: String

  package init(
    scratch: String,
    transport: @escaping @Sendable (_ parallel: Int) throws -> any Fetching
  ) {
    (self.scratch, self.transport) = (scratch, transport)
  }
}

/// The state of the cache before a run, which decides what the run measures.
package enum Pass: String, Sendable, Encodable, CaseIterable {
  /// The cache is empty, and no connection is open.
  case cold
  /// The cache is full and everything in it is fresh, so the run measures the cost of a second sync.
  ///
  /// With a list of URLs, there is no cache, and the run measures transfers over open connections.
  case warm
  /// The cache is full and everything in it is stale, so the run asks the origin about each picture.
  case revalidate
}

/// The numbers of simultaneous transfers to measure.
package enum SweepPlan: Sendable, Equatable {
  /// These numbers, in this order.
  case levels([Int])
  /// The numbers 1, 2, 4 and so on up to 128, until the rate no longer rises.
  case auto

  /// A rate counts as a gain if it is higher by this factor.
  private static let gain = 1.05

  /// Parses `auto`, or numbers from 1 to 1024 such as `1,4,16`; returns nil if the text is anything else.
  package init?(_ text: String) {
    if text == "auto" {
      self = .auto
      return
    }
    let levels = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard levels.allSatisfy((1...1024).contains), Set(levels).count == levels.count else {
      return nil
    }
    self = .levels(levels)
  }

  /// The next number of transfers to measure.
  ///
  /// - Parameter rates: The median rates of the numbers that were measured so far, in their order.
  /// - Returns: The next number; nil if all were measured.
  package func next(after rates: [Double]) -> Int? {
    switch self {
    case .levels(let levels):
      return rates.count < levels.count ? levels[rates.count] : nil
    case .auto:
      return rates.count < 8 && !Self.hasPeaked(rates) ? 1 << rates.count : nil
    }
  }

  /// Whether the last two rates are both no gain over the best rate before them.
  private static func hasPeaked(_ rates: [Double]) -> Bool {
    guard rates.count > 3, let best = rates.dropLast(2).max() else { return false }
    return rates.suffix(2).allSatisfy { $0 < best * gain }
  }
}
