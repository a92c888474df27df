import Testing

@testable import Catalog

/// Prices that could mean two amounts, such as `1.299`, and how other prices on the page resolve
/// them.
struct PriceCustomTests {
  private static func file(_ lines: String) throws -> CatalogFile {
    try CatalogFile(
      parsing: Array(("name: shop\nbase: https://shop.example/\n" + lines).utf8),
      file: "shop.yaml"
    )
  }

  private static func body(_ prices: [String]) -> String {
    let items = prices.enumerated().map { #"{"id": "\#($0)", "price": "\#($1)"}"# }
    return "[\(items.joined(separator: ", "))]"
  }

  private static let item = "item: {id: $.id, title: $.id, salePrice: $.price}\n"

  @Test(arguments: [
    ("EUR", ["1.299 €", "899 €"], "1.299 €"),
    ("EUR", ["1.299", "19.90"], "1.299"),
    ("EUR", ["1.250 €", "19,90", "19.90"], "1.250 €"),
    ("IDR", ["12.500", "900"], "12.500"),
    ("USD", ["19.990", "5"], "19.990"),
    ("USD", ["19.990", "1.299,50"], "19.990"),
  ])
  func `an ambiguous price is reported with the value it is read as`(
    _ currency: String,
    _ prices: [String],
    _ open: String
  ) throws {
    let file = try Self.file(
      "currency: \(currency)\nsections: [{key: all, url: all}]\nitems: $\n" + Self.item
    )

    let findings = file.priceFindings(in: Array(Self.body(prices).utf8), ofSource: 0)

    let finding = try #require(findings.first)
    #expect(findings.count == 1 && finding.code == .ambiguousPrice && finding.count == 1)
    #expect(finding.field == "salePrice" && finding.examples == [open])
    let price = try Price(parsing: open, currency: currency).formatted()
    #expect(finding.message.contains("\"\(open)\" is read as \(price);"), "\(finding.message)")
  }

  @Test(arguments: [
    ("EUR", ["1.299 €", "19,90 €"]), ("EUR", ["1.299", "1.299.000"]),
    ("EUR", ["1.299", "1.299,00"]), ("USD", ["19.990", "19.90"]), ("USD", ["19.990", "1,299"]),
    ("USD", ["1,299.00", "1,299"]), ("EUR", ["19,90", "5"]), ("KRW", ["12.990"]),
    ("CLP", ["12.990"]), ("KWD", ["1.250"]), ("USD", ["19.999"]), ("EUR", ["free", "", "7 - 9"]),
  ])
  func `a price that other prices or the currency's digits make clear is not reported`(
    _ currency: String,
    _ prices: [String]
  ) throws {
    let file = try Self.file(
      "currency: \(currency)\nsections: [{key: all, url: all}]\nitems: $\n" + Self.item
    )

    #expect(file.priceFindings(in: Array(Self.body(prices).utf8), ofSource: 0).isEmpty)
  }

  @Test(arguments: [
    "sections: {url: all, each: \"$.all[*]\", key: $.key}\nitems: $.items\n",
    "sections: [{url: all, each: \"$.all[*]\", key: $.key}]\nitems: $.items\n",
    "sections: [{key: a, url: all}]\nitems: $.all[*].items[*]\n",
    "sections: [{key: a, url: all}]\nitems: $\ntransform: \"[.all[].items[]]\"\n",
  ])
  func `all sections of a page are checked, whatever its shape`(
    _ lines: String
  ) throws {
    let file = try Self.file("currency: EUR\n\(lines)" + Self.item)
    let page = """
      {"all": [{"key": "a", "items": [{"id": "1", "price": "899 €"}]},
      {"key": "b", "items": [{"id": "2", "price": "1.299 €"}]}]}
      """

    let findings = file.priceFindings(in: Array(page.utf8), ofSource: 0)

    #expect(findings.map(\.examples) == [["1.299 €"]])
  }

  @Test func `numbers, minor units and unreadable pages raise no finding`() throws {
    let lines = "currency: EUR\nsections: [{key: all, url: all}]\nitems: $\n"
    let file = try Self.file(lines + Self.item)
    let scaled = try Self.file(
      lines + "item: {id: $.id, title: $.id, salePrice: {path: $.price, minorUnits: true}}\n"
    )

    #expect(
      file.priceFindings(in: Array(#"[{"id": 1, "price": 1.299}]"#.utf8), ofSource: 0) == []
    )
    #expect(file.priceFindings(in: Array("<p>".utf8), ofSource: 0) == [])
    #expect(scaled.priceFindings(in: Array(Self.body(["1.299"]).utf8), ofSource: 0) == [])
  }
}
