extension LinkedProducts {
  /// Where the data stood.
  enum Place {
    case json
    /// A page with so many blocks, of which some could not be read.
    case page(blocks: Int, [Unreadable])
  }

  /// A block that is no JSON.
  struct Unreadable {
    /// Why, in a line.
    let reason: String
    /// Whether it speaks of products.
    let concernsProducts: Bool

    init(_ error: CatalogError, block: Int, of text: ArraySlice<UInt8>) {
      let place = error.line.map { "line \($0)" + (error.column.map { ", column \($0)" } ?? "") }
      reason =
        "the page's JSON-LD block \(block) is no JSON: "
        + [place, error.reason].compactMap(\.self).joined(separator: ": ")
      concernsProducts = text.firstRange(of: Array("Product".utf8)) != nil
    }
  }

  /// Why blocks that speak of products cannot be read.
  var unreadable: [String] {
    guard case .page(_, let faults) = place else { return [] }
    return faults.filter(\.concernsProducts).map(\.reason)
  }

  /// Why there are no products.
  func nothingFound(_ subject: String) -> CatalogError {
    var found: String
    switch place {
    case .json:
      found = "found \(graph.types.isEmpty ? "JSON without @type" : "none in JSON-LD")"
    case .page(0, _):
      found = "found a page without <script type=\"application/ld+json\">"
    case .page(let blocks, let faults):
      found =
        "found a page with \(blocks) \(blocks == 1 ? "block" : "blocks") of JSON-LD and none in it"
      if let fault = faults.first { found += "; \(fault.reason)" }
    }
    if !graph.types.isEmpty {
      let types = graph.types.map { PlainText.line(String($0.prefix(40))) }
      found += " (only \(types.joined(separator: ", ")))"
    }
    if let linkedPage {
      found +=
        "; its list names only the pages of the items, such as "
        + PlainText.line(String(linkedPage.prefix(200)))
    }
    return CatalogError(
      .unexpectedShape,
      subject: subject,
      expected: "a Product of schema.org",
      reason: "expected products of schema.org (Product, ProductGroup or ItemList) in JSON-LD, "
        + found,
      remedy: "name the page of a product, a category page that has them, or the shop's JSON"
    )
  }
}
