import CGlibc
import Glibc

/// A moment of the wall clock, in whole seconds since 1970 and without leap seconds.
///
/// Arithmetic saturates. If a clock jumps, or a server sends `max-age=99999999999999999999`, the result is a very early
/// or a very late moment, and never a trap.
package struct UnixTime: Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z.
  package let seconds: Int64

  /// Makes a moment from seconds since 1970.
  package init(_ seconds: Int64) {
    self.seconds = seconds
  }

  /// The earliest representable moment.
  ///
  /// An expiry at this moment is always in the past.
  package static let distantPast = UnixTime(.min)
  /// The latest representable moment.
  package static let distantFuture = UnixTime(.max)

  /// Whether the left moment is earlier.
  package static func < (left: UnixTime, right: UnixTime) -> Bool {
    left.seconds < right.seconds
  }

  /// The moment that is `delta` seconds later; saturates.
  package static func + (time: UnixTime, delta: Int64) -> UnixTime {
    UnixTime(time.seconds.addingClamped(delta))
  }

  /// The seconds from `right` to `left`, clamped to an `Int64`.
  package static func - (left: UnixTime, right: UnixTime) -> Int64 {
    left.seconds.subtractingClamped(right.seconds)
  }
}

extension UnixTime: ExpressibleByIntegerLiteral {
  /// Makes a moment from seconds since 1970.
  package init(integerLiteral seconds: Int64) { self.init(seconds) }
}

extension UnixTime: Encodable {
  /// Writes the moment as text, such as `2021-01-13T06:30:00Z`; see ``rfc3339``.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rfc3339)
  }
}

extension Int64 {
  /// The sum, clamped to an `Int64`.
  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }

  /// The difference, clamped to an `Int64`.
  package func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other < 0 ? .max : .min
  }

  /// The product, clamped to an `Int64`.
  package func multipliedClamped(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    guard overflow else { return product }
    return (self < 0) == (other < 0) ? .max : .min
  }
}

extension UnixTime {
  /// The present moment by the wall clock.
  ///
  /// The clock may be wrong, and it may jump.
  package static func now() -> UnixTime { UnixTime(Int64(time(nil))) }

  /// The moment in UTC, in the format of RFC 3339, such as `2021-01-13T06:30:00Z`.
  package var rfc3339: String { text("%Y-%m-%dT%H:%M:%SZ") }

  /// Reads a moment in UTC, in the format of RFC 3339, such as `2026-11-24T12:00:00.000Z`.
  ///
  /// A fraction of a second is dropped. The result is nil if the text has another form.
  package init?(rfc3339 text: String) {
    let parts = text.split { !$0.isASCII || !$0.isNumber }.map { Int64($0) }
    guard text.hasSuffix("Z"), parts.count >= 6, let year = parts[0], let month = parts[1],
      let day = parts[2], let hour = parts[3], let minute = parts[4], let second = parts[5],
      (1970...9999).contains(year), (1...12).contains(month), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second),
      let moment = Self.moment(year, month, day, hour * 3600 + minute * 60 + second)
    else { return nil }
    self = moment
  }

  /// The moment in UTC, in a format of `strftime(3)` such as `%H:%M`.
  ///
  /// If the year cannot be written, the text is `an unknown time`.
  package func text(_ form: String) -> String {
    let text = String(unsafeUninitializedCapacity: 64) {
      larder_write_date($0.baseAddress, $0.count, form, time_t(seconds))
    }
    return text.isEmpty ? "an unknown time" : text
  }
}

/// The date formats of HTTP headers. (RFC 9110, section 5.6.7)
extension UnixTime {
  /// Reads a date in any of the three formats of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// The formats are IMF-fixdate, RFC 850 and asctime. The text must match one of them exactly, except for the case of
  /// letters. The weekday may be the wrong one.
  ///
  /// Any other text gives nil. If the text is the value of `Expires`, the caller treats it as a date in the past. (RFC
  /// 9111, section 5.3)
  ///
  /// A year of two digits, which only RFC 850 has, is from 1969 to 2068.
  package init?(httpDate text: String) {
    var text = text
    var parts = tm()
    let isDate = text.withUTF8 { text in
      var (low, high) = (0, text.count)
      while low < high, text[low].isBlank { low += 1 }
      while high > low, text[high - 1].isBlank { high -= 1 }
      return larder_read_date(text.baseAddress.map { $0 + low }, high - low, &parts) == 0
    }
    let (year, month) = (Int64(parts.tm_year) + 1900, Int64(parts.tm_mon) + 1)
    // A leap second, `:60`, becomes the first second of the next minute.
    let second = Int64(parts.tm_hour) * 3600 + Int64(parts.tm_min) * 60 + Int64(parts.tm_sec)
    guard isDate, let moment = Self.moment(year, month, Int64(parts.tm_mday), second) else {
      return nil
    }
    self = moment
  }

  /// The moment as an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// The year is clamped to 0...9999.
  package var httpDate: String {
    UnixTime(min(max(seconds, -62_167_219_200), 253_402_300_799)).text("%a, %d %b %04Y %T GMT")
  }

  /// The moment that is `second` seconds after the beginning of a day in UTC, or nil if the calendar has no such day.
  package static func moment(
    _ year: Int64,
    _ month: Int64,
    _ day: Int64,
    _ second: Int64
  ) -> UnixTime? {
    guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else {
      return nil
    }
    var parts = tm()
    parts.tm_year = Int32(year) - 1900
    parts.tm_mon = Int32(month) - 1
    parts.tm_mday = Int32(day)
    let midnight = timegm(&parts)
    // `timegm` turns the 31st of a short month into the 1st of the next month.
    return parts.tm_mday == Int32(day) ? UnixTime(Int64(midnight) + second) : nil
  }
}

/// A moment of the monotonic clock, which never goes back.
///
/// It is used for deadlines, delays and speeds.
///
/// The clock starts at an arbitrary moment, so only differences have a meaning. Arithmetic saturates.
package struct MonotonicTime: Hashable, Comparable, Sendable {
  /// Nanoseconds since the arbitrary start of the clock.
  package let nanoseconds: Int64

  /// Makes a moment from nanoseconds since the start of the clock.
  package init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The latest representable moment, for deadlines that never come.
  package static let distantFuture = MonotonicTime(nanoseconds: .max)

  /// The present moment.
  package static func now() -> MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Whether the left moment is earlier.
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
  /// The duration in seconds.
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }

  /// The duration in nanoseconds, clamped to an `Int64` (292 years).
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.multipliedClamped(by: 1_000_000_000)
      .addingClamped(attoseconds / 1_000_000_000)
  }

  /// The duration in milliseconds, which is rounded up so that a short wait never becomes 0.
  package var wholeMilliseconds: Int64 {
    let nanoseconds = wholeNanoseconds
    return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
  }
}
