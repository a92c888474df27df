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
      // Swift's sort is stable.
      elements.map { (key: order.key(of: item($0)), element: $0) }.sorted { $0.key < $1.key }
        .map(\.element)
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

  /// The values that decide an item's place in the order: the amount of its price, or otherwise its title.
  package typealias Key = (amount: Double, title: String)

  /// The values that decide the item's place in the order.
  ///
  /// If the currencies of prices differ, the amounts are compared as numbers, because no exchange rate is known.
  package func key(of item: StoreItem) -> Key {
    let amount = item.price?.mainUnits
    return switch self {
    case .price: (amount ?? .infinity, "")
    case .dearest: (amount.map(-) ?? .infinity, "")
    case .title: (0, SearchText.foldedText(item.title))
    }
  }
}

extension Price {
  /// The amount in the currency's main unit.
  ///
  /// It is exact up to 10^15 minor units, so that amounts can be compared.
  fileprivate var mainUnits: Double {
    Double(minorUnits) / Double(powerOfTen(Currency.exponent(of: currency)))
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
  private let low: Double?
  private let high: Double?

  /// The form of the text in words, for error messages.
  public static let expected =
    "LOW..HIGH in the currency's major unit, such as 5000..9000, ..9.99 or 20.."

  /// Reads a range such as `5000..9000`.
  ///
  /// The result is nil if the text has another form, or if the lower bound is above the upper one.
  public init?(_ text: String) {
    let form = #/(\d{1,16}(?:\.\d{1,16})?)?\.\.(\d{1,16}(?:\.\d{1,16})?)?/#.asciiOnlyDigits()
    guard let ends = text.wholeMatch(of: form), ends.1 != nil || ends.2 != nil else { return nil }
    low = ends.1.flatMap { Double($0) }
    high = ends.2.flatMap { Double($0) }
    if let low, let high, high < low { return nil }
  }

  /// Whether a price is in the range.
  public func contains(_ price: Price) -> Bool {
    let amount = price.mainUnits
    return amount >= low ?? -.infinity && amount <= high ?? .infinity
  }
}
