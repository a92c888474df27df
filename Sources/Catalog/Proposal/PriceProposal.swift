/// Where a price is, and how its number is meant.
struct PriceProposal {
  /// How a number is turned into money.
  enum Unit: Equatable {
    /// It counts major units, as text or a number.
    case major
    /// It counts the currency's minor units.
    case minor
    /// The item says at a path how many digits are decimals.
    case scaled(path: String)
    /// It counts major units as it seems, yet may count minor ones.
    case doubtful
  }

  /// The places, of which the first that has a value counts.
  let scores: [FieldScore]
  /// How its number is meant.
  let unit: Unit
  /// Where the item names the currency, when items differ in it.
  var currency: String?

  /// What a price at a place is, beside all else that items have.
  init(_ scores: [FieldScore], among all: [FieldEvidence], currency: CurrencyProposal) {
    self.scores = scores
    self.currency = currency.path
    let evidence = scores[0].evidence
    let parents = evidence.place.steps.dropLast().map(\.name)
    let digits = all.first { other in
      other.place.steps.dropLast().map(\.name) == parents && !parents.isEmpty
        && Self.digitNames.contains(NameWords.plain(other.place.name))
        && other.share { Int($0).map { (0...4).contains($0) } ?? false } == 1
    }
    let words = Set(evidence.place.steps.suffix(2).flatMap { NameWords.words(of: $0.name) })
    if let digits, evidence.share(PriceText.isWhole) == 1 {
      unit = .scaled(path: digits.place.first)
    } else if evidence.share(PriceText.isWhole) == 1, !words.isDisjoint(with: Self.minorWords) {
      unit = .minor
    } else {
      unit = Self.seemsMinor(evidence, in: currency.code) ? .doubtful : .major
    }
  }

  private static let digitNames: Set<String> = [
    "currency minor unit", "minor unit", "minor units", "exponent", "fraction digits", "precision",
    "scale", "decimals",
  ]
  private static let minorWords: Set<String> = ["cents", "cent", "minor", "pence", "subunits"]

  /// Whether whole numbers look like cents: large, and most end as prices in cents do.
  private static func seemsMinor(_ evidence: FieldEvidence, in currency: String) -> Bool {
    guard Currency.exponent(of: currency) == 2, evidence.share(PriceText.isWhole) == 1
    else { return false }
    let numbers = evidence.samples.compactMap { Int($0) }
    return numbers.count == evidence.samples.count && seemsMinor(numbers)
  }

  /// Whether whole numbers, of a currency with cents, look like cents.
  static func seemsMinor(_ numbers: [Int]) -> Bool {
    guard numbers.count > 2, numbers.allSatisfy({ $0 == 0 || $0 >= 100 }) else { return false }
    let typical = numbers.count { [99, 95, 90, 50, 49, 0].contains($0 % 100) }
    let round = numbers.count { $0.isMultiple(of: 1000) }
    return typical * 2 > numbers.count && round * 2 < numbers.count
  }
}

/// What prices are in.
struct CurrencyProposal: Equatable {
  /// An ISO 4217 code.
  var code: String
  /// How sure that is, 0 to 1.
  var confidence: Double
  /// Why.
  var reason: String
  /// Where an item names it, when items differ in it.
  var path: String?

  /// Judges by what the user said, what the items name, what the prices are written with, or what the
  /// response names elsewhere.
  init(given: String?, items: [FieldEvidence], prices: [FieldEvidence], root: JSONNode) {
    if let given {
      self.init(code: given, confidence: 1, reason: "given")
      return
    }
    let named = items.first { evidence in
      Self.names.contains(NameWords.plain(evidence.place.name))
        && evidence.share { Currency.codes.contains($0.uppercased()) } == 1
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
    for (sign, code) in Self.signs {
      let share = prices.map { $0.share { $0.contains(sign) } }.max() ?? 0
      if share > 0.3 {
        self.init(
          code: code,
          confidence: sign == "$" ? 0.6 : 0.9,
          reason: "prices have \"\(sign)\""
        )
        return
      }
    }
    if let code = Self.code(in: root, depth: 0) {
      self.init(code: code, confidence: 0.8, reason: "the response names it")
      return
    }
    self.init(code: "USD", confidence: 0.1, reason: "the response names none: correct it")
  }

  private init(code: String, confidence: Double, reason: String) {
    self.code = code
    self.confidence = confidence
    self.reason = reason
  }

  private static let names: Set<String> = [
    "currency", "currency code", "currency id", "currencycode",
  ]
  private static let signs = [
    ("원", "KRW"), ("₩", "KRW"), ("€", "EUR"), ("£", "GBP"), ("円", "JPY"), ("₹", "INR"),
    ("zł", "PLN"),
    ("$", "USD"),
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
