import Histogram

/// A distribution of durations in whole microseconds.
///
/// With five digits each is kept exactly up to 131 ms and to a hundred thousandth beyond, in a megabyte
/// or two; with four up to 16 ms, in a tenth of that.
struct LatencyHistogram: Sendable {
  private var histogram: Histogram<UInt32>

  /// An empty one, of five digits or of four.
  init(isFine: Bool) {
    histogram = Histogram(numberOfSignificantValueDigits: isFine ? .five : .four)
  }

  /// Takes a duration in nanoseconds; what is negative counts as nothing.
  mutating func record(nanoseconds: Int64) {
    // A day is longer than any transfer may take.
    let longest: Int64 = 86_400_000_000_000
    histogram.record(UInt64((min(max(0, nanoseconds), longest) + 500) / 1000))
  }

  /// Takes a duration in seconds.
  mutating func record(seconds: Double) {
    record(nanoseconds: Int64(min(max(0, seconds), 86_400) * 1e9))
  }

  /// Takes what another holds.
  mutating func add(_ other: LatencyHistogram) {
    histogram.add(other.histogram)
  }

  var isEmpty: Bool { histogram.totalCount == 0 }

  /// What so many percent did not exceed, in milliseconds; nil when there is nothing.
  func milliseconds(at percentile: Double) -> Double? {
    isEmpty ? nil : Double(histogram.valueAtPercentile(percentile)) / 1000
  }

  /// The usual five.
  var quantiles: Quantiles {
    Quantiles(
      count: Int(histogram.totalCount),
      p50: milliseconds(at: 50),
      p90: milliseconds(at: 90),
      p99: milliseconds(at: 99),
      p999: milliseconds(at: 99.9),
      max: milliseconds(at: 100)
    )
  }

  /// The whole distribution in points that halve the rest step by step, four a half.
  var spectrum: [SpectrumPoint] {
    guard !isEmpty else { return [] }
    let least = 100 / Double(histogram.totalCount)
    var points = [SpectrumPoint(percentile: 0, milliseconds: milliseconds(at: 0) ?? 0)]
    var (start, rest) = (0.0, 100.0)
    while rest > least {
      for quarter in 1...4 {
        let percentile = start + rest / 2 * Double(quarter) / 4
        guard let value = milliseconds(at: percentile) else { continue }
        points.append(SpectrumPoint(percentile: percentile, milliseconds: value))
      }
      start += rest / 2
      rest /= 2
    }
    points.append(SpectrumPoint(percentile: 100, milliseconds: milliseconds(at: 100) ?? 0))
    return points
  }
}
