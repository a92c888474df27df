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
    // {"price": {"EUR": 7, "USD": 8}}
    let names = prices.compactMap {
      Currency.codes.contains($0.place.name.uppercased()) ? $0.place.name.uppercased() : nil
    }
    if let code = names.first {
      self.init(code: code, confidence: 0.8, reason: "the price that is read is called so")
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

  /// Whether what stands at a place is the code of a currency, and is called so.
  static func isNamed(by evidence: FieldEvidence) -> Bool {
    names.contains(NameWords.plain(evidence.place.name))
      && evidence.share { Currency.codes.contains($0.uppercased()) } == 1
  }

  private init(code: String, confidence: Double, reason: String) {
    self.code = code
    self.confidence = confidence
    self.reason = reason
  }

  /// What the signs and codes say that prices are written with; one that several currencies share is told by the
  /// code that the response names.
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

  /// The currency of the one country in which items speak so; nil for other languages.
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
