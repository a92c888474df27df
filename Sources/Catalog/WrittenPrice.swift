/// A price text taken apart: units around an amount.
struct WrittenPrice {
  /// The whole text, for messages.
  let text: String
  /// The units before and after the amount, lower case.
  private(set) var units: [String] = []
  /// Digits as their value; separators as the scalar that stood there.
  private var amount: [Part] = []

  private enum Part: Equatable {
    case digit(UInt8)
    case separator(Unicode.Scalar)
  }

  /// Splits a text into units and amount.
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

  /// Refuses units of another currency.
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

  /// The digits before and after the decimal separator.
  ///
  /// - Throws: ``CatalogError`` when the digits stand in no known order, or in one that may mean two
  ///   amounts.
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
      throw priceError("\"\(Self.shortened(text))\" groups its digits in no known way")
    }
    return (groups.flatMap(\.self), fraction)
  }

  /// The digits between separators, and these.
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

  /// What the point does in a price.
  enum Point: Hashable {
    /// It parts thousands, or would: the comma is the decimal one.
    case groups
    /// It is the decimal point, or would be: the comma parts thousands.
    case decimals
    /// It stands before three digits at the end, and only the custom of the currency says what it does.
    case open
  }

  /// What this text says of the point; nil when nothing.
  func point(in currency: String) -> Point? {
    let (groups, separators) = split()
    guard let last = separators.last, last == "." || last == "," else { return nil }
    if let isDecimal = Self.lastIsDecimal(groups, separators) {
      return (last == ".") == isDecimal ? .decimals : .groups
    }
    if last == "," { return .decimals }
    return Currency.exponent(of: currency) == 2 ? .open : nil
  }

  /// Whether the last separator, a point or a comma, is the decimal one.
  ///
  /// Nil for a lone one before three digits, of which the digits alone do not tell.
  private static func lastIsDecimal(
    _ groups: [[UInt8]],
    _ separators: [Unicode.Scalar]
  ) -> Bool? {
    if separators.count > 1 { return separators.dropLast().allSatisfy { $0 != separators.last } }
    return groups[1].count != 3 || groups[0] == [0] || groups[0].count > 3 ? true : nil
  }

  /// Whether the last separator is the decimal one.
  private func hasDecimals(
    _ groups: [[UInt8]],
    _ separators: [Unicode.Scalar],
    _ currency: String
  ) throws(CatalogError) -> Bool {
    guard let last = separators.last, last == "." || last == "," else { return false }
    if let isDecimal = Self.lastIsDecimal(groups, separators) { return isDecimal }
    return try meaning(of: last, before: groups[1], currency) == .decimals
  }

  /// What a lone separator before three digits means: thousands, or decimals with a zero at the end.
  ///
  /// Which of them is the custom of the currency; what custom leaves open is an error.
  private func meaning(
    of separator: Unicode.Scalar,
    before digits: [UInt8],
    _ currency: String
  ) throws(CatalogError) -> SeparatorMeaning {
    // Decimals that the currency has not could only be zeros, and nobody writes three of those.
    switch Currency.exponent(of: currency) {
    case 0: return .thousands
    case 2: break
    default: return separator == "." ? .decimals : .thousands
    }
    // Programs write no decimal comma, and people three decimals of nothing.
    if separator == "," { return .thousands }
    let isPadded = digits.last == 0
    switch Currency.separators(of: currency) {
    case .decimalPoint:
      if isPadded { return .decimals }
    case .pointGroups: return .thousands
    case .either:
      // A written unit tells a text for people, where thousands are apart; a bare number may be a
      // database's.
      if !units.isEmpty || !isPadded { return .thousands }
    }
    throw priceError(
      "\"\(Self.shortened(text))\" may mean thousands or decimals in \(currency)"
    )
  }

  private enum SeparatorMeaning {
    case thousands
    case decimals
  }

  /// What stands behind a whole amount in place of decimals: "12,-", "99:-", "5.--", "5/-".
  private static let emptyDecimals = [",", ".", ":", "/"].flatMap { separator in
    ["--", "-", "–", "—"].map { separator + $0 }
  }

  /// What says that the amount is all there is to pay.
  ///
  /// Other notes may mean another amount.
  private static let taxNotes = [
    "税込み", "税込", "incl.vat", "inc.vat", "includingvat", "vatincluded", "vatincl.",
    "incl.tax", "inc.tax", "taxincluded", "incl.gst", "inc.gst", "inkl.mwst.", "inkl.mwst",
    "inkl.ust.", "ttc", "ivaincluido", "ivaincluído", "ivaincl.", "ivainclusa", "inkl.moms",
    "부가세포함", "vat포함", "含税",
  ]

  /// A unit without the note that taxes are in the amount, in brackets or not.
  private static func withoutTaxNote(_ unit: String) -> String {
    for note in taxNotes {
      for text in ["(\(note))", "（\(note)）", note]
      where unit.hasSuffix(text) || unit.hasPrefix(text) {
        return unit.replacing(text, with: "", maxReplacements: 1)
      }
    }
    return unit
  }

  /// The unit in the text around the amount, without white space, notes and what stands for no decimals.
  private static func unit(
    in part: Substring.UnicodeScalarView,
    of text: String
  ) throws(CatalogError) -> String {
    var unit = ""
    for scalar in part where !scalar.properties.isWhitespace {
      // Marks of the direction in which people read say nothing.
      if scalar.properties.generalCategory != .format { unit.unicodeScalars.append(scalar) }
    }
    if let mark = emptyDecimals.first(where: unit.hasPrefix) {
      unit.removeFirst(mark.count)
    }
    if unit.hasPrefix("-") || unit.hasPrefix("−") || unit.hasSuffix("-") {
      throw priceError("\"\(shortened(text))\" is negative")
    }
    return unit.isEmpty ? unit : withoutTaxNote(unit.lowercased())
  }

  /// The value of a digit, half or full width, or as Arabic and Persian write it.
  private static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
    switch scalar.value {
    case 0x30...0x39: UInt8(scalar.value - 0x30)
    case 0xFF10...0xFF19: UInt8(scalar.value - 0xFF10)
    case 0x0660...0x0669: UInt8(scalar.value - 0x0660)
    case 0x06F0...0x06F9: UInt8(scalar.value - 0x06F0)
    default: nil
    }
  }

  /// The separator that a scalar is, with its look-alikes folded into one.
  private static func separator(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case ",", "，", "٬": ","
    case ".", "．", "٫": "."
    case "'", "’": "'"
    case " ", "\u{A0}", "\u{2009}", "\u{202F}": " "
    default: nil
    }
  }

  /// The text, cut so that a message stays one line.
  private static func shortened(_ text: String) -> String {
    let line = text.prefix(40).map { $0.isNewline ? " " : $0 }
    return String(line) + (text.count > 40 ? "…" : "")
  }
}
