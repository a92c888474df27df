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
  /// It is computed by the regularized incomplete beta function. (Abramowitz and Stegun, 26.7.1)
  func cumulative(_ t: Double) -> Double {
    guard t.isFinite else { return t > 0 ? 1 : 0 }
    let tail = Self.incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
    return t > 0 ? 1 - tail : tail
  }

  /// The value that is not exceeded with a probability; the probability must be in 0.5..<1.
  func quantile(_ probability: Double) -> Double {
    var low = 0.0
    var high = 1.0
    while cumulative(high) < probability, high < 1e9 { high *= 2 }
    for _ in 0..<100 {
      let middle = (low + high) / 2
      if cumulative(middle) < probability { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  /// The regularized incomplete beta function I_x(a, b), by its continued fraction. (Abramowitz and Stegun, 26.5.8)
  private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
    guard x > 0 else { return 0 }
    guard x < 1 else { return 1 }
    // The fraction converges quickly only if x is small. Otherwise use I_x(a, b) = 1 − I_(1−x)(b, a).
    if x > (a + 1) / (a + b + 2) { return 1 - incompleteBeta(1 - x, b, a) }
    let scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    let front = exp(scale + a * log(x) + b * log(1 - x)) / a
    var fraction = ContinuedFraction(first: -(a + b) * x / (a + 1))
    for step in 1...300 {
      let m = Double(step)
      let n = a + 2 * m
      let before = fraction.value
      fraction.append(m * (b - m) * x / ((n - 1) * n))
      fraction.append(-(a + m) * (a + b + m) * x / (n * (n + 1)))
      if abs(fraction.value / before - 1) < 1e-15 { break }
    }
    return front * fraction.value
  }
}

/// Evaluates 1/(1 + t₁/(1 + t₂/(1 + …))) by Lentz's method, term by term.
private struct ContinuedFraction {
  private static let least = 1e-300
  private var numerator = 1.0
  private var denominator: Double
  private(set) var value: Double

  init(first term: Double) {
    denominator = 1 / Self.apart(1 + term)
    value = denominator
  }

  mutating func append(_ term: Double) {
    denominator = 1 / Self.apart(1 + term * denominator)
    numerator = Self.apart(1 + term / numerator)
    value *= numerator * denominator
  }

  /// The number, or a tiny number if it is almost zero, to avoid a division by zero.
  private static func apart(_ number: Double) -> Double {
    abs(number) < least ? least : number
  }
}
