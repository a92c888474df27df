import Web

/// Text and numbers as the page writes them.
enum Markup {
  /// The text with what HTML would read as markup written as references.
  static func escaped(_ text: String) -> String { PageText.escaped(text) }

  /// A place in a drawing, with one decimal.
  static func place(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }

  /// A number with at most three digits that mean something, thousands and millions as `k` and `M`.
  static func number(_ value: Double) -> String {
    let size = abs(value)
    switch size {
    case 0: return "0"
    case .infinity: return "–"
    case 999_500...: return short(value / 1e6) + "M"
    case 9_995...: return short(value / 1e3) + "k"
    default: return short(value)
    }
  }

  private static func short(_ value: Double) -> String {
    let size = abs(value)
    let digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    return decimal(value, digits)
  }

  /// A number with at most so many decimals, zeros at its end left out.
  static func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    let factor = (0..<digits).reduce(1.0) { factor, _ in factor * 10 }
    let whole = Int((value * factor).rounded())
    var text = String(abs(whole))
    while text.count <= digits { text = "0" + text }
    let cut = text.index(text.endIndex, offsetBy: -digits)
    var fraction = text[cut...]
    while fraction.last == "0" { fraction = fraction.dropLast() }
    let sign = whole < 0 ? "−" : ""
    return sign + text[..<cut] + (fraction.isEmpty ? "" : "." + fraction)
  }
}
