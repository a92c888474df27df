import Base
import Orders

/// The languages of larder's own words on pages.
///
/// The shop's texts, such as the titles of items, are not translated.
package typealias PageLanguage = Language

extension PageLanguage {
  /// A number with its noun, such as `1 item`, `3 items` or `1,234 items`.
  ///
  /// In Korean, a noun has no plural.
  func count(_ count: Int, _ noun: String, _ nouns: String, _ korean: String) -> String {
    let number = count.grouped
    return of("\(number) \(count == 1 ? noun : nouns)", "\(korean) \(number)개")
  }

  /// A duration, such as `1.4 s`, `2 min 5 s`, `1 h 3 min` or `2 d 4 h`.
  ///
  /// The units are chosen after rounding, so 59.96 seconds are `1 min 0 s`.
  package func duration(_ seconds: Double) -> String {
    let (d, h, m, s) =
      self == .korean ? ("일", "시간", "분", "초") : (" d", " h", " min", " s")
    guard seconds >= 59.95 else { return max(seconds, 0).tenths + s }
    let whole = Int(min(seconds, 1e12).rounded())
    if whole < 3600 { return "\(whole / 60)\(m) \(whole % 60)\(s)" }
    if whole < 86_400 { return "\(whole / 3600)\(h) \(whole % 3600 / 60)\(m)" }
    return "\(whole / 86_400)\(d) \(whole % 86_400 / 3600)\(h)"
  }

  /// Guesses the language of texts from their characters, for example `ko` if most texts have Hangul.
  ///
  /// Returns nil if the texts have neither Hangul nor Kana, or not often enough.
  static func spoken(in texts: some Sequence<String>) -> String? {
    var (hangul, kana, other) = (0, 0, 0)
    for text in texts {
      let scalars = text.unicodeScalars
      if scalars.contains(where: { (0xAC00...0xD7A3).contains($0.value) }) {
        hangul += 1
      } else if scalars.contains(where: { (0x3041...0x30FF).contains($0.value) }) {
        kana += 1
      } else {
        other += 1
      }
    }
    if hangul > 0, hangul >= max(kana, other) { return "ko" }
    return kana > 0 && kana >= max(hangul, other) ? "ja" : nil
  }
}
