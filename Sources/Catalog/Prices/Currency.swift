/// Facts about the currencies of ISO 4217, and about the ways in which shops write prices in them.
///
/// They are in `Words/currencies.txt`.
enum Currency {
  /// The codes of all currencies, without those of funds and metals. (ISO 4217, list one)
  static let codes = WordTable.currencies.words(of: "code")

  private static let known = Set(codes)
  private static let decimals = WordTable.currencies.values(of: "decimals")
    .compactMapValues(Int.init)
  private static let points = WordTable.currencies.values(of: "point")
  /// The numeric codes of currencies that shops name so. (ISO 4217, list one)
  private static let numbers = Dictionary(
    uniqueKeysWithValues: WordTable.currencies.words(of: "number").map {
      (String($0.prefix(3)), String($0.suffix(3)))
    }
  )
  private static let units = WordTable.currencies.values(of: "unit").mapValues {
    $0.split(separator: " ").map(String.init)
  }

  /// The number of decimals of a currency, for example 2 for "USD". (ISO 4217, list one, column "Minor unit")
  static func exponent(of code: String) -> Int { decimals[code] ?? 2 }

  /// The meaning of a point before three digits, as in "25.000", in prices of a currency that has two decimals. (CLDR
  /// 46, the locales of the currency)
  ///
  /// If points group thousands, prices in the currency have no decimals in practice.
  static func point(in code: String) -> WrittenPrice.Point {
    points[code].flatMap(WrittenPrice.Point.init(rawValue:)) ?? .decimals
  }

  /// The ISO 4217 code that a code in any case or a numeric one such as "840" stands for, or nil if it is none.
  ///
  /// "RUR" stands for "RUB": ISO 4217 withdrew it, but many feeds still have it.
  static func code(of text: String) -> String? {
    let code = text.uppercased()
    return known.contains(code) ? code : code == "RUR" ? "RUB" : numbers[code]
  }

  /// The codes of the currencies that a written unit can mean, for example "USD" and "CAD" for "$".
  ///
  /// The result is empty for an unknown unit. A point at the end of the unit, as in "kr.", does not count. The code of a
  /// unit such as "toman" is none of ISO 4217.
  static func codes(writtenAs unit: String) -> [String] {
    let unit = unit.hasSuffix(".") ? String(unit.dropLast()) : unit
    if let codes = units[unit] { return codes }
    return known.contains(unit.uppercased()) ? [unit.uppercased()] : []
  }

  /// Whether a unit that ends in a point is an abbreviation, as in "Rs.99".
  ///
  /// In "$.99" and "USD .99", the point before the amount separates decimals.
  static func isAbbreviation(_ unit: String) -> Bool {
    let word = unit.dropLast()
    return units[String(word)] != nil && (word.count > 1 || word.contains { !$0.isASCII })
      && word.last.map { $0.isLetter || $0 == "/" } == true
  }
}
