extension YAMLNode {
  /// A price's path, alone or with how it is written: `{path: $.price, minorUnits: true}`.
  func priceRule() throws(CatalogError) -> Mapping.PriceRule {
    guard isMapping else { return Mapping.PriceRule(path: try path()) }
    let mapping = try mapping()
    let ways = ["scale", "divisor", "minorUnits"]
    try mapping.checkKeys(.price)
    let given = ways.filter { mapping[$0] != nil }
    guard given.count < 2 else {
      throw error("expected one of \(given.joined(separator: " and "))", expected: given[0])
    }
    return Mapping.PriceRule(
      path: try mapping.required("path").path(),
      scale: try given.first.flatMap { way throws(CatalogError) in
        try mapping[way]?.scale(way)
      },
      currency: try mapping["currency"]?.unit()
    )
  }

  private func scale(_ way: String) throws(CatalogError) -> Mapping.PriceRule.Scale? {
    switch way {
    case "scale":
      if try text().hasPrefix("$") { return .path(try path()) }
      return .fixed(try number(in: 0...9))
    case "divisor":
      let powers = (0...9).map { digits in repeatElement(10, count: digits).reduce(1, *) }
      let divisor = try number(in: 1...1_000_000_000)
      guard let digits = powers.firstIndex(of: divisor) else {
        throw error("\(divisor) is no power of ten", expected: "10, 100, 1000 or the like")
      }
      return .fixed(digits)
    default:
      switch try text() {
      case "true": return .currency
      case "false": return nil
      default: throw error("expected true or false", expected: "true or false")
      }
    }
  }

  private func unit() throws(CatalogError) -> Mapping.PriceRule.Unit {
    let text = try text()
    if text.hasPrefix("$") { return .path(try path()) }
    guard Currency.codes.contains(text) else {
      throw error(
        "\"\(text.prefix(40))\" is neither a path nor an ISO 4217 currency code",
        expected: "a path or an ISO 4217 currency code"
      )
    }
    return .code(text)
  }
}
