import CGlibc
import Glibc

/// Dates as header fields write them. (RFC 9110, section 5.6.7)
extension UnixTime {
  /// Reads an IMF-fixdate, an RFC 850 date or an asctime date, each letter for letter but for its case; whether
  /// the day's name is that of the day is not checked.
  ///
  /// Anything else is no date, which for `Expires` means one in the past. (RFC 9111, section 5.3)
  /// `now` settles the century of a two-digit year: more than 50 years ahead means the past.
  package init?(httpDate text: String, now: UnixTime) {
    var text = text
    var parts = tm()
    let form = text.withUTF8 { text in
      var (low, high) = (0, text.count)
      while low < high, text[low].isBlank { low += 1 }
      while high > low, text[high - 1].isBlank { high -= 1 }
      return larder_read_date(text.baseAddress.map { $0 + low }, high - low, &parts)
    }
    guard form >= 0 else { return nil }
    let (month, day) = (Int64(parts.tm_mon) + 1, Int64(parts.tm_mday))
    var year = Int64(parts.tm_year) + 1900
    if form == 1 {
      let today = Self.parts(min(max(now.seconds, 0), 253_402_300_799))
      let thisYear = Int64(today.tm_year) + 1900
      year = thisYear - thisYear % 100 + year % 100
      if year <= thisYear - 50 { year += 100 }
      // More than 50 years ahead is the most recent such year in the past. No date has five digits for its year.
      let isFar =
        (year - 50, month, day) > (thisYear, Int64(today.tm_mon) + 1, Int64(today.tm_mday))
      if isFar || year > 9999 { year -= 100 }
    }
    // A leap second is the next minute's first.
    let second = Int64(parts.tm_hour) * 3600 + Int64(parts.tm_min) * 60 + Int64(parts.tm_sec)
    guard let moment = Self.moment(year, month, day, second) else { return nil }
    self = moment
  }

  /// The moment as an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; years are clamped to 0...9999.
  package var httpDate: String {
    let clamped = Int(min(max(seconds, -62_167_219_200), 253_402_300_799))
    return String(unsafeUninitializedCapacity: 40) {
      larder_write_date($0.baseAddress, $0.count, "%a, %d %b %04Y %T GMT", clamped)
    }
  }

  /// The moment of a date in UTC and a second of its day; nil when there is no such date.
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
    // The 31st of a short month is no date.
    return parts.tm_mday == Int32(day) ? UnixTime(Int64(midnight) + second) : nil
  }

  /// The parts of a moment in UTC.
  private static func parts(_ seconds: Int64) -> tm {
    var (seconds, parts) = (time_t(seconds), tm())
    gmtime_r(&seconds, &parts)
    return parts
  }
}
