import CGlibc
import Glibc

/// Moments as HTTP writes them: whole seconds since 1970, in UTC. (RFC 9110, section 5.6.7)
enum HTTPDate {
  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int) -> String { written(seconds, "%a, %d %b %04Y %T GMT") }

  /// `1994-11-06T08:49:37Z`. (RFC 3339)
  static func rfc3339(_ seconds: Int) -> String { written(seconds, "%04Y-%m-%dT%TZ") }

  /// Reads the preferred form; nil for the two obsolete ones, which a recipient may not ignore but
  /// which no client of this store sends.
  static func seconds(_ text: String) -> Int? {
    var (text, parts) = (text, tm())
    let form = text.withUTF8 { larder_read_date($0.baseAddress, $0.count, &parts) }
    return form == 0 ? timegm(&parts) : nil
  }

  private static func written(_ seconds: Int, _ form: String) -> String {
    String(unsafeUninitializedCapacity: 40) {
      larder_write_date($0.baseAddress, $0.count, form, seconds)
    }
  }
}
