import Base
import Glibc

/// The time at which a page is made, and the time zone of the times on the page.
package struct PageClock: Sendable {
  /// The time at which the page is made.
  package let now: UnixTime
  /// The time zone's name at ``now``, such as `KST`.
  package let zone: String
  /// Returns the zone's offset from UTC at a given time, in seconds.
  private let offset: @Sendable (UnixTime) -> Int64

  /// Creates a clock, by default in UTC.
  package init(
    now: UnixTime,
    zone: String = "UTC",
    offset: @escaping @Sendable (UnixTime) -> Int64 = { _ in 0 }
  ) {
    (self.now, self.zone, self.offset) = (now, zone, offset)
  }

  /// A clock in the time zone of this machine.
  package static func system(at now: UnixTime) -> PageClock {
    PageClock(now: now, zone: local(now).zone) { local($0).offset }
  }

  private static func local(_ moment: UnixTime) -> (offset: Int64, zone: String) {
    var time = time_t(moment.seconds)
    var parts = tm()
    guard localtime_r(&time, &parts) != nil else { return (0, "UTC") }
    return (Int64(parts.tm_gmtoff), parts.tm_zone.map { String(cString: $0) } ?? "UTC")
  }

  /// A time in the zone, such as `2026-01-13 06:30`.
  func text(_ moment: UnixTime) -> String {
    (moment + offset(moment)).text("%Y-%m-%d %H:%M")
  }
}
