import Transport

/// Numbers as people read them.
enum Quantities {
  /// `7.1 MiB`, `24 KiB`, `312 B`.
  static func bytes(_ size: ByteCount) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(size.count)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 || value >= 100
      ? "\(Int(value.rounded())) \(units[unit])"
      : "\(tenths(value)) \(units[unit])"
  }

  /// `1.4 s`, `2 min 5 s`, `1 h 3 min`.
  static func duration(_ seconds: Double) -> String {
    guard seconds >= 60 else { return "\(tenths(seconds)) s" }
    let whole = Int(min(seconds, 1e12).rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    if whole < 86_400 { return "\(whole / 3600) h \(whole % 3600 / 60) min" }
    return "\(whole / 86_400) d \(whole % 86_400 / 3600) h"
  }

  /// `0.4`, `23`, `1200`: things a second.
  static func rate(_ value: Double) -> String {
    value < 10 ? tenths(value) : "\(Int(min(value, 1e12).rounded()))"
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

  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
