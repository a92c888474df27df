import Glibc

/// Maps values to places along an axis, and says where its ticks are.
struct Scale: Sendable, Equatable {
  /// How values are spread.
  enum Kind: Sendable {
    /// Evenly.
    case linear
    /// By their logarithm, ticks at powers of two.
    case doubling
    /// By their logarithm, ticks at 1, 2 and 5 of each power of ten.
    case decades
    /// Percentiles by how many are left above them: each nine as wide as the one before.
    case nines
  }

  let kind: Kind
  /// The values at both ends of the axis.
  let bounds: ClosedRange<Double>

  /// A scale that shows all values; a linear one starts at 0, and ends at a tick.
  init(_ kind: Kind, showing values: [Double]) {
    self.kind = kind
    let values = values.filter(\.isFinite)
    let (low, high) = (values.min() ?? 0, values.max() ?? 1)
    switch kind {
    case .linear:
      let step = Self.step(high)
      bounds = 0...max(step, (high / step).rounded(.up) * step)
    case .doubling:
      bounds = max(low, 1e-9)...max(high, low * 2, 2e-9)
    case .decades:
      let first = floor(log10(max(low, 0.001)) + 1e-9)
      let last = max(ceil(log10(max(high, 0.001)) - 1e-9), first + 1)
      bounds = pow(10, first)...pow(10, last)
    case .nines:
      // 100 % would be infinitely far; it stands at the end.
      bounds = 0...min(max(values.filter { $0 < 100 }.max() ?? 90, 90), 99.9999)
    }
  }

  /// Where the value is, 0 at the axis's start and 1 at its end.
  func place(_ value: Double) -> Double {
    let (low, high, value) = (warp(bounds.lowerBound), warp(bounds.upperBound), warp(value))
    guard high > low else { return 0 }
    return min(max(0, (value - low) / (high - low)), 1)
  }

  private func warp(_ value: Double) -> Double {
    switch kind {
    case .linear: value
    case .doubling, .decades: log(max(value, 1e-9))
    case .nines: -log10(max(1 - value / 100, 1e-6))
    }
  }

  /// The values that get a tick and a number.
  var ticks: [Double] {
    switch kind {
    case .linear:
      let step = Self.step(bounds.upperBound)
      return Array(stride(from: 0, through: bounds.upperBound * 1.000_1, by: step))
    case .doubling:
      let first = log2(bounds.lowerBound).rounded(.up)
      let last = (log2(bounds.upperBound) + 1e-9).rounded(.down)
      return first <= last ? stride(from: first, through: last, by: 1).map { exp2($0) } : []
    case .decades:
      return decades
    case .nines:
      return [0, 50, 90, 99, 99.9, 99.99, 99.999].filter { $0 <= bounds.upperBound }
    }
  }

  private var decades: [Double] {
    let (low, high) = (log10(bounds.lowerBound), log10(bounds.upperBound))
    // Between few decades there is room for more numbers than the powers themselves.
    let factors = high - low > 3.5 ? [1.0] : [1, 2, 5]
    let all = stride(from: low.rounded(), through: high.rounded(), by: 1).flatMap { power in
      factors.map { $0 * pow(10, power) }
    }
    return all.filter { $0 >= bounds.lowerBound * 0.999 && $0 <= bounds.upperBound * 1.001 }
  }

  /// 1, 2 or 5 of a power of ten, so that there are four to eight of it up to `high`.
  static func step(_ high: Double) -> Double {
    guard high > 0, high.isFinite else { return 0.2 }
    let power = pow(10, floor(log10(high / 4)))
    let factor = [1.0, 2, 5, 10].last { $0 * power * 4 <= high * 1.000_1 } ?? 1
    return factor * power
  }
}
