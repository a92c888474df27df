import Transport
import Web

/// Numbers as people read them, in the form that pages have.
enum Quantities {
  /// `7.1 MiB`, `24 KiB`, `312 B`.
  static func bytes(_ size: ByteCount) -> String {
    PageLanguage.bytes(size.count)
  }

  /// `1.4 s`, `2 min 5 s`, `1 h 3 min`.
  static func duration(_ seconds: Double) -> String {
    PageLanguage.english.duration(seconds)
  }

  /// `0.4`, `23`, `1200`: things a second.
  static func rate(_ value: Double) -> String {
    value < 9.95 ? PageLanguage.tenths(value) : "\(Int(min(value, 1e12).rounded()))"
  }

  /// A whole number in groups of three digits: `1,048,576`.
  static func grouped(_ number: Int) -> String {
    let digits = String(number)
    return String(
      digits.enumerated().flatMap { place, digit in
        place > 0 && (digits.count - place) % 3 == 0 ? [",", digit] : [digit]
      }
    )
  }

  /// `1 item`, `3 items`.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
