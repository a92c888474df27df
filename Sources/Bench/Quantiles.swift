import Catalog

/// The milliseconds that a share of all requests did not exceed.
package struct Quantiles: Sendable, Equatable, Codable {
  /// How many requests there were.
  package var count: Int
  /// Half of them.
  @OrNull package var p50: Double? = nil
  /// Nine in ten.
  @OrNull package var p90: Double? = nil
  /// 99 in a hundred.
  @OrNull package var p99: Double? = nil
  /// 999 in a thousand.
  @OrNull package var p999: Double? = nil
  /// All of them.
  @OrNull package var max: Double? = nil

  /// Nothing at all.
  package static let none = Quantiles(count: 0)
}

/// One point of a latency spectrum.
package struct SpectrumPoint: Sendable, Equatable, Codable {
  /// The share of requests, in percent.
  package var percentile: Double
  /// What they did not exceed.
  package var milliseconds: Double
}
