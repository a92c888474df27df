import Glibc

/// What several measurements of one positive thing say about it together.
package struct Estimate: Sendable, Equatable {
  /// The measurements, in their order.
  package let values: [Double]
  /// The middle one, or the mean of the two in the middle.
  package let median: Double
  /// The bounds of the 95 % confidence interval of the geometric mean; nil with fewer than two values.
  ///
  /// By Student's t on the logarithms: times and rates vary by factors, and ratios are what is compared.
  package let interval: ClosedRange<Double>?
  /// Mean and variance of the logarithms.
  let logMean: Double
  let logVariance: Double

  /// Sums measurements up; those that are not positive are left out.
  ///
  /// - Returns: Nil when none is left.
  package init?(_ values: [Double]) {
    let values = values.filter { $0 > 0 && $0.isFinite }
    guard !values.isEmpty else { return nil }
    self.values = values
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median =
      sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    let logs = values.map { log($0) }
    let count = Double(logs.count)
    let mean = logs.reduce(0, +) / count
    logMean = mean
    guard logs.count > 1 else {
      logVariance = 0
      interval = nil
      return
    }
    logVariance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
    let reach = StudentT(degrees: count - 1).quantile(0.975) * (logVariance / count).squareRoot()
    interval = exp(mean - reach)...exp(mean + reach)
  }

  /// Half the interval beside its middle, so 0.05 for ±5 %; nil without an interval.
  package var halfWidth: Double? {
    interval.map { ($0.upperBound / $0.lowerBound).squareRoot() - 1 }
  }
}
