import Base
import Web

/// Formats numbers for people, as the web pages do.
enum Quantities {
  /// `1.4 s`, `2 min 5 s`, `1 h 3 min`.
  static func duration(_ seconds: Double) -> String {
    PageLanguage.english.duration(seconds)
  }

  /// A rate for each second, such as `0.4`, `23` or `1200`.
  static func rate(_ value: Double) -> String {
    value < 9.95 ? value.tenths : "\(Int(min(value, 1e12).rounded()))"
  }

  /// `1 item`, `3 items`.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
