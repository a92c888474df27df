/// The milliseconds that a share of all requests did not exceed.
package struct Quantiles: Sendable, Equatable, Codable {
  /// How many requests there were.
  package var count: Int
  /// Half of them.
  package var p50: Double?
  /// Nine in ten.
  package var p90: Double?
  /// 99 in a hundred.
  package var p99: Double?
  /// 999 in a thousand.
  package var p999: Double?
  /// All of them.
  package var max: Double?

  /// Nothing at all.
  package static let none = Quantiles(count: 0)

  /// Writes every key, null where there is nothing to say.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
    for (value, key) in [
      (p50, CodingKeys.p50), (p90, .p90), (p99, .p99), (p999, .p999), (max, .max),
    ] {
      try container.encode(value, forKey: key)
    }
  }
}

/// One point of a latency spectrum.
package struct SpectrumPoint: Sendable, Equatable, Codable {
  /// The share of requests, in percent.
  package var percentile: Double
  /// What they did not exceed.
  package var milliseconds: Double
}
