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

  /// What to measure next.
  ///
  /// - Parameter rates: The median rates of what was measured, in that order.
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
