/// What a thing is sold for: one of the offers of its `offers`.
///
/// (schema.org/Offer, AggregateOffer and PriceSpecification)
struct LinkedOffer {
  /// What is to be paid.
  private(set) var price: LinkedValue?
  /// What was to be paid before a reduction, or is said to be the usual price.
  private(set) var listPrice: LinkedValue?
  /// What both are in, as the page writes it.
  private(set) var currency: LinkedValue?
  /// `InStock` and the like, without prefix.
  private(set) var availability: String?
  /// Where it is sold.
  private(set) var url: LinkedValue?

  /// The types of prices before a reduction, the best first. (schema.org/PriceTypeEnumeration)
  private static let listTypes = [
    "StrikethroughPrice", "ListPrice", "RegularPrice", "MSRP", "SRP",
  ]
  private static let soldOut: Set<String> = ["OutOfStock", "SoldOut", "Discontinued"]

  /// The offer that counts among those of a thing: the cheapest that can be had, in the currency of the first.
  ///
  /// - Parameters:
  ///   - values: What `offers` holds.
  ///   - graph: Where references lead.
  /// - Returns: The offer; nil when there is none.
  /// - Throws: ``CatalogError`` with code `path-work` when they refer to more than a body of this size needs.
  static func best(
    of values: [JSONNode],
    in graph: LinkedGraph
  ) throws(CatalogError) -> LinkedOffer? {
    var seen: Set<String> = []
    let all = try offers(values, in: graph, depth: 0, &seen)
    let priced = all.filter { $0.price != nil }
    guard let first = priced.first else { return all.first }
    var rivals = priced.filter { $0.currency == first.currency }
    let available = rivals.filter { !soldOut.contains($0.availability ?? "") }
    if !available.isEmpty { rivals = available }
    // A price in words cannot be compared.
    guard rivals.allSatisfy({ $0.price?.number != nil }) else { return rivals.first }
    return rivals.min { ($0.price?.number ?? 0) < ($1.price?.number ?? 0) }
  }

  /// The offers of values, those within an aggregate that names no price among them.
  private static func offers(
    _ values: [JSONNode],
    in graph: LinkedGraph,
    depth: Int,
    _ seen: inout Set<String>
  ) throws(CatalogError) -> [LinkedOffer] {
    var offers: [LinkedOffer] = []
    for value in values where value.kind == .object {
      // An offer may refer to itself, or to one of a long chain.
      if let id = LinkedGraph.id(of: value), !seen.insert(id).inserted { continue }
      let node = try graph.node(value)
      let offer = try LinkedOffer(node, in: graph)
      let inner = node.all("offers")
      if offer.price == nil, !inner.isEmpty, depth < 4 {
        offers += try Self.offers(inner, in: graph, depth: depth + 1, &seen)
      } else {
        offers.append(offer)
      }
    }
    return offers
  }

  private init(_ node: LinkedNode, in graph: LinkedGraph) throws(CatalogError) {
    func value(_ name: String, of node: LinkedNode) throws(CatalogError) -> LinkedValue? {
      guard let json = node[name] else { return nil }
      return try LinkedValue(json, in: graph)?.first
    }
    price = try value("price", of: node)
    if price == nil { price = try value("lowPrice", of: node) }
    currency = try value("priceCurrency", of: node)
    url = try value("url", of: node)
    availability = Self.word("availability", of: node)

    var rank = Self.listTypes.count
    var listCurrency: LinkedValue?
    for json in node.all("priceSpecification") where json.kind == .object {
      let specification = try graph.node(json)
      // What members of a club pay is not what others pay.
      guard specification["validForMemberTier"] == nil else { continue }
      var amount = try value("price", of: specification)
      if amount == nil { amount = try value("minPrice", of: specification) }
      guard let amount else { continue }
      let unit = try value("priceCurrency", of: specification)
      let type = Self.word("priceType", of: specification)
      if let type, let place = Self.listTypes.firstIndex(of: type) {
        if place < rank {
          (rank, listPrice, listCurrency) = (place, amount, unit)
        }
      } else if price == nil, type == nil || type == "SalePrice" {
        price = amount
        currency = unit ?? currency
      }
    }
    if price == nil, let listPrice {
      price = listPrice
      currency = listCurrency ?? currency
    }
    if let listCurrency {
      if currency == nil { currency = listCurrency }
      if currency != listCurrency { listPrice = nil }
    }
  }

  /// A word of schema.org's, a text or a reference, without its prefix.
  private static func word(_ name: String, of node: LinkedNode) -> String? {
    guard let json = node.all(name).first else { return nil }
    return (json.text ?? json["@value"]?.text ?? LinkedGraph.id(of: json)).map {
      LinkedGraph.plain($0.trimmed)
    }
  }
}
