/// A built-in format for a response that is not plain JSON: a page with JSON-LD, or a product feed.
struct FormatProposal {
  /// The format.
  let format: BuiltInFormat
  /// How many items it reads.
  let count: Int
  /// What prices are in, and why.
  let currency: (code: String, reason: String)
  /// Whether the response's `Link` header names a next page.
  let hasNextLink: Bool

  /// Looks at a response.
  ///
  /// - Returns: nil for plain JSON.
  /// - Throws: ``CatalogError`` when it can be nothing else, and holds no products.
  init?(of page: ProposedPage, currency: String?) throws(CatalogError) {
    hasNextLink = page.hasNextLink
    if MerchantFeed.isMeant(by: page.body) {
      format = .googleMerchant
      let feed = try JSONDocument(parsing: MerchantFeed.json(of: page.body, "the response")).root
      let items = feed["items"]?.elements ?? []
      guard !items.isEmpty else {
        throw CatalogError(
          .unexpectedShape,
          subject: "the response",
          reason: "it is a product feed without items",
          remedy: "name a URL that lists items"
        )
      }
      count = items.count
      let codes = items.compactMap { $0["price"]?.text.flatMap { PriceText.units(of: $0).first } }
        .compactMap { Currency.codes(writtenAs: $0).first }
      self.currency = Self.currency(currency, named: codes, of: items.count, at: "the prices")
      return
    }
    guard LinkedData.isMeant(by: page.body) else { return nil }
    let products = try LinkedData.products(in: page.body, "the response")
    guard !products.items.isEmpty else {
      // A page can be read in no other way.
      if LinkedData.isPage(page.body) { throw products.nothingFound("the response") }
      return nil
    }
    format = .linkedData
    count = products.items.count
    let codes = products.texts("priceCurrency").filter { Currency.codes.contains($0) }
    self.currency = Self.currency(currency, named: codes, of: count, at: "priceCurrency")
  }

  private static func currency(
    _ given: String?,
    named: [String],
    of count: Int,
    at place: String
  ) -> (code: String, reason: String) {
    if let given { return (given, "given") }
    let counts = Dictionary(grouping: named, by: \.self).mapValues(\.count)
    let usual = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    guard let usual else { return ("USD", "assumed; none is named: correct it") }
    return (usual.key, "\(place) of \(usual.value) of \(count)")
  }

  /// The first lines of a catalog file.
  var preface: [String] {
    let what =
      format == .linkedData
      ? "\(count) \(count == 1 ? "product" : "products") of schema.org in JSON-LD"
      : "\(count) \(count == 1 ? "item" : "items") of a product feed"
    return [
      "# Proposed by larder catalog init from \(what).",
      "# What the format reads, to be changed: larder catalog show \(format.rawValue)",
    ]
  }

  /// How the response is read.
  var lines: [String] {
    ["format: \(format.rawValue)"] + (hasNextLink ? ["paging: {link: true}"] : [])
  }
}
