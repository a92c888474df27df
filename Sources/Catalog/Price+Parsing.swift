extension Price {
  /// Reads a price as shops write it: "7,000원", "39,000", "$1,299.50", "1.299,50 €".
  ///
  /// The last of two different separators is the decimal one. A lone comma before three digits
  /// groups thousands. A lone point before three digits groups them where that is the currency's
  /// custom ("1.299 €", "12.990" CLP); elsewhere it is the decimal point, and the third digit must be
  /// a zero ("19.990" USD is 19.99). What may mean two amounts ("19.999" USD, "19.990" EUR) is an
  /// error. Of a range ("5~7", "10.00 - 12.50 EUR") the low end is the price. A unit, where there is
  /// one, must belong to `currency`. Nothing is ever rounded.
  ///
  /// - Parameters:
  ///   - text: The price as written.
  ///   - currency: The catalog's currency, an ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price`; its reason fits into a list of skipped items.
  public init(parsing text: String, currency: String) throws(CatalogError) {
    let places = Currency.exponent(of: currency)
    var plain = text
    if let units = plain.withUTF8({
      plainUnits($0, unit: currency == "KRW" ? "원" : "", places: places)
    }) {
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

  /// Reads a price that JSON holds as a number of major units: 9.99 USD is 999 cents.
  ///
  /// The number's shortest decimal text counts, not its binary value. Where that text has 15 digits
  /// or more it is the dust of somebody's arithmetic, and is rounded to the minor unit.
  ///
  /// - Parameters:
  ///   - number: The amount in major units.
  ///   - currency: The catalog's currency, an ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price`.
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

  /// Reads a whole number of major units.
  ///
  /// - Parameters:
  ///   - number: The amount in major units.
  ///   - currency: The catalog's currency, an ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price`, when negative or too large.
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

  /// Reads a whole number that counts 10^-`scale` of a major unit, as some stores' APIs do.
  ///
  /// - Parameters:
  ///   - number: The digits.
  ///   - scale: How many of them are decimals.
  ///   - currency: The catalog's currency, an ISO 4217 code.
  /// - Throws: ``CatalogError`` with code `price`.
  public init(_ number: Int, scale: Int, currency: String) throws(CatalogError) {
    guard (0...9).contains(scale) else { throw priceError("a scale of \(scale) makes no sense") }
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

/// Makes the error that says why a price cannot be read.
func priceError(_ reason: String) -> CatalogError {
  CatalogError(.price, subject: "price", reason: reason)
}

/// Joins digits to minor units; decimals past the currency's last must be zeros.
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
