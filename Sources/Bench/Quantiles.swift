/// The milliseconds that a share of all requests did not exceed.
public struct Quantiles: Sendable, Equatable, Codable {
  /// How many requests there were.
  public var count: Int
  /// Half of them.
  public var p50: Double?
  /// Nine in ten.
  public var p90: Double?
  /// 99 in a hundred.
  public var p99: Double?
  /// 999 in a thousand.
  public var p999: Double?
  /// All of them.
  public var max: Double?

  /// Nothing at all.
  public static let none = Quantiles(count: 0)

  /// Writes every key, null where there is nothing to say.
  public func encode(to encoder: any Encoder) throws {
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
public struct SpectrumPoint: Sendable, Equatable, Codable {
  /// The share of requests, in percent.
  public var percentile: Double
  /// What they did not exceed.
  public var milliseconds: Double
}
