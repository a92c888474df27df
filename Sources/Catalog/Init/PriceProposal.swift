/// The proposed way to read a price: its path in an item, and the unit of its number.
struct PriceProposal {
  /// The unit of the number in a feed, for example cents.
  enum Unit: Equatable {
    /// The number is in major units, such as euros; it can also be written as text.
    case major
    /// The number is in the currency's minor units, such as cents.
    case minor
    /// The number has as many decimals as the item says at the given path: 1999 and 2 mean 19.99.
    case scaled(path: String)
    /// The number has to be divided by the given power of ten.
    case divided(by: Int)
    /// The number is whole units. The billionths are at the given path, as in `{"units": 19, "nanos": 990000000}`.
    case split(nanos: String)
    /// The number seems to be in major units, but is possibly in minor units.
    case doubtful

    /// The members of the rule for the price at a path: `path: $.price` and, for example, `minorUnits: true`.
    func members(_ path: String) -> [String] {
      let path = YAMLText.scalar(path)
      return switch self {
      case .major, .doubtful: ["path: \(path)"]
      case .minor: ["path: \(path)", "minorUnits: true"]
      case .scaled(let scale): ["path: \(path)", "scale: \(YAMLText.scalar(scale))"]
      case .divided(let divisor): ["path: \(path)", "divisor: \(divisor)"]
      case .split(let nanos): ["units: \(path)", "nanos: \(YAMLText.scalar(nanos))"]
      }
    }
  }

  /// The paths to the price.
  ///
  /// An item's price is at the first path where the item has a value.
  let scores: [FieldEvidence]
  let unit: Unit
  /// A price such as "83.000" whose point can mean thousands or decimals, and the amount that larder reads; nil if all
  /// prices are clear.
  let guess: (text: String, price: Price)?
  /// The share of values that can be read as amounts of the currency, from 0 to 1.
  let readable: Double
  /// The path to the currency in an item, or nil if all items have the same currency.
  private let currency: String?
  /// The code of the prices if it is no ISO 4217 currency, such as "ETH"; otherwise nil.
  let unknownCurrency: String?

  /// Deduces the unit of a price from its name, its numbers and the members beside it.
  ///
  /// - Parameters:
  ///   - scores: The paths to the price; nil is returned if there are none.
  ///   - all: The values at all paths in the items.
  ///   - currency: The currency of prices.
  ///   - paid: The price to pay, if this is the price before a reduction. If it is in major units, this price is not
  ///     taken for cents because of its numbers. If it is cents, a whole number beside it is cents too.
  init?(
    _ scores: [FieldEvidence],
    among all: [FieldEvidence],
    currency: CurrencyProposal,
    like paid: PriceProposal? = nil
  ) {
    guard let evidence = scores.first else { return nil }
    var custom = PriceCustom()
    // A point in a JSON number is the decimal separator.
    for text in evidence.samples where evidence.texts > 0 { custom.add(text, currency.code) }
    guess = custom.guess
    let isClear =
      guess == nil && !Self.isScaled(evidence, in: all)
      && !Self.seemsWrittenInCents(evidence, currency.code)
    self.scores = isClear ? scores : scores.map(\.doubtful)
    self.currency = currency.path
    unknownCurrency = currency.unknown
    func canRead(_ text: String) -> Bool {
      if PriceText.isNegative(text) { return true }
      guard evidence.texts == 0, let number = Double(text) else {
        return (try? Price(parsing: text, currency: currency.code)) != nil
      }
      return (try? Price(number, currency: currency.code)) != nil
    }
    // If 1.299 stands for 1,299, then 1.3 stands for 1,300. A few such numbers among many with cents are odd ones.
    let odd = evidence.samples.count { PriceText.hasThousandths($0) && !canRead($0) }
    let areThousands = odd * 20 > evidence.samples.count(where: PriceText.hasDecimals)
    readable =
      currency.path != nil
      ? 1 : min(evidence.share(canRead), odd > 0 && areThousands ? 0.9 : 1)
    // The value in the same object as the price whose name has a meaning, as in `{"amount": 7, "currency": "EUR"}`. The
    // item itself does not count as such an object.
    let parents = evidence.place.steps.dropLast()
    func beside(_ meaning: String, _ fits: (FieldEvidence) -> Bool) -> FieldEvidence? {
      all.first { other in
        !parents.isEmpty && other.place.steps.dropLast() == parents
          && FieldRules.isNamed(meaning, other.place.plainName) && fits(other)
      }
    }
    func areCents(_ text: String) -> Bool {
      NameWords.words(of: text).contains { FieldRules.isNamed("cents", $0) }
    }
    let isWhole = evidence.share(PriceText.isWhole) == 1
    let other = paid?.unit
    let nanos = beside("nanos") { _ in true }
    let digits = beside("digits") { $0.share { (0...4).contains(Int($0) ?? -1) } == 1 }
    // If items have different divisors, none of them is used.
    let divisor = beside("divisor") { $0.distinct.count == 1 }?.samples.first.flatMap { Int($0) }
    // A text beside the number, such as "cents", can say in every item that the number is in minor units.
    let isCalledMinor = beside("unitName") { $0.share(areCents) == 1 } != nil
    if let nanos, isWhole, evidence.place.name.lowercased() == "units" {
      unit = .split(nanos: nanos.place.first)
    } else if let digits, isWhole {
      unit = .scaled(path: digits.place.first)
    } else if isWhole, let divisor, [10, 100, 1000, 10_000].contains(divisor) {
      unit = .divided(by: divisor)
    } else if isWhole,
      evidence.place.name == "unit_amount" || isCalledMinor
        || evidence.place.names.suffix(2).contains(where: areCents)
        || other == .minor
    {
      unit = .minor
    } else {
      let isDoubtful =
        other == .doubtful
        || (other != .major || !scores[0].isSure) && Self.seemsMinor(evidence, in: currency)
          && !Self.isWritten(evidence, in: all, currency.code)
      unit = isDoubtful ? .doubtful : .major
    }
  }

  /// Whether the catalog file has the price as a key, and not only in a comment.
  var isSure: Bool {
    scores[0].isSure && unit != .doubtful && unknownCurrency == nil && readable > 0.9
  }

  /// Whether the price is in no doubt: it is sure, and each value is an amount of the currency.
  var isCertain: Bool { isSure && readable == 1 }

  /// The rule that reads the price at one path, as YAML: `{path: $.price, minorUnits: true}`.
  func rule(_ score: FieldEvidence, as unit: Unit? = nil) -> String {
    // A price with decimals is in major units, although another price of the item is in cents.
    let isWhole = score.share(PriceText.isWhole) == 1
    var members = (unit ?? (isWhole ? self.unit : .major)).members(score.place.first)
    let texts = score.placeholders.sorted().map(YAMLText.quoted)
    let voids = score.voids.map(String.init) + texts
    if !voids.isEmpty {
      members.append("none: \(voids.count == 1 ? voids[0] : YAMLText.list(voids))")
    }
    if let currency { members.append("currency: \(YAMLText.scalar(currency))") }
    return YAMLText.rule(members)
  }

  /// Whether a text of an item writes the same number with a word for a power of ten, such as "140万" beside 140.
  private static func isScaled(_ price: FieldEvidence, in all: [FieldEvidence]) -> Bool {
    all.contains { other in
      other.isText && other.place != price.place
        && price.pairs(with: other).contains { amount, text in
          guard let number = Double(amount) else { return false }
          return text.matches(of: /[0-9]+(?:\.[0-9]+)?/).contains {
            Double($0.output) == number
              && WrittenPrice.beginsWithScale(text[$0.range.upperBound...])
          }
        }
    }
  }

  /// Whether a text of the items writes the same amounts with the sign of the currency, such as "164 900 €" beside
  /// 164900, so that the numbers are in major units.
  private static func isWritten(
    _ price: FieldEvidence,
    in all: [FieldEvidence],
    _ currency: String
  ) -> Bool {
    all.contains { other in
      other.isText && other.held * 2 > price.held && other.share(PriceText.hasUnit) > 0.9
        && !seemsWrittenInCents(other, currency)
        && price.share(with: other) { number, text in
          guard let amount = Double(number) else { return false }
          return (try? Price(parsing: text, currency: currency))
            == (try? Price(amount, currency: currency))
        } > 0.9
    }
  }

  /// Whether texts such as "$11500" can mean cents: all amounts are hundreds without a separator, and nearly all thousands.
  private static func seemsWrittenInCents(_ evidence: FieldEvidence, _ currency: String) -> Bool {
    let amounts = evidence.samples.flatMap { text in
      text.split { !$0.isWholeNumber }.compactMap { Int($0) }
    }
    return Currency.exponent(of: currency) == 2
      && !FieldRules.isNamed("largeAmounts", currency.lowercased())
      && amounts.count > 2 && evidence.share(PriceText.hasUnit) == 1
      && amounts.allSatisfy { $0.isMultiple(of: 100) }
      && amounts.count { $0 < 1000 } * 20 < amounts.count
  }

  /// Whether the numbers can be cents: all are whole, and most are 100 or more.
  ///
  /// If everyday prices in the currency are that large, they can be cents only if all are very large and round.
  private static func seemsMinor(_ evidence: FieldEvidence, in currency: CurrencyProposal) -> Bool
  {
    // A number of cents is not written as 1990.0.
    guard evidence.share(PriceText.isWhole) == 1, evidence.reals == 0 else { return false }
    // A heading such as "Price (DKK)" is written for people, and says the unit of the number.
    if CurrencyProposal.code(inHeading: evidence.place) != nil { return false }
    let numbers = evidence.samples.compactMap { Int($0) }.filter { $0 > 0 }
    // A currency without minor units has none to count, and prices of millions.
    if Currency.exponent(of: currency.code) == 0, currency.confidence >= CurrencyProposal.likely {
      return numbers.count { $0 >= 1_000_000_000 } * 2 > numbers.count
    }
    if seemsTiny(evidence) { return true }
    guard Currency.exponent(of: currency.code) == 2 else { return false }
    // A language, or the word for a price in it, is enough: hardly any shop counts the parts of such a currency.
    let habit = FieldRules.confidence("largeAmounts", currency.code.lowercased())
    if habit > 0, currency.confidence >= CurrencyProposal.likely {
      return numbers.allSatisfy { Double($0) >= 100 * habit && $0.isMultiple(of: 100) }
    }
    return numbers.count { $0 >= 100 } * 4 >= numbers.count * 3
  }

  /// Whether whole numbers seem to count parts in any currency: all are very large and round, or most are amounts of ten
  /// millions that are not round, such as 80842777.
  private static func seemsTiny(_ evidence: FieldEvidence) -> Bool {
    let numbers = evidence.samples.compactMap { Int($0) }.filter { $0 > 0 }
    let odd = numbers.count { $0 >= 10_000_000 && !$0.isMultiple(of: 100) }
    return odd * 2 > numbers.count
      || numbers.count > 2 && numbers.allSatisfy { $0.isMultiple(of: 100_000) }
  }

  /// Whether whole numbers look like prices in cents, or in an even smaller unit.
  ///
  /// None is below 100, and most end like 1999 or 2450, or like no price in whole units does, such as 8522.
  static func seemsMinor(_ numbers: [Int]) -> Bool {
    guard numbers.count > 2, numbers.allSatisfy({ $0 == 0 || $0 >= 100 }) else { return false }
    let typical = numbers.count { [99, 95, 90, 50, 49, 0].contains($0 % 100) }
    let odd = numbers.count { $0 > 1000 && ![0, 5, 9].contains($0 % 10) }
    let round = numbers.count { $0.isMultiple(of: 1000) }
    return max(typical, odd) * 2 > numbers.count && round * 2 < numbers.count
  }
}

/// The proposed currency of prices.
struct CurrencyProposal {
  /// An ISO 4217 code, such as "EUR".
  let code: String
  /// The confidence, from 0 to 1.
  let confidence: Double
  /// The reason for the proposal, which a comment in the catalog file shows.
  let reason: String
  /// The path to the currency in an item, or nil if all items have the same currency.
  var path: String?
  /// The code of the prices if it is no ISO 4217 currency, such as "ETH"; otherwise nil.
  var unknown: String?

  /// The least confidence of a currency that the response suggests in some way.
  static let likely = 0.3

  init(_ code: String, _ confidence: Double, _ reason: String) {
    self.code = code
    self.confidence = confidence
    self.reason = reason
  }

  /// A guess, because the prices have the code of no ISO 4217 currency.
  fileprivate init(unknown: String, _ code: String = "USD") {
    let reason = "prices are in \(unknown), which is no ISO 4217 currency: correct it"
    self.init(code, 0.1, reason)
    self.unknown = unknown
  }
}

extension CurrencyProposal {
  /// Deduces the currency from the first of these that is known: the user's choice, a code in the items (best beside the
  /// price), a sign in the prices, a code elsewhere in the response, the name of the price, the language of the items.
  ///
  /// If the items name something else, such as "ETH", or the response alone does, the currency is a guess.
  ///
  /// - Parameters:
  ///   - given: The code that the user gave.
  ///   - items: The values at all paths in the items.
  ///   - prices: The values of the prices, the chosen ones first.
  ///   - root: The response.
  init(given: String?, items: [FieldEvidence], prices: [FieldEvidence], root: JSONNode) {
    let named = Self.named(items, beside: prices.first?.place)
    let isOne = named?.distinct.count == 1
    let code = Self.code(in: root)
    if let code = given {
      self.init(code, 1, "given")
    } else if let code = named?.samples.first.flatMap(Self.code) {
      let reason = isOne ? "the items name it" : "items differ, each names its own"
      self.init(code, isOne ? 0.95 : 0.6, reason)
    } else if let written = Self.written(in: prices, named: code, among: items) {
      self = written
    } else if let unknown = Self.unknown(in: items, code == nil ? root : nil) {
      self.init(unknown: unknown, code ?? "USD")
    } else if let code {
      self.init(code, 0.8, "the response names it")
    } else if let code = prices.first.flatMap({ Self.code(inName: $0.place) }) {
      // For example `{"price": {"EUR": 7, "USD": 8}}` and `price_usd`. Beside it, `price` can be in another currency.
      let areNamed = prices.allSatisfy { Self.code(inName: $0.place) != nil }
      self.init(code, areNamed ? 0.8 : 0.6, "the name of the price's field says so")
    } else if let coded = items.first(where: Self.areCodes), let code = coded.samples.first {
      self.init(code, 0.6, "\(YAMLText.scalar(coded.place.first)) has it: correct it if need be")
    } else if let hinted = Self.hinted(items) ?? Self.spoken(items)
      ?? Self.called(items, prices)
    {
      self = hinted
    } else if prices.contains(where: {
      $0.share { $0.contains(/^[^,]*,[0-9]{2}(?![0-9])[^,]*$/) } > 0.5
    }) {
      self.init("EUR", 0.2, "the response names none, prices have a decimal comma: correct it")
    } else {
      self.init("USD", 0.1, "the response names none: correct it")
    }
    if let named, !isOne { path = named.place.first }
  }

  /// Whether values are currency codes at a path with a name such as `currency`, `price_currency` or `currency.code`.
  static func isNamed(by evidence: FieldEvidence) -> Bool {
    isNamed(evidence.place.names)
      && (evidence.share { Currency.code(of: $0) != nil } == 1
        || evidence.distinct.count == 1 && evidence.share { code(of: $0) != nil } == 1)
  }

  /// The currency that a code or a sign such as "€" means, or nil if it means several or none.
  private static func code(of text: String) -> String? {
    let codes = Currency.codes(writtenAs: text.lowercased())
    return Currency.code(of: text) ?? (codes.count == 1 ? codes[0] : nil)
  }

  /// The code of a currency among the words of a name, such as `price_usd`, or in brackets, such as `Cena [€]`.
  private static func code(inName place: FieldPlace) -> String? {
    NameWords.words(of: place.name).map { $0.uppercased() }.first {
      Currency.codes.contains($0) && !words.contains($0)
    } ?? code(inHeading: place)
  }

  /// The currency whose code or sign is in brackets in the heading of a column, such as `Price (DKK)` and `Cena [€]`.
  fileprivate static func code(inHeading place: FieldPlace) -> String? {
    place.name.matches(of: /[(\[]([^()\[\]]{1,8})[)\]]/).lazy
      .compactMap { code(of: String($0.1).trimmed) }.first(where: Currency.codes.contains)
  }

  /// Codes of currencies that are words too.
  private static let words = WordTable.currencies.words(of: "codeWord")

  /// Whether all values are codes of currencies, although the name of their path does not say so.
  private static func areCodes(_ evidence: FieldEvidence) -> Bool {
    evidence.isText && evidence.distinct.count == 1
      && evidence.share { Currency.codes.contains($0) && !words.contains($0) } == 1
  }

  private static func isNamed(_ names: [String]) -> Bool {
    names.suffix(2).contains { FieldRules.has("currency", in: NameWords.plain($0)) }
  }

  /// The steps to the object whose currency is at a place: `price` for `$.price.currency.code`.
  static func object(around place: FieldPlace) -> ArraySlice<FieldPlace.Step> {
    var steps = place.steps.dropLast()
    while let last = steps.last, FieldRules.has("currency", in: NameWords.plain(last.name)) {
      steps = steps.dropLast()
    }
    return steps
  }

  /// The currency codes in the items that are closest to the price.
  ///
  /// For `$.sale_price` that is `$.sale_price_currency`, or else `$.currency`.
  private static func named(
    _ items: [FieldEvidence],
    beside price: FieldPlace?
  ) -> FieldEvidence? {
    let owner = price?.steps.dropLast()
    let prefix = NameWords.plain(price?.name ?? "") + " "
    return items.filter(isNamed).ranked { evidence in
      let place = evidence.place
      let isBeside = object(around: place) == owner
      let isOfPrice = place.plainName.hasPrefix(prefix)
      // A name such as `bonus_currency` tells the currency of another amount.
      let isWhole = place.names.suffix(2).contains {
        FieldRules.isNamed("currency", NameWords.plain($0))
      }
      return (isBeside && isOfPrice ? 4 : 0) + (isBeside ? 2 : 0) + (isWhole ? 1 : 0)
    }.first
  }

  /// The currency of the sign or code that occurs most often in the prices, such as `€`.
  ///
  /// If several currencies share the sign, `named` decides: the code that the response has elsewhere.
  private static func written(
    in prices: [FieldEvidence],
    named: String?,
    among all: [FieldEvidence]
  ) -> Self? {
    for evidence in prices {
      let written = evidence.samples.map { text in
        Set(PriceText.units(of: text).filter { !Currency.codes(writtenAs: $0).isEmpty })
      }
      // "so'm" and "сўм" are the same currency.
      func meaning(_ unit: String) -> String {
        Currency.codes(writtenAs: unit).joined(separator: " ")
      }
      let units = written.flatMap(\.self)
      guard let most = units.map(meaning).mostFrequent,
        most.count * 10 > evidence.samples.count * 3,
        let unit = units.first(where: { meaning($0) == most.element })
      else { continue }
      func isForeign(_ text: String) -> Bool {
        let units = PriceText.units(of: text).filter { !Currency.codes(writtenAs: $0).isEmpty }
        return !units.isEmpty && !units.contains { meaning($0) == most.element }
      }
      // Another price of the items can have both this currency and others.
      let mixed = all.filter { $0.isCalledPrice && $0.share(isForeign) < 1 }
      let worst =
        ([evidence] + mixed).max { $0.share(isForeign) < $1.share(isForeign) } ?? evidence
      let foreign = worst.samples.count(where: isForeign)
      let codes = Currency.codes(writtenAs: unit)
      guard let first = codes.first else { continue }
      guard Currency.codes.contains(first) else { return Self(unknown: first) }
      let shown = codes.count == 1 && codes[0].lowercased() == unit ? codes[0] : unit
      guard foreign * 10 <= worst.samples.count else {
        let all = worst.samples.count
        return Self(
          first,
          0.6,
          "\(foreign) of \(all) prices have another currency than \"\(shown)\""
        )
      }
      if let named, codes.contains(named) {
        return Self(named, 0.95, "the response names it, and prices have \"\(shown)\"")
      }
      // Chinese texts beside a "¥" mean yuan, and not yen. A Japanese price can have Chinese characters itself.
      let texts = all.filter { text in !prices.contains { $0.place == text.place } }
      let hints = [spoken(texts, among: codes), hinted(texts)].compactMap { $0?.code }
      let code = hints.first(where: codes.contains) ?? first
      let others = codes.count == 1 ? "" : ", as in \(codes.prefix(4).joined(separator: ", "))"
      return Self(code, codes.count == 1 ? 0.9 : 0.6, "prices have \"\(shown)\"\(others)")
    }
    return nil
  }

  /// The languages that letters tell: the first and the last of the letters, their least share in a text, the currencies, and
  /// the name.
  ///
  /// Russian has none of the letters of Ukrainian, and in Ukrainian some words have none of them either.
  private static let languages = WordTable.currencies.rows(of: "language").map { row in
    let cells = row.value.split(separator: " ")
    let ends = cells.prefix(2).map { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) ?? " " }
    let codes = cells[3].split(separator: "/").map(String.init)
    return (row.words[0], String(ends[0])...String(ends[1]), Double(cells[2]) ?? 0, codes)
  }

  /// The currency that the letters of the items suggest, such as won for Korean; nil if they suggest none.
  ///
  /// - Parameters:
  ///   - items: The values at all paths in the items.
  ///   - codes: The currencies that are possible.
  /// - Returns: The proposal with a low confidence.
  private static func spoken(_ items: [FieldEvidence], among codes: [String] = Currency.codes)
    -> Self?
  {
    for (language, letters, density, own) in languages {
      // A text in another language can have a few letters of a script, for example in brackets.
      let isSpoken = items.contains { evidence in
        evidence.isText
          && evidence.share { text in
            let own = text.count { $0.isLetter && letters.contains(String($0)) }
            return own > 0 && Double(own) >= density * Double(text.count(where: \.isLetter))
          } > (density == 0.2 ? 0.5 : 0.1)
      }
      guard isSpoken else { continue }
      let reason = "the response names none, its texts are \(language): correct it if need be"
      return own.first(where: codes.contains).map { Self($0, 0.4, reason) }
    }
    return nil
  }

  private static let hints = WordTable.currencies.values

  /// The currency that a sign in the texts or the hosts of addresses suggest.
  private static func hinted(_ items: [FieldEvidence]) -> Self? {
    func share(_ finds: (String) -> String?) -> (code: String, text: String)? {
      for evidence in items where evidence.isText {
        let some = evidence.samples.prefix(50)
        let found = some.compactMap { text in finds(text).map { ($0, text) } }
        guard let first = found.first, found.count * 2 > some.count,
          found.allSatisfy({ $0.0 == first.0 })
        else { continue }
        return first
      }
      return nil
    }
    func sign(_ text: String) -> String? {
      // Most texts have no sign, and a regular expression takes long.
      guard
        text.unicodeScalars.contains(where: { $0.properties.generalCategory == .currencySymbol })
      else { return nil }
      let found = text.firstMatch(of: /(\p{Sc})\s?[0-9]|[0-9]\s?(\p{Sc})/)?.output
      return (found?.1 ?? found?.2).map(String.init)
    }
    if let (sign, _) = share(sign), let usual = Currency.codes(writtenAs: sign).first {
      let code = spoken(items, among: Currency.codes(writtenAs: sign))?.code ?? usual
      return Self(code, 0.4, "its texts have \"\(sign)\": correct it if need be")
    }
    func host(_ text: String) -> String? {
      guard PictureText.isAbsolute(text) else { return nil }
      return text.split(separator: "/").dropFirst(text.hasPrefix("//") ? 0 : 1).first
        .flatMap { $0.prefix { $0 != ":" }.split(separator: ".").last }.map(String.init)
    }
    return share { host($0).flatMap { hints["domain"]?[$0] } }.map { code, text in
      Self(code, 0.4, "addresses end in .\(host(text) ?? ""): correct it if need be")
    }
  }

  /// The currency of the language in which the price, or else another field, is called.
  private static func called(_ items: [FieldEvidence], _ prices: [FieldEvidence]) -> Self? {
    (prices.prefix(1) + items).lazy.flatMap { $0.place.names.flatMap(NameWords.words) }
      .compactMap { word in
        let reason = "a field is called \(word): correct it if need be"
        return hints["fieldName"]?[word].map { Self($0, 0.3, reason) }
      }.first
  }

  /// A currency code around the items of a response, best at a name such as `currency` and not `base_currency`.
  private static func code(in root: JSONNode) -> String? {
    let envelope = root.envelope()
    // `{"currency": {"code": "USD", "rate": 39}}` is an exchange rate.
    let rates = envelope.filter {
      FieldRules.isNamed("rate", NameWords.plain($0.names.last ?? ""))
    }
    .map { $0.names.dropLast() }
    return envelope.filter { isNamed($0.names) && !rates.contains($0.names.dropLast()) }
      .ranked { FieldRules.isNamed("currency", NameWords.plain($0.names.last ?? "")) ? 1 : 0 }
      .compactMap { $0.value.text.flatMap(code(of:)) }.first
  }

  /// The code in the items, or else in the response, that looks like a currency but is none.
  private static func unknown(in items: [FieldEvidence], _ root: JSONNode?) -> String? {
    let around = root?.envelope().map {
      ($0.names.last ?? "", [$0.value.text?.uppercased() ?? ""])
    }
    return (items.map { ($0.place.name, $0.samples) } + (around ?? [])).lazy
      .filter { FieldRules.isNamed("currency", NameWords.plain($0.0)) }
      .flatMap(\.1).first(where: isUnknown)
  }

  /// Whether a text looks like the code of a currency, but ISO 4217 does not have it, for example "ETH" or "POINTS".
  private static func isUnknown(_ text: String) -> Bool {
    (3...8).contains(text.utf8.count) && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
      && Currency.code(of: text) == nil
  }
}

/// Judges whether a text is a price, and reads the parts of prices.
enum PriceText {
  /// Whether a text is an amount such as "7" or "€ 7.50", or a range of two amounts such as "5–9 €".
  static func isPrice(_ text: String) -> Bool {
    guard isShort(text) else { return false }
    let parts = amounts(text)
    let digits = text.utf8.count { (0x30...0x39).contains($0) }
    return (1...2).contains(parts.count) && digits <= 30
      && parts.allSatisfy { part in part.utf8.count { $0 > 0x20 } <= 30 && isAmount(part) }
  }

  /// Whether a text has two amounts, such as "5–9 €".
  static func isRange(_ text: String) -> Bool { isShort(text) && amounts(text).count == 2 }

  /// Whether a text is a price with the sign of its currency, or with its code in upper case.
  ///
  /// Because of the case, "Cup 1" is not taken for a price of one Cuban peso (CUP).
  static func hasUnit(_ text: String) -> Bool {
    isPrice(text)
      && units(of: text).contains { unit in
        unit.unicodeScalars.contains { !$0.isASCII || $0 == "$" }
          || unit.utf8.count == 3 && text.contains(unit.uppercased())
      }
  }

  /// The signs and codes of currencies in a price, in lower case: "eur" for "7 EUR".
  static func units(of text: String) -> [String] {
    guard isShort(text) else { return [] }
    return amounts(text).flatMap { amount in
      // A text that is no amount, such as "€ 2.50 / kg", can have the sign of its currency too.
      (try? WrittenPrice(amount))?.units
        ?? amount.unicodeScalars.filter { $0.properties.generalCategory == .currencySymbol }
        .map { String($0) }
    }
  }

  /// Whether a text is short, not counting white space.
  private static func isShort(_ text: String) -> Bool {
    text.utf8.count <= 500 && text.utf8.count { $0 > 0x20 } <= 60
  }

  /// The two amounts of a range such as "5-9 €", or the whole text if it is not a range.
  private static func amounts(_ text: String) -> [String] {
    text.replacing(" to ", with: "~").split { "~～〜–—−".contains($0) }.flatMap { part in
      // A hyphen between two numbers separates them. In "12,-" it means that there are no decimals.
      let ends = part.split(separator: "-")
      let isRange = ends.count == 2 && ends.allSatisfy { $0.contains(where: \.isWholeNumber) }
      return isRange ? ends.map(String.init) : [String(part)]
    }
  }

  private static func isAmount(_ text: String) -> Bool {
    guard let written = try? WrittenPrice(text) else { return false }
    return written.units.allSatisfy { !Currency.codes(writtenAs: $0).isEmpty }
  }

  /// The digits of a text, which are the same for "1,234.50" and "1.234,50 €".
  static func digits(_ text: String) -> String { text.filter(\.isWholeNumber) }

  /// The number in a price, or nil if the price has no digits; of a range, the first number.
  ///
  /// If one or two digits follow the last point or comma, this point or comma is the decimal separator.
  static func number(_ text: String) -> Double? {
    if let number = Double(text) { return number }
    let first = amounts(text).first ?? text
    let kept = first.filter { $0.isWholeNumber || ".,".contains($0) }
    let power =
      !text.contains(where: \.isLetter)
      ? 0 : amounts(text).compactMap { try? WrittenPrice($0) }.map(\.scale).max() ?? 0
    guard let point = kept.lastIndex(where: { ".,".contains($0) }),
      (1...2).contains(kept[kept.index(after: point)...].count)
    else { return Double("\(digits(kept))e\(power)") }
    let fraction = kept[kept.index(after: point)...]
    return Double("\(digits(String(kept[..<point]))).\(fraction)e\(power)")
  }

  /// Whether one or two digits follow the last point or comma of a text.
  static func hasDecimals(_ text: String) -> Bool {
    guard let point = text.lastIndex(where: { ".,".contains($0) }) else { return false }
    return (1...2).contains(text[text.index(after: point)...].prefix { $0.isWholeNumber }.count)
  }

  /// Whether a number has three decimals, as 1.299 has.
  static func hasThousandths(_ text: String) -> Bool {
    let parts = text.split(separator: ".")
    return parts.count == 2 && parts[1].utf8.count == 3 && parts.allSatisfy { isWhole(String($0)) }
  }

  /// Whether a text is a negative number, such as "-1".
  static func isNegative(_ text: String) -> Bool { Double(text).map { $0 < 0 } ?? false }

  /// Whether a number begins with a zero, such as "007": it is a code and no amount.
  static func isCode(_ text: String) -> Bool {
    isWhole(text) && text.utf8.count > 1 && text.hasPrefix("0")
  }

  /// Whether a text consists of ASCII digits.
  static func isWhole(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
