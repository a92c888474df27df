import CGlibc
import Glibc

/// Writes and parses the dates of HTTP, as seconds since 1970. (RFC 9110, section 5.6.7)
package enum HTTPDate {
  /// A date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func text(_ seconds: Int) -> String { written(seconds, "%a, %d %b %04Y %T GMT") }

  /// A date such as `1994-11-06T08:49:37Z`. (RFC 3339)
  package static func rfc3339(_ seconds: Int) -> String { written(seconds, "%04Y-%m-%dT%TZ") }

  /// Parses a date in any of the three forms of HTTP; nil for other text.
  ///
  /// A two-digit year is from 1969 to 2068.
  package static func seconds(_ text: String) -> Int? {
    var (text, parts) = (text, tm())
    let form = text.withUTF8 { larder_read_date($0.baseAddress, $0.count, &parts) }
    // timegm turns a day that does not exist, such as 30 February, into one that does.
    let (day, second) = (parts.tm_mday, Int(parts.tm_sec))
    parts.tm_sec = 0
    let minute = timegm(&parts)
    return form < 0 || parts.tm_mday != day ? nil : minute + second
  }

  private static func written(_ seconds: Int, _ form: String) -> String {
    String(unsafeUninitializedCapacity: 40) {
      larder_write_date($0.baseAddress, $0.count, form, seconds)
    }
  }
}
