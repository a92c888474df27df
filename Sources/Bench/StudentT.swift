import Glibc

/// Student's t distribution with so many degrees of freedom, which need not be whole.
struct StudentT: Sendable {
  let degrees: Double

  /// The probability of a value of `t` or less.
  ///
  /// By the regularized incomplete beta function. (Abramowitz and Stegun, 26.7.1)
  func cumulative(_ t: Double) -> Double {
    guard t.isFinite else { return t > 0 ? 1 : 0 }
    let tail = Self.incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
    return t > 0 ? 1 - tail : tail
  }

  /// The value that is not exceeded with that probability, in 0.5..<1.
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

  /// I_x(a, b), by its continued fraction. (Abramowitz and Stegun, 26.5.8)
  private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
    guard x > 0 else { return 0 }
    guard x < 1 else { return 1 }
    // The fraction converges quickly on one side only; the other is its mirror image.
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

/// 1/(1 + t₁/(1 + t₂/(1 + …))), term by term from the front. (Lentz's method)
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

  /// The number, or the least one that can be divided by.
  private static func apart(_ number: Double) -> Double {
    abs(number) < least ? least : number
  }
}
