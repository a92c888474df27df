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
    /// The number is to be divided by this power of ten.
    case divided(by: Int)
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
    let words = Set(evidence.place.names.suffix(2).flatMap { NameWords.words(of: $0) })
    let isWhole = evidence.share(PriceText.isWhole) == 1
    if let digits, isWhole {
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
      unit = Self.seemsMinor(evidence, in: currency.code) ? .doubtful : .major
    }
  }

  /// Whether a text beside the number says that it counts cents, in every item.
  private static func isCalledMinor(
    _ evidence: FieldEvidence,
    among all: [FieldEvidence]
  ) -> Bool {
    let parents = evidence.place.steps.dropLast()
    return all.contains { other in
      other.place.steps.dropLast() == parents && !parents.isEmpty
        && ["unit", "units", "scale", "format"].contains(NameWords.plain(other.place.name))
        && other.share { !minorWords.isDisjoint(with: NameWords.words(of: $0)) } == 1
    }
  }

  /// The power of ten that stands beside the number in every item; nil without one.
  private static func divisor(beside evidence: FieldEvidence, among all: [FieldEvidence]) -> Int? {
    let parents = evidence.place.steps.dropLast()
    let beside = all.first { other in
      other.place.steps.dropLast() == parents && !parents.isEmpty && other.distinct.count == 1
        && ["divisor", "divide by", "denominator"].contains(NameWords.plain(other.place.name))
    }
    let divisor = beside?.samples.first.flatMap { Int($0) } ?? 0
    return [10, 100, 1000, 10_000].contains(divisor) ? divisor : nil
  }

  /// Whether another field shows the same digits with their decimals: 1999 beside "$19.99".
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
    "cents", "cent", "minor", "pence", "subunits", "money",
  ]

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
