import Glibc

/// An estimate of a positive quantity from several measurements.
package struct Estimate: Sendable, Equatable {
  /// The measurements that are positive and finite, in their order.
  package let values: [Double]
  /// The median: the middle value, or the mean of the two values in the middle.
  package let median: Double
  /// The 95 % confidence interval of the geometric mean; nil if there are fewer than two values.
  ///
  /// It is computed by Student's t distribution from the logarithms, because times and rates vary by factors.
  package let interval: ClosedRange<Double>?
  /// The mean of the values' logarithms.
  let logMean: Double
  let logVariance: Double

  /// Creates an estimate from the values that are positive and finite; returns nil if there are none.
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

  /// Half of the interval's width, relative to the interval's middle: 0.05 means ±5 %.
  ///
  /// Nil if there is no interval.
  package var halfWidth: Double? {
    interval.map { ($0.upperBound / $0.lowerBound).squareRoot() - 1 }
  }
}

/// Student's t distribution, for any positive number of degrees of freedom.
struct StudentT: Sendable {
  let degrees: Double

  /// The probability that a value is at most `t`.
  ///
  /// With t = √n tan θ, where n is the number of degrees of freedom, it is 1/2 plus an integral of cosⁿ⁻¹ θ, which
  /// starts at 0. (Abramowitz and Stegun, 26.7.1) The integral is computed by Simpson's rule.
  func cumulative(_ t: Double) -> Double {
    // Beyond this angle, cosⁿ θ is less than 10⁻²⁰, so a longer interval would only cost precision.
    let end = min(atan(abs(t) / degrees.squareRoot()), 10 / degrees.squareRoot())
    let steps = 500
    let width = end / Double(steps)
    let sum = (0...steps).reduce(0.0) { sum, step in
      let weight = step == 0 || step == steps ? 1.0 : step.isMultiple(of: 2) ? 2 : 4
      return sum + weight * pow(cos(Double(step) * width), degrees - 1)
    }
    let scale = exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / Double.pi.squareRoot()
    let half = min(scale * sum * width / 3, 0.5)
    return t < 0 ? 0.5 - half : 0.5 + half
  }

  /// The value that is not exceeded with a probability; the probability must be in 0.5..<1.
  func quantile(_ probability: Double) -> Double {
    var low = 0.0
    var high = 1.0
    while cumulative(high) < probability, high < 1e9 { high *= 2 }
    for _ in 0..<50 {
      let middle = (low + high) / 2
      if cumulative(middle) < probability { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
