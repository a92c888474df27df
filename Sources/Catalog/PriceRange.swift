/// A price text that names two ends: "5~7", "10.00 - 12.50 EUR".
enum PriceRange {
  private static let marks: Set<Character> = ["~", "～", "〜", "-", "–", "—", "−"]
  /// The longest text that is looked at, in bytes: two amounts with their units are shorter.
  private static let longest = 80

  /// The low end of a range; nil for a text that is none.
  ///
  /// - Parameters:
  ///   - text: The price as written.
  ///   - currency: The catalog's currency, an ISO 4217 code.
  /// - Returns: The low end, which the item costs at least.
  /// - Throws: ``CatalogError`` with code `price` when an end cannot be read or the first is the higher one.
  static func low(of text: String, currency: String) throws(CatalogError) -> Price? {
    guard text.utf8.count <= longest else { return nil }
    let places = text.indices.filter { marks.contains(text[$0]) }
    guard places.count == 1, let place = places.first else { return nil }
    let first = text[..<place]
    let second = text[text.index(after: place)...]
    guard first.contains(where: \.isWholeNumber), second.contains(where: \.isWholeNumber) else {
      return nil
    }
    let high = try Price(parsing: String(second), currency: currency)
    let low = try Price(parsing: withUnit(first, of: second), currency: currency)
    guard low.minorUnits <= high.minorUnits else {
      throw priceError("\"\(text)\" is not one amount, nor a range with its low end first")
    }
    return low
  }

  /// The first end with the unit that stands behind the second one, when it has none of its own.
  private static func withUnit(_ first: Substring, of second: Substring) -> String {
    let isBare = first.allSatisfy { $0.isWholeNumber || $0.isWhitespace || ".,'’".contains($0) }
    guard isBare, let last = second.lastIndex(where: \.isWholeNumber) else { return String(first) }
    return String(first) + second[second.index(after: last)...]
  }
}
