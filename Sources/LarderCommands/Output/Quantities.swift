import Base
import Web

/// Numbers as people read them, in the form that pages have.
enum Quantities {
  /// `1.4 s`, `2 min 5 s`, `1 h 3 min`.
  static func duration(_ seconds: Double) -> String {
    PageLanguage.english.duration(seconds)
  }

  /// `0.4`, `23`, `1200`: things a second.
  static func rate(_ value: Double) -> String {
    value < 9.95 ? value.tenths : "\(Int(min(value, 1e12).rounded()))"
  }

  /// `1 item`, `3 items`.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
