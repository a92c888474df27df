import Glibc

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
