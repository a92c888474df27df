/// A moment of a clock that never goes back, for deadlines, delays and speeds.
///
/// The origin means nothing; only differences do. Arithmetic saturates.
package struct MonotonicTime: Hashable, Comparable, Sendable {
  /// Nanoseconds since the clock's own origin.
  package let nanoseconds: Int64

  /// Makes a moment from nanoseconds since the clock's own origin.
  package init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The latest moment there is, for deadlines that never come.
  package static let distantFuture = MonotonicTime(nanoseconds: .max)

  /// Tells which of two moments comes first.
  package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The moment that is `delay` later.
  package static func + (time: MonotonicTime, delay: Duration) -> MonotonicTime {
    MonotonicTime(nanoseconds: time.nanoseconds.addingClamped(delay.wholeNanoseconds))
  }

  /// The nanoseconds from `right` to `left`.
  package static func - (left: MonotonicTime, right: MonotonicTime) -> Int64 {
    left.nanoseconds.subtractingClamped(right.nanoseconds)
  }
}

extension Duration {
  /// The duration in nanoseconds, clamped to what an `Int64` holds (292 years).
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.multipliedClamped(by: 1_000_000_000)
      .addingClamped(attoseconds / 1_000_000_000)
  }

  /// The duration in milliseconds, rounded up so that a short wait is never none at all.
  package var wholeMilliseconds: Int64 {
    let nanoseconds = wholeNanoseconds
    return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
  }
}
