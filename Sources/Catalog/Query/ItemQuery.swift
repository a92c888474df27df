/// A query for items: filters, an order and a limit.
///
/// Used by `larder list`, the storefront and the HTTP interface.
public struct ItemQuery: Hashable, Sendable {
  /// The text to find in the id, the title, the description or a badge; nil admits every item.
  public var search: SearchText?
  /// The text to find in a badge; nil admits every item.
  public var badge: SearchText?
  /// The bounds of the price; nil admits every item, with or without a price.
  public var price: PriceBounds?
  /// The order of the items; nil for the catalog's order.
  public var order: ItemSort?
  /// The maximum number of items; nil for all.
  public var limit: Int?

  /// Makes a query; a filter that is left out admits every item.
  public init(
    search: SearchText? = nil,
    badge: SearchText? = nil,
    price: PriceBounds? = nil,
    order: ItemSort? = nil,
    limit: Int? = nil
  ) {
    self.search = search
    self.badge = badge
    self.price = price
    self.order = order
    self.limit = limit
  }

  /// How many admitted items must be read; nil when all must be read, because they are sorted.
  public var readLimit: Int? { order == nil ? limit : nil }

  /// Whether the query has a filter.
  ///
  /// Without a filter, totals come from the index and no items are read.
  public var isFiltering: Bool { search != nil || badge != nil || price != nil }

  /// Whether an item passes the filters.
  public func admits(_ item: StoreItem) -> Bool {
    if let price {
      guard let cost = item.price, price.contains(cost) else { return false }
    }
    if let badge, !badge.isEmpty, !item.badges.contains(where: badge.isIn) { return false }
    guard let search, !search.isEmpty else { return true }
    return search.isIn(item.title) || search.isIn(item.id)
      || item.description.map(search.isIn) ?? false || item.badges.contains(where: search.isIn)
  }

  /// The admitted elements in the query's order, up to the query's limit.
  ///
  /// - Parameters:
  ///   - elements: The elements whose items the query admits.
  ///   - item: Returns the item of an element.
  /// - Returns: The elements to show.
  public func arranged<Element>(
    _ elements: [Element],
    by item: (Element) -> StoreItem
  ) -> [Element] {
    let sorted = order?.sorted(elements, by: item) ?? elements
    return limit.map { Array(sorted.prefix($0)) } ?? sorted
  }
}

/// An order of items other than the catalog's.
public enum ItemSort: String, CaseIterable, Hashable, Sendable {
  /// The cheapest first; items without a price are last.
  case price
  /// The most expensive first; items without a price are last.
  case dearest = "-price"
  /// By title; case and character width are ignored.
  case title

  /// Sorts elements; elements with equal keys keep their order.
  ///
  /// - Parameters:
  ///   - elements: The elements to sort.
  ///   - item: Returns the item of an element.
  /// - Returns: The sorted elements.
  public func sorted<Element>(
    _ elements: [Element],
    by item: (Element) -> StoreItem
  ) -> [Element] {
    sorted(elements.map { (key: key(of: item($0)), element: $0) }).map(\.element)
  }

  /// Sorts elements by keys that are already known; elements with equal keys keep their order.
  package func sorted<Element>(
    _ elements: [(key: Key, element: Element)]
  ) -> [(key: Key, element: Element)] {
    // Swift's sort is stable.
    elements.sorted { precedes($0.key, $1.key) }
  }

  /// The value by which an item is sorted.
  package enum Key: Sendable {
    /// The key of an item without a price.
    case none
    /// A price, in minor units of a currency with `exponent` digits after the point.
    case amount(units: Int, exponent: Int)
    /// A title without differences of case and character width.
    case text(String)
  }

  /// The sort key of an item.
  package func key(of item: StoreItem) -> Key {
    switch self {
    case .title: .text(SearchText.foldedText(item.title))
    case .price, .dearest:
      item.price.map {
        .amount(units: $0.minorUnits, exponent: Currency.exponent(of: $0.currency))
      } ?? .none
    }
  }

  /// Whether one key comes before another.
  private func precedes(_ first: Key, _ second: Key) -> Bool {
    switch (first, second) {
    case (.text(let first), .text(let second)): return first < second
    case (.amount(let first, let places), .amount(let second, let others)):
      // Amounts in different currencies are compared as numbers, because there is no exchange rate.
      let (first, second) = (Self.major(first, places), Self.major(second, others))
      return self == .dearest ? first > second : first < second
    case (.amount, _): return true
    default: return false
    }
  }

  /// An amount in major units.
  ///
  /// It is exact below 10^15 minor units.
  private static func major(_ units: Int, _ exponent: Int) -> Double {
    Double(units) / (0..<exponent).reduce(1.0) { power, _ in power * 10 }
  }
}

extension StoreItem {
  /// The item's price: the price to pay, or the normal price if there is no price to pay.
  public var price: Price? { salePrice ?? normalPrice }
}

/// A range of prices, with a lower bound, an upper bound or both, in the currency's major unit: `5000..9000`.
public struct PriceBounds: Hashable, Sendable {
  /// The lower bound; nil for none.
  private let low: Amount?
  /// The upper bound; nil for none.
  private let high: Amount?

  /// An exact decimal number.
  private struct Amount: Hashable, Sendable {
    /// All digits of the number, decimals included, as one whole number.
    let digits: Int
    /// How many of the digits are decimals.
    let places: Int

    init?(_ text: Substring) {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard (1...2).contains(parts.count), text.utf8.count <= 16,
        parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
        let digits = Int(parts.joined())
      else { return nil }
      self.digits = digits
      places = parts.count == 2 ? parts[1].utf8.count : 0
    }

    /// Whether this amount is above `units`, whose last `exponent` digits are decimals.
    func isAbove(_ units: Int, exponent: Int) -> Bool {
      let own = digits.multipliedFullWidth(by: Self.power(exponent))
      let other = units.multipliedFullWidth(by: Self.power(places))
      return (own.high, own.low) > (other.high, other.low)
    }

    /// Whether this amount is below `units`, whose last `exponent` digits are decimals.
    func isBelow(_ units: Int, exponent: Int) -> Bool {
      let own = digits.multipliedFullWidth(by: Self.power(exponent))
      let other = units.multipliedFullWidth(by: Self.power(places))
      return (own.high, own.low) < (other.high, other.low)
    }

    private static func power(_ exponent: Int) -> Int {
      (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
  }

  /// A description of the expected text, for messages.
  public static let expected =
    "LOW..HIGH in the currency's major unit, such as 5000..9000, ..9.99 or 20.."

  /// Reads bounds; nil when the text does not have the expected form, or the lower bound is above the upper bound.
  public init?(_ text: String) {
    guard let dots = text.firstRange(of: ".."), !text[dots.upperBound...].hasPrefix(".") else {
      return nil
    }
    let (first, second) = (text[..<dots.lowerBound], text[dots.upperBound...])
    guard !first.isEmpty || !second.isEmpty else { return nil }
    low = Amount(first)
    high = Amount(second)
    guard first.isEmpty == (low == nil), second.isEmpty == (high == nil) else { return nil }
    if let low, let high, low.isAbove(high.digits, exponent: high.places) { return nil }
  }

  /// Whether a price is in the range.
  public func contains(_ price: Price) -> Bool {
    let exponent = Currency.exponent(of: price.currency)
    if let low, low.isAbove(price.minorUnits, exponent: exponent) { return false }
    if let high, high.isBelow(price.minorUnits, exponent: exponent) { return false }
    return true
  }
}
