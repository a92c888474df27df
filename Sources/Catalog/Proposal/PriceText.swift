/// What a text that may be a price looks like.
enum PriceText {
  /// Whether it is an amount with units that are those of a currency, or two of them with a mark between.
  static func isPrice(_ text: String) -> Bool {
    guard text.utf8.count <= 60 else { return false }
    let parts = amounts(text)
    let digits = text.utf8.count { (0x30...0x39).contains($0) }
    return (1...2).contains(parts.count) && digits <= 30
      && parts.allSatisfy { $0.utf8.count <= 30 && isAmount($0) }
  }

  /// Whether it is a price with the sign of its currency, or with its code in capitals: "Cup 1" is no Cuban peso.
  static func hasUnit(_ text: String) -> Bool {
    isPrice(text)
      && units(of: text).contains { unit in
        unit.unicodeScalars.contains { !$0.isASCII || $0 == "$" }
          || unit.utf8.count == 3 && text.contains(unit.uppercased())
      }
  }

  /// The units of a currency that stand in a text, lower case.
  static func units(of text: String) -> [String] {
    guard text.utf8.count <= 60 else { return [] }
    return amounts(text).flatMap { (try? WrittenPrice($0))?.units ?? [] }
  }

  /// The ends of a range, or the whole text.
  private static func amounts(_ text: String) -> [String] {
    text.split { "~～〜–—−".contains($0) }.flatMap { part in
      // A hyphen may be in a unit, or stand for no decimals: "12,-".
      let ends = part.split(separator: "-")
      let isRange = ends.count == 2 && ends.allSatisfy { $0.contains(where: \.isWholeNumber) }
      return isRange ? ends.map(String.init) : [String(part)]
    }
  }

  private static func isAmount(_ text: String) -> Bool {
    guard let written = try? WrittenPrice(text) else { return false }
    return written.units.allSatisfy { !Currency.codes(writtenAs: $0).isEmpty }
  }

  /// Whether it is digits alone.
  static func isWhole(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
