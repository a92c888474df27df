import Base
import Web

/// Formats numbers for people, as the web pages do.
enum Quantities {
  /// A duration, such as `1.4 s`, `2 min 5 s` or `1 h 3 min`.
  static func duration(_ seconds: Double) -> String {
    PageLanguage.english.duration(seconds)
  }

  /// The time since a moment, such as `5 min ago`.
  static func age(of moment: UnixTime, now: UnixTime) -> String {
    let seconds = now - moment
    return seconds < 0 ? "in the future" : "\(duration(Double(seconds))) ago"
  }

  /// The words ` since 2026-11-27T12:00:00Z`, which follow a state; empty if the time is not known.
  static func since(_ moment: UnixTime?) -> String {
    moment.map { " since \($0.rfc3339)" } ?? ""
  }

  /// A number of pieces a second, such as `0.4`, `23` or `1200`.
  static func rate(_ value: Double) -> String {
    value < 9.95 ? value.tenths : "\(Int(min(value, 1e12).rounded()))"
  }

  /// The counts that are not 0, followed by their words, such as `3 fetched` and `1 failed`.
  static func counts(_ counts: [(count: Int, word: String)]) -> [String] {
    counts.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }
  }

  /// A count with its noun, such as `1 item` or `3 items`.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
