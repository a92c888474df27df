import Glibc

/// An estimate of a positive quantity from several measurements.
package struct Estimate: Sendable, Equatable {
  /// The median: the middle value, or the mean of the two values in the middle.
  package let median: Double
  /// The 95 % confidence interval of the geometric mean; nil if there are fewer than two values.
  ///
  /// It is computed by Student's t distribution from the logarithms, because times and rates vary by factors.
  package let interval: ClosedRange<Double>?

  /// Creates an estimate from the values that are positive and finite; returns nil if there are none.
  package init?(_ values: [Double]) {
    let sorted = values.filter { $0 > 0 && $0.isFinite }.sorted()
    guard !sorted.isEmpty else { return nil }
    let middle = sorted.count / 2
    median =
      sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    let logs = sorted.map { log($0) }
    let count = Double(logs.count)
    let mean = logs.reduce(0, +) / count
    guard logs.count > 1 else {
      interval = nil
      return
    }
    let variance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
    let reach = Self.t(logs.count - 1) * (variance / count).squareRoot()
    interval = exp(mean - reach)...exp(mean + reach)
  }

  /// The value that Student's t exceeds with a probability of 2.5 %, by its number of degrees of freedom.
  ///
  /// The first five are from a table. (Abramowitz and Stegun, table 26.10) The others are from the expansion 26.7.5,
  /// whose error is below 0.0002 there.
  static func t(_ degrees: Int) -> Double {
    let table = [12.706, 4.303, 3.182, 2.776, 2.571]
    if table.indices.contains(degrees - 1) { return table[degrees - 1] }
    let n = Double(degrees)
    return 1.95996 + (2.37228 + (2.82252 + (2.55588 + 1.5896 / n) / n) / n) / n
  }

  /// Half of the interval's width, relative to the interval's middle: 0.05 means ±5 %.
  ///
  /// Nil if there is no interval.
  package var halfWidth: Double? {
    interval.map { ($0.upperBound / $0.lowerBound).squareRoot() - 1 }
  }
}
