/// Spreads starts evenly over time: `rate` a second, with a tenth of a second's worth at once.
package struct TokenBucket: Sendable {
  private let interval: Double
  private let capacity: Double
  private var tokens: Double
  private var filled: MonotonicTime?

  /// Makes a full bucket; `rate` is in starts a second, at least one in a day.
  package init(rate: Double) {
    let rate = rate.isFinite ? max(rate, 1.0 / 86_400) : 1e9
    interval = 1e9 / rate
    capacity = max(1, rate / 10)
    tokens = capacity
  }

  /// Takes a token, or tells when there will be one.
  package mutating func take(at now: MonotonicTime) -> MonotonicTime? {
    let elapsed = max(0, now - (filled ?? now))
    tokens = min(capacity, tokens + Double(elapsed) / interval)
    filled = now
    // Rounding must not turn a wait that is over into another one of nothing.
    if tokens >= 1 - 1e-6 {
      tokens = max(0, tokens - 1)
      return nil
    }
    let missing = ((1 - tokens) * interval).rounded(.up) + 1
    return now + .nanoseconds(Int64(missing))
  }
}
