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
}

extension Price {
  /// The price for display, for example "7,000원", "$9.99" or "1,299.50 CHF".
  public func formatted() -> String {
    let sign = minorUnits < 0 ? "-" : ""
    let amount = groupedAmount
    switch currency {
    case "KRW": return "\(sign)\(amount)원"
    case "USD": return "\(sign)$\(amount)"
    case "EUR": return "\(sign)€\(amount)"
    case "GBP": return "\(sign)£\(amount)"
    case "JPY": return "\(sign)¥\(amount)"
    default: return "\(sign)\(amount) \(currency)"
    }
  }

  /// The amount without sign and unit, for example "1,299.50".
  private var groupedAmount: String {
    let places = Currency.exponent(of: currency)
    var digits = String(minorUnits.magnitude)
    if digits.count <= places {
      digits = String(repeating: "0", count: places + 1 - digits.count) + digits
    }
    let whole = digits.dropLast(places)
    var grouped = ""
    for (index, digit) in whole.enumerated() {
      if index > 0, (whole.count - index).isMultiple(of: 3) { grouped += "," }
      grouped.append(digit)
    }
    return places == 0 ? grouped : grouped + "." + digits.suffix(places)
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
  /// Of a range such as "5~7" or "10.00 - 12.50 EUR", the lower end is read. If the text has a unit, it must be a unit
  /// of `currency`. The amount is never rounded.
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
    if let low = try PriceRange.low(of: text, currency: currency) {
      self = low
      return
    }
    let written = try WrittenPrice(text)
    try written.checkUnits(against: currency)
    let (whole, fraction) = try written.parts(in: currency)
    self.init(
      minorUnits: try joinedUnits(whole: whole, fraction: fraction, places: places, of: text),
      currency: currency
    )
  }

  /// Reads a price that is a number with decimals in JSON.
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
    let text = number.description
    guard number.isFinite else { throw priceError("\(text) is not an amount") }
    guard number >= 0 else { throw priceError("\(text) is negative") }
    let places = Currency.exponent(of: currency)
    guard var decimal = DecimalDigits(text) else { throw priceError("\(text) is not an amount") }
    if decimal.digits.count >= 15 { decimal.round(toPlaces: places) }
    let (whole, fraction) = decimal.parts
    self.init(
      minorUnits: try joinedUnits(whole: whole, fraction: fraction, places: places, of: text),
      currency: currency
    )
  }

  /// Reads a price that is a whole number of the currency's main unit.
  ///
  /// For example, 7 is 700 cents in USD.
  ///
  /// - Parameters:
  ///   - number: The amount in the currency's main unit.
  ///   - currency: The currency's ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price` if the number is negative or too large.
  public init(_ number: Int, currency: String) throws(CatalogError) {
    guard number >= 0 else { throw priceError("\(number) is negative") }
    var units = number
    for _ in 0..<Currency.exponent(of: currency) {
      let (product, overflow) = units.multipliedReportingOverflow(by: 10)
      guard !overflow else { throw priceError("\(number) is too large") }
      units = product
    }
    self.init(minorUnits: units, currency: currency)
  }

  /// Reads a whole number whose last digits are decimals.
  ///
  /// For example, 1999 with a scale of 2 is 19.99.
  ///
  /// - Parameters:
  ///   - number: The digits of the amount, as one number.
  ///   - scale: The number of digits that are decimals, from 0 to 9.
  ///   - currency: The currency's ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price` if the scale is not possible, if the number is negative or too large,
  ///   or if it has more decimals than the currency.
  public init(_ number: Int, scale: Int, currency: String) throws(CatalogError) {
    guard (0...9).contains(scale) else {
      throw priceError("a scale of \(scale) is not possible (0 to 9)")
    }
    guard number >= 0 else { throw priceError("\(number) is negative") }
    var digits = String(number).utf8.map { $0 - 48 }
    if digits.count <= scale {
      digits.insert(contentsOf: repeatElement(0, count: scale + 1 - digits.count), at: 0)
    }
    let places = Currency.exponent(of: currency)
    self.init(
      minorUnits: try joinedUnits(
        whole: Array(digits.dropLast(scale)),
        fraction: Array(digits.suffix(scale)),
        places: places,
        of: "\(number)"
      ),
      currency: currency
    )
  }
}

/// Makes the error that a price cannot be read, with the reason.
func priceError(_ reason: String) -> CatalogError {
  CatalogError(.price, subject: "price", reason: reason)
}

/// Joins the values of digits before and after the decimal separator to an amount in minor units.
///
/// If `fraction` has more digits than `places`, which is the number of decimals of the currency, the further digits
/// must be zeros. `text` is the price as written, for an error message.
private func joinedUnits(
  whole: [UInt8],
  fraction: [UInt8],
  places: Int,
  of text: String
) throws(CatalogError) -> Int {
  guard fraction.dropFirst(places).allSatisfy({ $0 == 0 }) else {
    throw priceError("\"\(text)\" has more decimals than the currency's \(places)")
  }
  var units = 0
  let padding = repeatElement(UInt8(0), count: max(0, places - fraction.count))
  for digit in whole + fraction.prefix(places) + padding {
    let (product, overflow) = units.multipliedReportingOverflow(by: 10)
    let (sum, carry) = product.addingReportingOverflow(Int(digit))
    guard !overflow, !carry else { throw priceError("\"\(text)\" is too large") }
    units = sum
  }
  return units
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
  var end = text.count
  if currency == "KRW", text.reversed().starts(with: "원".utf8.reversed()) {
    end -= "원".utf8.count
  } else if end > 4, text[end - 4] == UInt8(ascii: " "),
    text[(end - 3)...].elementsEqual(currency.utf8)
  {
    end -= 4
  }
  var units = 0
  var digitsInGroup = 0
  var commas = 0
  var decimals: Int?
  guard end <= 15, text.first != UInt8(ascii: "0") else { return nil }
  for byte in text[..<end] {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      units = units * 10 + Int(byte - UInt8(ascii: "0"))
      digitsInGroup += 1
      if let count = decimals { decimals = count + 1 }
    case UInt8(ascii: ",") where decimals == nil:
      guard commas == 0 ? (1...3).contains(digitsInGroup) : digitsInGroup == 3 else { return nil }
      commas += 1
      digitsInGroup = 0
    case UInt8(ascii: ".") where decimals == nil && digitsInGroup > 0:
      guard commas == 0 || digitsInGroup == 3 else { return nil }
      decimals = 0
    default: return nil
    }
  }
  if let decimals { return decimals == places && places > 0 ? units : nil }
  guard digitsInGroup > 0, commas == 0 || digitsInGroup == 3 else { return nil }
  for _ in 0..<places { units *= 10 }
  return units
}

/// The text of a price, split into an amount and the units around it.
///
/// For example, "1.299,50 €" has the amount "1.299,50" and the unit "€".
struct WrittenPrice {
  /// The whole text.
  let text: String
  /// The units before and after the amount, in lower case.
  private(set) var units: [String] = []
  private var amount: [Part] = []

  private enum Part: Equatable {
    /// A digit, with its value from 0 to 9.
    case digit(UInt8)
    case separator(Unicode.Scalar)
  }

  /// Splits a text.
  ///
  /// - Throws: ``CatalogError`` if the text has no digits, has other characters between them, or is negative.
  init(_ text: String) throws(CatalogError) {
    self.text = text
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { Self.digit($0) != nil }),
      let last = scalars.lastIndex(where: { Self.digit($0) != nil })
    else { throw priceError("\"\(Self.shortened(text))\" holds no amount") }

    for part in [scalars[..<first], scalars[scalars.index(after: last)...]] {
      let unit = try Self.unit(in: part, of: text)
      if !unit.isEmpty { units.append(unit) }
    }
    for scalar in scalars[first...last] {
      if let value = Self.digit(scalar) {
        amount.append(.digit(value))
      } else if let separator = Self.separator(scalar) {
        amount.append(.separator(separator))
      } else {
        throw priceError("\"\(Self.shortened(text))\" is not one amount")
      }
    }
  }

  /// Throws an error if a unit is unknown or belongs to another currency.
  func checkUnits(against currency: String) throws(CatalogError) {
    for unit in units {
      let codes = Currency.codes(writtenAs: unit)
      guard let code = codes.first else {
        throw priceError("\"\(Self.shortened(text))\" has the unknown unit \"\(unit)\"")
      }
      guard codes.contains(currency) else {
        throw priceError(
          "\"\(Self.shortened(text))\" is in \(code), and the catalog in \(currency)"
        )
      }
    }
  }

  /// The values of the digits before and after the decimal separator.
  ///
  /// - Throws: ``CatalogError`` if the digits are grouped in an unknown way, or if a separator can have two meanings.
  func parts(in currency: String) throws(CatalogError) -> (whole: [UInt8], fraction: [UInt8]) {
    var (groups, separators) = split()
    let fraction = try hasDecimals(groups, separators, currency) ? groups.removeLast() : []
    let grouping = groups.count > 1 ? separators.first : nil
    let isGrouped =
      separators.prefix(groups.count - 1).allSatisfy { $0 == grouping }
      && (1...3).contains(groups[0].count)
      && groups.dropFirst().dropLast().allSatisfy { (2...3).contains($0.count) }
      && groups.last?.count == 3
    guard groups.count == 1 || isGrouped, groups.count > 1 || !groups[0].isEmpty else {
      throw priceError("\"\(Self.shortened(text))\" has an unknown digit grouping")
    }
    return (groups.flatMap(\.self), fraction)
  }

  /// The groups of digits between separators, and the separators.
  private func split() -> (groups: [[UInt8]], separators: [Unicode.Scalar]) {
    var groups: [[UInt8]] = [[]]
    var separators: [Unicode.Scalar] = []
    for part in amount {
      switch part {
      case .digit(let value): groups[groups.count - 1].append(value)
      case .separator(let scalar):
        separators.append(scalar)
        groups.append([])
      }
    }
    return (groups, separators)
  }

  /// The meaning of points in the prices of a shop, as far as one price shows it.
  enum Point: Hashable {
    /// Points group thousands. For example, "1.299,50" and "9,50" show this.
    case groups
    /// The point is the decimal separator. For example, "1,299.50" and "9.50" show this.
    case decimals
    /// The price has one point, before its last three digits, as in "1.299". The currency decides its meaning.
    case open
  }

  /// The meaning of points according to this price, or nil if the price has no separator that shows it.
  func point(in currency: String) -> Point? {
    let (groups, separators) = split()
    guard let last = separators.last, last == "." || last == "," else { return nil }
    if let isDecimal = Self.lastIsDecimal(groups, separators) {
      return (last == ".") == isDecimal ? .decimals : .groups
    }
    if last == "," { return .decimals }
    return Currency.exponent(of: currency) == 2 ? .open : nil
  }

  /// Whether the last separator, which is a point or a comma, is the decimal separator.
  ///
  /// The result is nil for a single separator before three digits, as in "1.299", because the digits do not show its
  /// meaning.
  private static func lastIsDecimal(
    _ groups: [[UInt8]],
    _ separators: [Unicode.Scalar]
  ) -> Bool? {
    if separators.count > 1 { return separators.dropLast().allSatisfy { $0 != separators.last } }
    return groups[1].count != 3 || groups[0] == [0] || groups[0].count > 3 ? true : nil
  }

  /// Whether the last separator is the decimal separator.
  private func hasDecimals(
    _ groups: [[UInt8]],
    _ separators: [Unicode.Scalar],
    _ currency: String
  ) throws(CatalogError) -> Bool {
    guard let last = separators.last, last == "." || last == "," else { return false }
    if let isDecimal = Self.lastIsDecimal(groups, separators) { return isDecimal }
    return try isDecimal(last, before: groups[1], currency)
  }

  /// Whether a single separator before three digits is the decimal separator, as in "19.990" USD.
  ///
  /// If it is not, it groups thousands.
  ///
  /// - Throws: ``CatalogError`` if it can mean both in the currency.
  private func isDecimal(
    _ separator: Unicode.Scalar,
    before digits: [UInt8],
    _ currency: String
  ) throws(CatalogError) -> Bool {
    switch Currency.exponent(of: currency) {
    // In a currency without decimals, three decimals could only be zeros, and nobody writes such decimals.
    case 0: return false
    case 2: break
    default: return separator == "."
    }
    // Programs do not write a decimal comma, and people do not write three decimals.
    if separator == "," { return false }
    let isPadded = digits.last == 0
    switch Currency.separators(of: currency) {
    case .decimalPoint:
      if isPadded { return true }
    case .pointGroups: return false
    case .either:
      // A unit shows that the text is for people, and people group thousands. A number without a unit can come from a
      // program.
      if !units.isEmpty || !isPadded { return false }
    }
    throw priceError(
      "\"\(Self.shortened(text))\" may mean thousands or decimals in \(currency)"
    )
  }

  /// Marks after a whole amount that mean zero decimals, as in "12,-", "99:-", "5.--" and "5/-".
  private static let emptyDecimals = [",", ".", ":", "/"].flatMap { separator in
    ["--", "-", "–", "—"].map { separator + $0 }
  }

  /// Remarks that taxes are included, without spaces and in lower case.
  ///
  /// The amount beside such a remark is the price. Other remarks are errors, because the amount beside them can have
  /// another meaning.
  private static let taxNotes = [
    "税込み", "税込", "incl.vat", "inc.vat", "includingvat", "vatincluded", "vatincl.",
    "incl.tax", "inc.tax", "taxincluded", "incl.gst", "inc.gst", "inkl.mwst.", "inkl.mwst",
    "inkl.ust.", "ttc", "ivaincluido", "ivaincluído", "ivaincl.", "ivainclusa", "inkl.moms",
    "부가세포함", "vat포함", "含税",
  ]

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
  private static func unit(
    in part: Substring.UnicodeScalarView,
    of text: String
  ) throws(CatalogError) -> String {
    var unit = ""
    for scalar in part where !scalar.properties.isWhitespace {
      // Format characters, such as marks of the reading direction, are left out.
      if scalar.properties.generalCategory != .format { unit.unicodeScalars.append(scalar) }
    }
    if let mark = emptyDecimals.first(where: unit.hasPrefix) {
      unit.removeFirst(mark.count)
    }
    if unit.hasPrefix("-") || unit.hasPrefix("−") || unit.hasSuffix("-") {
      throw priceError("\"\(shortened(text))\" is negative")
    }
    unit = unit.lowercased()
    return unit.isEmpty || !Currency.codes(writtenAs: unit).isEmpty ? unit : withoutTaxNote(unit)
  }

  /// The value of an ASCII, full-width, Arabic or Persian digit, or nil for other scalars.
  private static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
    switch scalar.value {
    case 0x30...0x39: UInt8(scalar.value - 0x30)
    case 0xFF10...0xFF19: UInt8(scalar.value - 0xFF10)
    case 0x0660...0x0669: UInt8(scalar.value - 0x0660)
    case 0x06F0...0x06F9: UInt8(scalar.value - 0x06F0)
    default: nil
    }
  }

  /// The usual form of a separator, for example "," for a full-width comma, or nil if the scalar is no separator.
  private static func separator(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case ",", "，", "٬": ","
    case ".", "．", "٫": "."
    case "'", "’": "'"
    case " ", "\u{A0}", "\u{2009}", "\u{202F}": " "
    default: nil
    }
  }

  /// The first 40 characters of a text, on one line.
  private static func shortened(_ text: String) -> String {
    let line = text.prefix(40).map { $0.isNewline ? " " : $0 }
    return String(line) + (text.count > 40 ? "…" : "")
  }
}

/// Reads prices that are ranges, such as "5~7" and "10.00 - 12.50 EUR".
enum PriceRange {
  private static let marks: Set<Character> = ["~", "～", "〜", "-", "–", "—", "−"]
  /// The maximum length of a range in bytes.
  ///
  /// Two amounts with their units are shorter.
  private static let longest = 80

  /// The lower end of a range.
  ///
  /// - Parameters:
  ///   - text: The price as the shop writes it.
  ///   - currency: The currency's ISO 4217 code.
  /// - Returns: The lower end, or nil if the text is not a range.
  /// - Throws: ``CatalogError`` with code `price` if one end cannot be read, or if the first end is higher than the
  ///   second.
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

  /// The first end of a range.
  ///
  /// If it has no unit, the unit behind the second end is added.
  private static func withUnit(_ first: Substring, of second: Substring) -> String {
    let isBare = first.allSatisfy { $0.isWholeNumber || $0.isWhitespace || ".,'’".contains($0) }
    guard isBare, let last = second.lastIndex(where: \.isWholeNumber) else { return String(first) }
    return String(first) + second[second.index(after: last)...]
  }
}

/// The digits of a decimal number, parsed from the shortest text of a `Double`, such as "1.5e-07".
struct DecimalDigits {
  /// The values of the digits, beginning with the most significant one.
  var digits: [UInt8] = []
  /// The position of the decimal point in the digits.
  ///
  /// For example, with the digits 1 and 5, it is 1 for 1.5, -1 for 0.015 and 3 for 150.
  var pointIndex = 0

  /// Parses a text such as "9.99".
  ///
  /// The result is nil if the text is not a decimal number without sign.
  init?(_ text: String) {
    var pointSeen = false
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits.append(byte - 48)
        if !pointSeen { pointIndex += 1 }
      case UInt8(ascii: "."): pointSeen = true
      case UInt8(ascii: "e"):
        guard let exponent = Int(Substring(rest)) else { return nil }
        pointIndex += exponent
        rest = rest.suffix(0)
      default: return nil
      }
    }
    while digits.count > 1, digits.first == 0 {
      digits.removeFirst()
      pointIndex -= 1
    }
  }

  /// The values of the digits before and after the decimal point, with the necessary zeros.
  var parts: (whole: [UInt8], fraction: [UInt8]) {
    if pointIndex <= 0 {
      return ([0], Array(repeating: 0, count: min(-pointIndex, 400)) + digits)
    }
    let missing = min(max(0, pointIndex - digits.count), 400)
    let whole = digits.prefix(pointIndex) + repeatElement(0, count: missing)
    return (Array(whole), Array(digits.dropFirst(pointIndex)))
  }

  /// Rounds to a number of decimals.
  ///
  /// A half is rounded up.
  mutating func round(toPlaces places: Int) {
    let kept = pointIndex + places
    guard kept >= 0, kept < digits.count else { return }
    let roundsUp = digits[kept] >= 5
    digits.removeSubrange(kept...)
    guard roundsUp else { return }
    for index in digits.indices.reversed() {
      if digits[index] < 9 {
        digits[index] += 1
        return
      }
      digits[index] = 0
    }
    digits.insert(1, at: 0)
    pointIndex += 1
  }
}
