/// A query for items, with filters, an order and a limit.
///
/// It is used by `larder list`, by the web store and by the HTTP interface.
public struct ItemQuery: Hashable, Sendable {
  /// A text that the id, the title, the description or a badge of an item must contain.
  ///
  /// If it is nil, all items are admitted.
  public var search: SearchText?
  /// A text that a badge of an item must contain, for example "sale".
  ///
  /// If it is nil, all items are admitted.
  public var badge: SearchText?
  /// The lowest and the highest price that an item is allowed to have.
  ///
  /// If it is nil, all items are admitted, even those without a price.
  public var price: PriceBounds?
  /// The order of the items.
  ///
  /// Nil means the order of the catalog.
  public var order: ItemSort?
  /// The maximum number of items.
  ///
  /// Nil means that there is no limit.
  public var limit: Int?

  /// Makes a query.
  ///
  /// Without arguments, it admits all items.
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

  /// The number of admitted items after which reading can stop, or nil if all items must be read, for example to sort
  /// them.
  public var readLimit: Int? { order == nil ? limit : nil }

  /// Whether the query has a filter.
  ///
  /// If it has none, the number of items is known without reading them.
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

  /// Sorts elements by the query's order, and leaves out those beyond the query's limit.
  ///
  /// - Parameters:
  ///   - elements: Elements whose items the query admits.
  ///   - item: A function that returns the item of an element.
  /// - Returns: The elements to show.
  public func arranged<Element>(
    _ elements: [Element],
    by item: (Element) -> StoreItem
  ) -> [Element] {
    let sorted = order.map { order in
      order.sorted(elements.map { (key: order.key(of: item($0)), element: $0) }).map(\.element)
    }
    return Array((sorted ?? elements).prefix(limit ?? .max))
  }
}

/// An order of items, other than the order of the catalog.
///
/// Its raw value is the word after `--sort`.
public enum ItemSort: String, CaseIterable, Hashable, Sendable {
  /// From the cheapest to the most expensive item. Items without a price are last.
  case price
  /// From the most expensive to the cheapest item. Items without a price are last.
  case dearest = "-price"
  /// By title. Differences of case and of character width are ignored.
  case title

  /// Sorts elements by keys from ``key(of:)``.
  ///
  /// Elements that are equal in this order stay in the order that they have.
  package func sorted<Element>(
    _ elements: [(key: Key, element: Element)]
  ) -> [(key: Key, element: Element)] {
    // Swift's sort is stable.
    elements.sorted { precedes($0.key, $1.key) }
  }

  /// The value that decides the item's place in the order.
  package enum Key: Sendable {
    /// The item has no price.
    case none
    /// The price of the item in minor units. The currency has `exponent` decimals.
    case amount(units: Int, exponent: Int)
    /// The title of the item in lower case and in the usual character widths.
    case text(String)
  }

  /// The value that decides the item's place in the order.
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
      // If the currencies differ, the amounts are compared as numbers, because no exchange rate is known.
      let (first, second) = (Self.major(first, places), Self.major(second, others))
      return self == .dearest ? first > second : first < second
    case (.amount, _): return true
    default: return false
    }
  }

  /// The amount in the currency's main unit.
  ///
  /// It is exact up to 10^15 minor units.
  private static func major(_ units: Int, _ exponent: Int) -> Double {
    Double(units) / (0..<exponent).reduce(1.0) { power, _ in power * 10 }
  }
}

extension StoreItem {
  /// The price to pay if the item has one, otherwise its normal price.
  public var price: Price? { salePrice ?? normalPrice }
}

/// A range of prices with a lower bound, an upper bound or both, for example `5000..9000`, `..9.99` or `20..`.
///
/// The bounds are in the main unit of the currency, such as dollars, and belong to the range.
public struct PriceBounds: Hashable, Sendable {
  private let low: Amount?
  private let high: Amount?

  /// An exact decimal number.
  ///
  /// For example, 9.99 has the digits 999 and two places.
  private struct Amount: Hashable, Sendable {
    let digits: Int
    /// The number of digits that are decimals.
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

    init(digits: Int, places: Int) {
      (self.digits, self.places) = (digits, places)
    }

    static func < (one: Amount, other: Amount) -> Bool {
      let first = one.digits.multipliedFullWidth(by: power(other.places))
      let second = other.digits.multipliedFullWidth(by: power(one.places))
      return (first.high, first.low) < (second.high, second.low)
    }

    private static func power(_ exponent: Int) -> Int {
      (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
  }

  /// The form of the text in words, for error messages.
  public static let expected =
    "LOW..HIGH in the currency's major unit, such as 5000..9000, ..9.99 or 20.."

  /// Reads a range such as `5000..9000`.
  ///
  /// The result is nil if the text has another form, or if the lower bound is above the upper one.
  public init?(_ text: String) {
    guard let dots = text.firstRange(of: ".."), !text[dots.upperBound...].hasPrefix(".") else {
      return nil
    }
    let (first, second) = (text[..<dots.lowerBound], text[dots.upperBound...])
    guard !first.isEmpty || !second.isEmpty else { return nil }
    low = Amount(first)
    high = Amount(second)
    guard first.isEmpty == (low == nil), second.isEmpty == (high == nil) else { return nil }
    if let low, let high, high < low { return nil }
  }

  /// Whether a price is in the range.
  public func contains(_ price: Price) -> Bool {
    let exponent = Currency.exponent(of: price.currency)
    let amount = Amount(digits: price.minorUnits, places: exponent)
    if let low, amount < low { return false }
    if let high, high < amount { return false }
    return true
  }
}
