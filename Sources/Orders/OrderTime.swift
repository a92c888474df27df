import Transport

/// A moment of the wall clock in milliseconds since 1970: fine enough to space messages.
///
/// Arithmetic saturates, so that no server's wish and no clock's jump can trap.
package struct OrderTime: Hashable, Comparable, Sendable, Codable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package let milliseconds: Int64

  /// Makes a moment from milliseconds since 1970.
  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Makes a moment from seconds since 1970.
  package init(seconds: Int64) {
    milliseconds = seconds.multipliedReportingOverflow(by: 1000).overflow ? .max : seconds * 1000
  }

  /// Whole seconds since 1970.
  package var seconds: Int64 { milliseconds / 1000 }

  /// Such as `2021-01-13T06:30:00Z`. (RFC 3339)
  package var text: String {
    UnixTime(seconds).rfc3339
  }

  /// Tells which of two moments comes first.
  package static func < (left: OrderTime, right: OrderTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment `delay` milliseconds later, at most the latest there is.
  static func + (time: OrderTime, delay: Int64) -> OrderTime {
    let (sum, overflow) = time.milliseconds.addingReportingOverflow(delay)
    return OrderTime(milliseconds: overflow ? (delay < 0 ? .min : .max) : sum)
  }

  /// The milliseconds from `right` to `left`.
  package static func - (left: OrderTime, right: OrderTime) -> Int64 {
    let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
    return overflow ? (left < right ? .min : .max) : difference
  }
}
