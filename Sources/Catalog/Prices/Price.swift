import Base

/// An exact amount of money.
///
/// It is a whole number of minor units, so that sums are never rounded.
public struct Price: Hashable, Sendable, Codable {
  /// The amount in the smallest unit of the currency.
  ///
  /// For example, 9.99 USD are 999 cents.
  public let minorUnits: Int
  /// The ISO 4217 code of the currency in upper case, for example "KRW".
  public let currency: String

  /// Makes a price from minor units.
  public init(minorUnits: Int, currency: String) {
    self.minorUnits = minorUnits
    self.currency = currency
  }

  /// Whether the price is higher than another one in the same currency.
  package func isAbove(_ other: Price) -> Bool {
    currency == other.currency && minorUnits > other.minorUnits
  }

  /// The change from this price to another one, as a fraction of this one: −0.16 for 16 % less.
  ///
  /// - Returns: Nil if the currencies differ, or if this price is not above zero.
  package func change(to other: Price) -> Double? {
    guard currency == other.currency, minorUnits > 0 else { return nil }
    return (Double(other.minorUnits) - Double(minorUnits)) / Double(minorUnits)
  }

  /// The change from this price to another one in percent: −16 for 16 % less.
  ///
  /// - Returns: A whole number. Nil if there is no ``change(to:)``, or if it is a million percent or more, which says
  ///   nothing to people.
  package func percent(to other: Price) -> Int? {
    change(to: other).flatMap { abs($0) < 1e4 ? Int(($0 * 100).rounded()) : nil }
  }
}

extension Price {
  /// The price for display, for example "7,000원", "$9.99" or "1,299.50 CHF".
  public func formatted() -> String {
    let power = powerOfTen(Currency.exponent(of: currency))
    let (whole, rest) = minorUnits.quotientAndRemainder(dividingBy: power)
    var amount = String(whole.grouped.drop { $0 == "−" })
    if power > 1 { amount += "." + String(power + abs(rest)).dropFirst() }
    let sign = minorUnits < 0 ? "-" : ""
    if currency == "KRW" { return "\(sign)\(amount)원" }
    let symbols = ["USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"]
    return symbols[currency].map { "\(sign)\($0)\(amount)" } ?? "\(sign)\(amount) \(currency)"
  }
}

extension Price {
  /// Reads a price as shops write it, for example "7,000원", "39,000", "$1,299.50" or "1.299,50 €".
  ///
  /// The rules for separators are:
  /// - If a text has two different separators, the last one is the decimal separator.
  /// - A single comma before three digits groups thousands.
  /// - A single point before three digits groups thousands if the currency is usually written so, as in "1.299 €" and
  ///   "12.990" CLP. In other currencies it is the decimal separator, and the third digit must be a zero. For example,
  ///   "19.990" USD is 19.99.
  /// - A text that can have two meanings is an error, for example "19.999" USD and "19.990" EUR.
  ///
  /// Of a range such as "5~7", "$5 to $7" or "10.00 - 12.50 EUR", the lower end is read. If the text has a unit, it must be a unit
  /// of `currency`. The amount is not rounded, except in the text of a number with 15 digits or more, such as
  /// "164429.89045383412", which the shop has computed (``init(_:currency:)``).
  ///
  /// - Parameters:
  ///   - text: The price as the shop writes it.
  ///   - currency: The currency's ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price` and a short reason.
  public init(parsing text: String, currency: String) throws(CatalogError) {
    let places = Currency.exponent(of: currency)
    var plain = text
    if let units = plain.withUTF8({ plainUnits($0, of: currency, places: places) }) {
      self.init(minorUnits: units, currency: currency)
      return
    }
    // Two amounts with their units are shorter than 80 bytes.
    if text.utf8.count <= 80, let low = try Self.lowEnd(of: text, currency: currency) {
      self = low
      return
    }
    let written = try WrittenPrice(text)
    try written.checkUnits(against: currency)
    let (whole, fraction) = try written.parts(in: currency)
    if fraction.count > 3, let number = Double(text), Self.digitCount(of: number) >= 15 {
      try self.init(number, currency: currency)
      return
    }
    guard fraction.dropFirst(places).allSatisfy({ $0 == "0" }) else {
      throw priceError("\"\(text)\" has more decimals than the currency's \(places)")
    }
    let padding = String(repeating: "0", count: max(0, places - fraction.count))
    guard let units = Int(whole + fraction.prefix(places) + padding) else {
      throw priceError("\"\(text)\" is too large")
    }
    self.init(minorUnits: units, currency: currency)
  }

  /// The marks between the two ends of a range.
  private static let rangeMarks: Set<Character> = ["~", "～", "〜", "-", "–", "—", "−"]

  /// The lower end of a range such as "5~7", or nil if the text is not a range.
  private static func lowEnd(of text: String, currency: String) throws(CatalogError) -> Price? {
    let ends = text.replacing(" to ", with: "~")
      .split(omittingEmptySubsequences: false, whereSeparator: rangeMarks.contains)
    guard ends.count == 2, ends[0].contains(where: \.isWholeNumber),
      let last = ends[1].lastIndex(where: \.isWholeNumber)
    else { return nil }
    // The unit of the second end belongs to both ends in "10.00 - 12.50 EUR".
    let isBare = ends[0].allSatisfy { $0.isWholeNumber || $0.isWhitespace || ".,'’".contains($0) }
    let unit = isBare ? String(ends[1][last...].dropFirst()) : ""
    let high = try Price(parsing: String(ends[1]), currency: currency)
    let low = try Price(parsing: ends[0] + unit, currency: currency)
    // In "₹50 - 60 lakh", the first end is no amount by itself.
    let scales = (try WrittenPrice(ends[0] + unit).scale, try WrittenPrice(String(ends[1])).scale)
    guard low.minorUnits <= high.minorUnits, scales.0 > 0 || scales.1 == 0
    else {
      throw priceError("\"\(text)\" is not one amount, nor a range with its low end first")
    }
    return low
  }

  /// Reads a price that is a number with decimals.
  ///
  /// For example, the number 9.99 is 999 cents in USD.
  ///
  /// The shortest decimal text of the number counts. If this text has 15 digits or more, the shop has computed the
  /// number with rounding errors, so it is rounded to the minor unit.
  ///
  /// - Parameters:
  ///   - number: The amount in the currency's main unit, such as dollars.
  ///   - currency: The currency's ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price` if the number is negative, too large, or has more decimals than the
  ///   currency.
  public init(_ number: Double, currency: String) throws(CatalogError) {
    guard number.sign == .plus else { throw priceError("\(number) is negative") }
    let places = Currency.exponent(of: currency)
    let power = Double(powerOfTen(places))
    let rounded = (number * power).rounded()
    guard let units = Int(exactly: rounded) else { throw priceError("\(number) is too large") }
    // The quotient is the same number if its shortest text has no more decimals than the currency.
    guard rounded / power == number || Self.digitCount(of: number) >= 15 else {
      throw priceError("\"\(number)\" has more decimals than the currency's \(places)")
    }
    self.init(minorUnits: units, currency: currency)
  }

  /// The number of digits in the shortest text of a number, without leading zeros and exponent.
  private static func digitCount(of number: Double) -> Int {
    number.description.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }.count
  }

  /// Reads a whole number whose last digits can be decimals.
  ///
  /// For example, 1999 with a scale of 2 is 19.99. Without a scale, it is 1,999 of the currency's main unit.
  ///
  /// - Parameters:
  ///   - number: The digits of the amount, as one number.
  ///   - scale: The number of digits that are decimals, from 0 to 9.
  ///   - currency: The currency's ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price` if the scale is not possible, if the number is negative or too large,
  ///   or if it has more decimals than the currency.
  public init(_ number: Int, scale: Int = 0, currency: String) throws(CatalogError) {
    guard (0...9).contains(scale) else {
      throw priceError("a scale of \(scale) is not possible (0 to 9)")
    }
    guard number >= 0 else { throw priceError("\(number) is negative") }
    let places = Currency.exponent(of: currency)
    let (product, overflow) = number.multipliedReportingOverflow(
      by: powerOfTen(max(0, places - scale))
    )
    guard !overflow else { throw priceError("\(number) is too large") }
    let (units, rest) = product.quotientAndRemainder(
      dividingBy: powerOfTen(max(0, scale - places))
    )
    guard rest == 0 else {
      throw priceError("\"\(number)\" has more decimals than the currency's \(places)")
    }
    self.init(minorUnits: units, currency: currency)
  }
}

/// Makes the error that a price cannot be read, with the reason.
func priceError(_ reason: String) -> CatalogError {
  CatalogError(.price, subject: "price", reason: reason)
}

/// The power of ten with an exponent from 0 to 18.
func powerOfTen(_ exponent: Int) -> Int {
  (0..<exponent).reduce(1) { power, _ in power * 10 }
}

/// Reads prices in the usual forms, such as "7,000원", "39,000", "1,299.50" and "1,299.50 EUR".
///
/// This is a faster way than ``WrittenPrice``, which reads all forms. Nearly all prices of shops have the usual forms,
/// and a large section has many thousands of prices.
///
/// - Parameters:
///   - text: The price in UTF-8.
///   - currency: The currency's ISO 4217 code.
///   - places: The number of decimals of the currency.
/// - Returns: The amount in minor units, or nil if the price has another form.
private func plainUnits(
  _ text: UnsafeBufferPointer<UInt8>,
  of currency: String,
  places: Int
) -> Int? {
  let (comma, point) = (UInt8(ascii: ","), UInt8(ascii: "."))
  let unit = (currency == "KRW" ? "원" : " " + currency).utf8
  var amount = text[...]
  if amount.suffix(unit.count).elementsEqual(unit) { amount = amount.dropLast(unit.count) }
  // With 14 digits and the four decimals that a currency has at most, an amount fits `Int`.
  guard amount.count <= 14, amount.first != UInt8(ascii: "0") else { return nil }
  var units = 0
  var mark: UInt8?
  var digitsAfterMark = 0
  for byte in amount {
    if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      units = units * 10 + Int(byte - UInt8(ascii: "0"))
      digitsAfterMark += 1
      continue
    }
    guard byte == comma || byte == point, mark != point, digitsAfterMark > 0,
      mark == comma ? digitsAfterMark == 3 : byte == point || digitsAfterMark <= 3
    else { return nil }
    (mark, digitsAfterMark) = (byte, 0)
  }
  guard digitsAfterMark > 0 else { return nil }
  if mark == point { return digitsAfterMark == places ? units : nil }
  return mark == nil || digitsAfterMark == 3 ? units * powerOfTen(places) : nil
}

/// The text of a price, split into an amount and the units around it.
///
/// For example, "1.299,50 €" has the groups of digits "1", "299" and "50", and the unit "€".
struct WrittenPrice {
  /// The whole text.
  let text: String
  /// The units before and after the amount, in lower case.
  private(set) var units: [String] = []
  /// The digits between the separators, in ASCII.
  private var groups = [""]
  private var separators: [Character] = []
  /// The power of ten that the amount counts: 4 for "10.5万円" and "3만원", 5 for "1.5 lakh", 6 for "2,5 млн ₽".
  private(set) var scale = 0

  /// Splits a text.
  ///
  /// - Throws: ``CatalogError`` if the text has no digits, has other characters between them, or is negative.
  init(_ text: String) throws(CatalogError) {
    self.text = text
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { Self.digit($0) != nil }),
      let last = scalars.lastIndex(where: { Self.digit($0) != nil })
    else { throw fault("holds no amount") }

    let before = try unit(in: scalars[..<first])
    guard !before.hasSuffix(".") || Currency.isAbbreviation(before) else {
      throw fault("has the unknown unit \"\(before)\"")
    }
    var after = try unit(in: scalars[scalars.index(after: last)...])
    (scale, after) = Self.scale(of: after, isMoney: !before.isEmpty)
    units = [before, after].filter { !$0.isEmpty }
    for scalar in scalars[first...last] {
      if let digit = Self.digit(scalar) {
        groups[separators.count] += String(digit)
      } else if let separator = Self.separator(scalar) {
        // People put two spaces where programs put one.
        if separator == " ", separators.last == " ", groups.last == "" { continue }
        separators.append(separator)
        groups.append("")
      } else {
        throw fault("is not one amount")
      }
    }
  }

  /// Throws an error if a unit is unknown or belongs to another currency.
  func checkUnits(against currency: String) throws(CatalogError) {
    for unit in units {
      let codes = Currency.codes(writtenAs: unit)
      guard let code = codes.first else { throw fault("has the unknown unit \"\(unit)\"") }
      guard codes.contains(currency) else {
        throw fault("is in \(code), and the catalog in \(currency)")
      }
    }
  }

  /// The digits before and after the decimal separator.
  ///
  /// - Throws: ``CatalogError`` if the digits are grouped in an unknown way, or if a separator can have two meanings.
  func parts(in currency: String) throws(CatalogError) -> (whole: String, fraction: String) {
    var groups = groups
    let fraction = try hasDecimals(in: currency) ? groups.removeLast() : ""
    let isGrouped =
      separators.prefix(groups.count - 1).allSatisfy { $0 == separators[0] }
      && groups[0].count <= 3 && groups.last?.count == 3
      && groups.dropFirst().dropLast().allSatisfy { (2...3).contains($0.count) }
    guard groups.count == 1 || isGrouped else { throw fault("has an unknown digit grouping") }
    let digits = fraction + String(repeating: "0", count: max(0, scale - fraction.count))
    return (groups.joined() + digits.prefix(scale), String(digits.dropFirst(scale)))
  }

  /// The powers of ten that words such as "万" and "lakh" mean, the longest word first.
  private static let scales = WordTable.currencies.values(of: "scale")
    .compactMapValues(Int.init).sorted { $0.key.count > $1.key.count }

  /// Whether a text begins with a word for a power of ten, such as "万" or "million".
  ///
  /// Single letters do not count, because "5 m" is a length.
  static func beginsWithScale(_ text: Substring) -> Bool {
    let text = text.drop(while: \.isWhitespace).lowercased()
    return scales.contains { word, _ in
      guard word.utf8.count > 1, text.hasPrefix(word) else { return false }
      // Chinese and Korean words follow each other without a space.
      let isIdeograph = word.unicodeScalars.allSatisfy { $0.value >= 0x3000 }
      return isIdeograph || text.dropFirst(word.count).first?.isLetter != true
    }
  }

  /// Splits the unit behind an amount into a power of ten and the unit of the currency, as in "млн ₽".
  ///
  /// A single letter, as in "$1.2m", is a power of ten only beside a unit: "5 m" is a length.
  private static func scale(of unit: String, isMoney: Bool) -> (Int, String) {
    guard !unit.isEmpty, Currency.codes(writtenAs: unit).isEmpty else { return (0, unit) }
    for (word, scale) in scales where unit.hasPrefix(word) {
      let rest = String(unit.dropFirst(word.count).drop { $0 == "." })
      let isLetter = word.utf8.count == 1
      if rest.isEmpty ? isMoney || !isLetter : !Currency.codes(writtenAs: rest).isEmpty {
        return (scale, rest)
      }
    }
    return (0, unit)
  }

  /// The meaning of a point before digits, in one price or in the prices of a currency.
  enum Point: String {
    /// Points group thousands. For example, "1.299,50" and "9,50" show this.
    case groups
    /// The point is the decimal separator. For example, "1,299.50" and "9.50" show this.
    case decimals
    /// The point can mean both.
    ///
    /// A price has one point, before its last three digits, as in "1.299", so the currency decides. In some currencies,
    /// people group thousands with the point, but programs write the point as the decimal separator.
    case open
  }

  /// The meaning of points according to this price, or nil if the price has no separator that shows it.
  func point(in currency: String) -> Point? {
    guard let last = separators.last, last == "." || last == "," else { return nil }
    if let lastIsDecimal { return (last == ".") == lastIsDecimal ? .decimals : .groups }
    if last == "," { return .decimals }
    return Currency.exponent(of: currency) == 2 ? .open : nil
  }

  /// Whether the last separator, which is a point or a comma, is the decimal separator.
  ///
  /// It is nil for a single separator before three digits, as in "1.299", because the digits do not show its meaning.
  private var lastIsDecimal: Bool? {
    if separators.count > 1 { return separators.dropLast().allSatisfy { $0 != separators.last } }
    return groups[1].count != 3 || groups[0] == "0" || groups[0].count > 3 ? true : nil
  }

  /// Whether the last separator is the decimal separator.
  ///
  /// - Throws: ``CatalogError`` if it can mean both in the currency.
  private func hasDecimals(in currency: String) throws(CatalogError) -> Bool {
    guard let last = separators.last, last == "." || last == "," else { return false }
    if let lastIsDecimal { return lastIsDecimal }
    // "10.500万" has decimals. Of "1.250 млн", nobody knows.
    if scale == 4 || scale == 8 { return last == "." }
    if scale > 0 { throw fault("may mean thousands or decimals") }
    let isPadded = groups[1].hasSuffix("0")
    switch (Currency.exponent(of: currency), last, Currency.point(in: currency)) {
    // In a currency without decimals, three decimals could only be zeros, and nobody writes such decimals.
    case (0, _, _): return false
    // Programs do not write a decimal comma, and people do not write three decimals.
    case (2, ",", _), (2, _, .groups): return false
    case (2, _, .decimals) where isPadded: return true
    // A unit shows that the text is for people, and people group thousands. A number without a unit can come from a
    // program.
    case (2, _, .open) where !units.isEmpty || !isPadded: return false
    case (2, _, _): throw fault("may mean thousands or decimals in \(currency)")
    default: return last == "."
    }
  }

  /// Marks after a whole amount that mean zero decimals, as in "12,-", "99:-", "5.--" and "5/-".
  private static let emptyDecimals = [",", ".", ":", "/"].flatMap { separator in
    ["--", "-", "–", "—", "="].map { separator + $0 }
  }

  /// Remarks that taxes are included, or that only say that the amount is a price, without spaces and in lower case.
  ///
  /// The amount beside such a remark is the price. Other remarks are errors, because the amount beside them can have
  /// another meaning.
  private static let taxNotes = WordTable.currencies.words(of: "taxNote")

  /// The unit without the remark that taxes are included.
  ///
  /// The remark can be in brackets, as in "€(incl.vat)".
  private static func withoutTaxNote(_ unit: String) -> String {
    for note in taxNotes {
      for text in ["(\(note))", "（\(note)）", note]
      where unit.hasSuffix(text) || unit.hasPrefix(text) {
        return unit.replacing(text, with: "", maxReplacements: 1)
      }
    }
    return unit
  }

  /// The unit in a text before or after the amount.
  ///
  /// The result is empty if there is none. White space, remarks about taxes and marks for zero decimals are removed.
  private func unit(in part: Substring.UnicodeScalarView) throws(CatalogError) -> String {
    var unit = ""
    for scalar in part where !scalar.properties.isWhitespace {
      // Format characters, such as marks of the reading direction, are left out.
      if scalar.properties.generalCategory != .format { unit.unicodeScalars.append(scalar) }
    }
    if let mark = Self.emptyDecimals.first(where: unit.hasPrefix) { unit.removeFirst(mark.count) }
    if unit.hasPrefix("-") || unit.hasPrefix("−") || unit.hasSuffix("-") {
      throw fault("is negative")
    }
    unit = unit.lowercased()
    // Programs that add the sign to a text such as "$9.99" write "$$9.99".
    let half = String(unit.prefix(unit.count / 2))
    if half + half == unit, !Currency.codes(writtenAs: half).isEmpty { unit = half }
    return unit.isEmpty || !Currency.codes(writtenAs: unit).isEmpty
      ? unit : Self.withoutTaxNote(unit)
  }

  /// The value of a decimal digit of any script, or nil for other scalars.
  private static func digit(_ scalar: Unicode.Scalar) -> Int? {
    guard scalar.properties.numericType == .decimal else { return nil }
    return scalar.properties.numericValue.map { Int($0) }
  }

  /// The usual form of a separator, for example "," for a full-width comma, or nil if the scalar is no separator.
  private static func separator(_ scalar: Unicode.Scalar) -> Character? {
    switch scalar {
    case ",", "，", "٬": ","
    case ".", "．", "٫": "."
    case "'", "’": "'"
    case " ", "\u{A0}", "\u{2009}", "\u{202F}": " "
    default: nil
    }
  }

  /// Makes an error that quotes the first 40 characters of the text, on one line.
  private func fault(_ words: String) -> CatalogError {
    let line = text.prefix(40).map { $0.isNewline ? " " : $0 }
    return priceError("\"\(String(line))\(text.count > 40 ? "…" : "")\" \(words)")
  }
}
