import Glibc

/// A moment of the wall clock in whole seconds since 1970, without leap seconds.
///
/// Arithmetic saturates: a clock that jumps, or a server that says `max-age=99999999999999999999`, can make
/// a moment very early or very late but never traps.
package struct UnixTime: Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z.
  package let seconds: Int64

  /// Makes a moment from seconds since 1970.
  package init(_ seconds: Int64) {
    self.seconds = seconds
  }

  /// The earliest moment there is: what expired then is always stale.
  package static let distantPast = UnixTime(.min)
  /// The latest moment there is.
  package static let distantFuture = UnixTime(.max)

  /// Tells which of two moments comes first.
  package static func < (left: UnixTime, right: UnixTime) -> Bool {
    left.seconds < right.seconds
  }

  /// The moment `delta` seconds later, at most the latest there is.
  package static func + (time: UnixTime, delta: Int64) -> UnixTime {
    UnixTime(time.seconds.addingClamped(delta))
  }

  /// The seconds from `right` to `left`, clamped to what an `Int64` holds.
  package static func - (left: UnixTime, right: UnixTime) -> Int64 {
    left.seconds.subtractingClamped(right.seconds)
  }
}

extension UnixTime: ExpressibleByIntegerLiteral {
  /// The moment so many seconds after the start of 1970.
  package init(integerLiteral seconds: Int64) { self.init(seconds) }
}

extension Int64 {
  /// The sum, or the nearest value there is.
  func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }

  /// The difference, or the nearest value there is.
  func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other < 0 ? .max : .min
  }

  /// The product, or the nearest value there is.
  func multipliedClamped(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    guard overflow else { return product }
    return (self < 0) == (other < 0) ? .max : .min
  }
}

extension UnixTime {
  /// The moment in UTC as RFC 3339 writes it, such as `2021-01-13T06:30:00Z`.
  package var rfc3339: String { text("%Y-%m-%dT%H:%M:%SZ") }

  /// The moment in UTC in a form of `strftime(3)`; `an unknown time` beyond the years that it can write.
  package func text(_ form: String) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&time, &parts) != nil else { return "an unknown time" }
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, form, &parts)
    return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
