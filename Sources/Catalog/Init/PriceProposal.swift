/// The path to a price, and the unit of its number.
struct PriceProposal {
  /// How a number is turned into money.
  enum Unit: Equatable {
    /// The number is in major units; it may also be written as text.
    case major
    /// The number is in the currency's minor units.
    case minor
    /// The item has, at a path, the number of digits that are decimals.
    case scaled(path: String)
    /// The number has to be divided by this power of ten.
    case divided(by: Int)
    /// The number is whole units, and the billionths are at a path, as in `{units, nanos}`.
    case split(nanos: String)
    /// The number seems to be in major units, but may be in minor units.
    case doubtful
  }

  /// The places (paths in an item); the first that has a value counts.
  let scores: [FieldScore]
  /// The unit of the number.
  let unit: Unit
  /// The path to the currency in an item, if items have different currencies.
  var currency: String?

  /// Deduces the unit and currency of a price, also from the fields beside it; nil if `scores` is empty.
  ///
  /// - Parameters:
  ///   - scores: The places of the price.
  ///   - all: All fields of items.
  ///   - currency: The currency of prices.
  ///   - other: The unit of the item's other price.
  init?(
    _ scores: [FieldScore],
    among all: [FieldEvidence],
    currency: CurrencyProposal,
    like other: Unit? = nil
  ) {
    guard let evidence = scores.first?.evidence else { return nil }
    self.scores = scores
    self.currency = currency.path
    let digits = Self.beside(evidence, among: all) { other in
      Self.digitNames.contains(NameWords.plain(other.place.name))
        && other.share { Int($0).map { (0...4).contains($0) } ?? false } == 1
    }
    let nanos = Self.beside(evidence, among: all) { $0.place.name.lowercased() == "nanos" }
    let words = Set(evidence.place.names.suffix(2).flatMap { NameWords.words(of: $0) })
    let isWhole = evidence.share(PriceText.isWhole) == 1
    if let nanos, isWhole, evidence.place.name.lowercased() == "units" {
      unit = .split(nanos: nanos.place.first)
    } else if let digits, isWhole {
      unit = .scaled(path: digits.place.first)
    } else if isWhole, let divisor = Self.divisor(beside: evidence, among: all) {
      unit = .divided(by: divisor)
    } else if isWhole,
      evidence.place.name == "unit_amount" || !words.isDisjoint(with: Self.minorWords)
        || Self.isCalledMinor(evidence, among: all)
        || Self.isShown(evidence, among: all, currency.code)
    {
      unit = .minor
    } else {
      unit = other != .major && Self.seemsMinor(evidence, in: currency) ? .doubtful : .major
    }
  }

  /// Whether the proposal is written as a key of the file, not only as a comment.
  var isSure: Bool { scores[0].isSure && unit != .doubtful }

  /// A place, written as an alternative in the catalog file.
  func rule(_ score: FieldScore, as unit: Unit? = nil) -> String {
    let path = YAMLText.scalar(score.evidence.place.first)
    var members = ["path: \(path)"]
    switch unit ?? self.unit {
    case .major, .doubtful: break
    case .minor: members.append("minorUnits: true")
    case .scaled(let path): members.append("scale: \(YAMLText.scalar(path))")
    case .divided(let divisor): members.append("divisor: \(divisor)")
    case .split(let nanos): members = ["units: \(path)", "nanos: \(YAMLText.scalar(nanos))"]
    }
    if score.skipsZero { members.append("none: 0") }
    if let currency { members.append("currency: \(YAMLText.scalar(currency))") }
    return members.count == 1 ? path : "{\(members.joined(separator: ", "))}"
  }

  /// The first field in the price's own object that satisfies a condition.
  private static func beside(
    _ evidence: FieldEvidence,
    among all: [FieldEvidence],
    where fits: (FieldEvidence) -> Bool
  ) -> FieldEvidence? {
    let parents = evidence.place.steps.dropLast()
    return all.first { !parents.isEmpty && $0.place.steps.dropLast() == parents && fits($0) }
  }

  /// Whether, in every item, a text beside the number says that the number is in cents.
  private static func isCalledMinor(
    _ evidence: FieldEvidence,
    among all: [FieldEvidence]
  ) -> Bool {
    beside(evidence, among: all) { other in
      ["unit", "units", "scale", "format"].contains(NameWords.plain(other.place.name))
        && other.share { !minorWords.isDisjoint(with: NameWords.words(of: $0)) } == 1
    } != nil
  }

  /// The divisor beside the number; nil unless it is the same power of ten in every item.
  private static func divisor(beside evidence: FieldEvidence, among all: [FieldEvidence]) -> Int? {
    let beside = beside(evidence, among: all) { other in
      other.distinct.count == 1
        && ["divisor", "divide by", "denominator"].contains(NameWords.plain(other.place.name))
    }
    let divisor = beside?.samples.first.flatMap { Int($0) } ?? 0
    return [10, 100, 1000, 10_000].contains(divisor) ? divisor : nil
  }

  /// Whether another field has the same digits with decimals: 1999 beside "$19.99".
  private static func isShown(
    _ evidence: FieldEvidence,
    among all: [FieldEvidence],
    _ currency: String
  ) -> Bool {
    guard Currency.exponent(of: currency) == 2, evidence.samples.count == evidence.total else {
      return false
    }
    return all.contains { other in
      guard other.samples.count == evidence.samples.count, other.isText else { return false }
      return zip(evidence.samples, other.samples).allSatisfy { number, text in
        guard let minor = Int(number), minor > 0, text.utf8.count < 40, PriceText.isPrice(text),
          let unit = PriceText.units(of: text).first,
          let code = Currency.codes(writtenAs: unit).first,
          let price = try? Price(parsing: text, currency: code)
        else { return false }
        return price.minorUnits == minor
      }
    }
  }

  private static let digitNames: Set<String> = [
    "currency minor unit", "minor unit", "minor units", "exponent", "fraction digits", "precision",
    "scale", "decimals",
  ]
  private static let minorWords: Set<String> = [
    "cents", "cent", "minor", "pence", "subunits", "money", "fen", "centavos", "centimes",
    "centimos",
    "céntimos", "grosze", "groszy", "paise", "kopecks", "øre",
  ]

  /// Whether whole numbers look like cents: they are large, and most of them end like prices in cents (1999).
  private static func seemsMinor(_ evidence: FieldEvidence, in currency: CurrencyProposal) -> Bool
  {
    let isHabit = currency.confidence >= FieldScore.sure && largeAmounts.contains(currency.code)
    guard Currency.exponent(of: currency.code) == 2, !isHabit,
      evidence.share(PriceText.isWhole) == 1
    else { return false }
    let numbers = evidence.samples.compactMap { Int($0) }
    return numbers.count == evidence.samples.count && seemsMinor(numbers)
  }

  /// Currencies that officially have two decimals, although everyday prices in them have four digits or more.
  static let largeAmounts: Set<String> = [
    "AMD", "AOA", "ARS", "BDT", "COP", "CRC", "DOP", "DZD", "EGP", "ETB", "HUF", "IDR", "INR",
    "JMD", "KES", "KZT", "LBP", "LKR", "MMK", "MNT", "MWK", "NGN", "NPR", "PHP", "PKR", "RSD",
    "RUB", "THB", "TRY", "TWD", "TZS", "UYU", "UZS", "YER", "ZMW",
  ]

  /// Whether whole numbers, in a currency with cents, look like cents.
  static func seemsMinor(_ numbers: [Int]) -> Bool {
    guard numbers.count > 2, numbers.allSatisfy({ $0 == 0 || $0 >= 100 }) else { return false }
    let typical = numbers.count { [99, 95, 90, 50, 49, 0].contains($0 % 100) }
    let round = numbers.count { $0.isMultiple(of: 1000) }
    return typical * 2 > numbers.count && round * 2 < numbers.count
  }
}

/// The proposed currency of prices.
struct CurrencyProposal: Equatable {
  /// An ISO 4217 code.
  var code: String
  /// The confidence, 0 to 1.
  var confidence: Double
  /// The reason, for the comment in the file.
  var reason: String
  /// The path to the currency in an item, if items have different currencies.
  var path: String?

  /// Takes the currency from the user's choice, the code in the items, the signs in the prices, or a code elsewhere;
  /// the first found counts.
  init(given: String?, items: [FieldEvidence], prices: [FieldEvidence], root: JSONNode) {
    let named = items.first(where: Self.isNamed)
    if let given {
      self.init(code: given, confidence: 1, reason: "given")
      if let named, named.distinct.count > 1 { path = named.place.first }
      return
    }
    if let named, let code = named.samples.first?.uppercased() {
      let isOne = named.distinct.count == 1
      self.init(
        code: code,
        confidence: isOne ? 0.95 : 0.6,
        reason: isOne ? "the items name it" : "items differ, each names its own"
      )
      path = isOne ? nil : named.place.first
      return
    }
    let code = Self.code(in: root, depth: 0)
    if let written = Self.written(in: prices, named: code) {
      self = written
      return
    }
    if let code {
      self.init(code: code, confidence: 0.8, reason: "the response names it")
      return
    }
    // For example `{"price": {"EUR": 7, "USD": 8}}`.
    let names = prices.compactMap {
      Currency.codes.contains($0.place.name.uppercased()) ? $0.place.name.uppercased() : nil
    }
    if let code = names.first {
      self.init(code: code, confidence: 0.8, reason: "the name of the price's field says so")
      return
    }
    if let code = Self.spoken(items) {
      self.init(
        code: code,
        confidence: 0.4,
        reason:
          "the response names none, its texts are \(code == "KRW" ? "Korean" : "Japanese"): correct it if need be"
      )
      return
    }
    if prices.contains(where: { $0.share(Self.hasDecimalComma) > 0.5 }) {
      self.init(
        code: "EUR",
        confidence: 0.2,
        reason: "the response names none, prices have a decimal comma: correct it"
      )
      return
    }
    self.init(code: "USD", confidence: 0.1, reason: "the response names none: correct it")
  }

  /// Whether a place has the name of a currency, and all its values are currency codes.
  static func isNamed(by evidence: FieldEvidence) -> Bool {
    names.contains(NameWords.plain(evidence.place.name))
      && evidence.share { Currency.codes.contains($0.uppercased()) } == 1
  }

  private init(code: String, confidence: Double, reason: String) {
    self.code = code
    self.confidence = confidence
    self.reason = reason
  }

  /// The currency of the signs and codes in prices.
  ///
  /// If several currencies share a sign, the code in the response decides.
  private static func written(in prices: [FieldEvidence], named: String?) -> Self? {
    for evidence in prices {
      var counts: [String: Int] = [:]
      for sample in evidence.samples {
        for unit in Set(PriceText.units(of: sample)) { counts[unit, default: 0] += 1 }
      }
      guard let unit = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
        unit.value * 10 > evidence.samples.count * 3
      else { continue }
      let codes = Currency.codes(writtenAs: unit.key)
      guard let first = codes.first else { continue }
      let shown = codes.count == 1 && codes[0].lowercased() == unit.key ? codes[0] : unit.key
      if let named, codes.contains(named) {
        return Self(
          code: named,
          confidence: 0.95,
          reason: "the response names it, and prices have \"\(shown)\""
        )
      }
      return Self(
        code: first,
        confidence: codes.count == 1 ? 0.9 : 0.6,
        reason: "prices have \"\(shown)\""
          + (codes.count == 1 ? "" : ", as in \(codes.prefix(4).joined(separator: ", "))")
      )
    }
    return nil
  }

  /// The currency that the language of the items suggests: won for Korean, yen for Japanese; nil for other languages.
  private static func spoken(_ items: [FieldEvidence]) -> String? {
    for (code, range) in [("KRW", "\u{AC00}"..."\u{D7A3}"), ("JPY", "\u{3041}"..."\u{30FE}")] {
      let isSpoken = items.contains { evidence in
        evidence.isText && evidence.share { $0.contains { range.contains(String($0)) } } > 0.5
      }
      if isSpoken { return code }
    }
    return nil
  }

  private static func hasDecimalComma(_ text: String) -> Bool {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    return parts.count == 2 && parts[1].prefix { $0.isWholeNumber }.count == 2
  }

  private static let names: Set<String> = [
    "currency", "currency code", "currency id", "currencycode", "price currency", "currency iso",
    "iso currency", "moneda", "devise", "währung", "waehrung", "valuta", "moeda", "通貨", "货币",
    "curr", "ccy", "통화",
  ]

  private static func code(in node: JSONNode, depth: Int) -> String? {
    guard depth < 3 else { return nil }
    for (name, value) in node.members {
      if names.contains(NameWords.plain(name)), let text = value.text?.uppercased(),
        Currency.codes.contains(text)
      {
        return text
      }
      if let code = code(in: value, depth: depth + 1) { return code }
    }
    return nil
  }
}

/// Tests of texts that may be a price.
enum PriceText {
  /// Whether a text is an amount, with or without a currency, or a range of two amounts such as "5–9 €".
  static func isPrice(_ text: String) -> Bool {
    guard text.utf8.count <= 60 else { return false }
    let parts = amounts(text)
    let digits = text.utf8.count { (0x30...0x39).contains($0) }
    return (1...2).contains(parts.count) && digits <= 30
      && parts.allSatisfy { $0.utf8.count <= 30 && isAmount($0) }
  }

  /// Whether a text is a price with the sign or the upper-case code of its currency.
  ///
  /// "Cup 1" is not a price of one Cuban peso.
  static func hasUnit(_ text: String) -> Bool {
    isPrice(text)
      && units(of: text).contains { unit in
        unit.unicodeScalars.contains { !$0.isASCII || $0 == "$" }
          || unit.utf8.count == 3 && text.contains(unit.uppercased())
      }
  }

  /// The signs and codes of currencies in a text, in lower case.
  static func units(of text: String) -> [String] {
    guard text.utf8.count <= 60 else { return [] }
    return amounts(text).flatMap { (try? WrittenPrice($0))?.units ?? [] }
  }

  /// The two amounts of a range, or the whole text.
  private static func amounts(_ text: String) -> [String] {
    text.split { "~～〜–—−".contains($0) }.flatMap { part in
      // A hyphen may also be part of a unit, or mean "no decimals": "12,-".
      let ends = part.split(separator: "-")
      let isRange = ends.count == 2 && ends.allSatisfy { $0.contains(where: \.isWholeNumber) }
      return isRange ? ends.map(String.init) : [String(part)]
    }
  }

  private static func isAmount(_ text: String) -> Bool {
    guard let written = try? WrittenPrice(text) else { return false }
    return written.units.allSatisfy { !Currency.codes(writtenAs: $0).isEmpty }
  }

  /// The digits of a text; they are the same for all ways of writing an amount.
  static func digits(_ text: String) -> String { text.filter(\.isWholeNumber) }

  /// The number in a text, with or without units; nil when there is none.
  static func number(_ text: String) -> Double? {
    if let number = Double(text) { return number }
    let kept = text.filter { $0.isWholeNumber || ".,".contains($0) }
    guard let point = kept.lastIndex(where: { ".,".contains($0) }),
      (1...2).contains(kept[kept.index(after: point)...].count)
    else { return Double(digits(kept)) }
    return Double("\(digits(String(kept[..<point]))).\(kept[kept.index(after: point)...])")
  }

  /// Whether it has one or two decimals.
  static func hasDecimals(_ text: String) -> Bool {
    guard let point = text.lastIndex(where: { ".,".contains($0) }) else { return false }
    return (1...2).contains(text[text.index(after: point)...].prefix { $0.isWholeNumber }.count)
  }

  /// Whether it has digits only.
  static func isWhole(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
