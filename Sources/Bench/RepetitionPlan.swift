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
