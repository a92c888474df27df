/// Which items are listed, and in which order.
public struct ItemQuery: Hashable, Sendable {
  /// What stands in id, title, description or a badge; nil for anything.
  public var search: SearchText?
  /// What stands in a badge; nil for anything.
  public var badge: SearchText?
  /// What the item costs; nil for anything, also no price at all.
  public var price: PriceBounds?
  /// The order; nil for the catalog's.
  public var order: ItemOrder?
  /// The most items; nil for all.
  public var limit: Int?

  /// Makes a query; what is left out asks for nothing.
  public init(
    search: SearchText? = nil,
    badge: SearchText? = nil,
    price: PriceBounds? = nil,
    order: ItemOrder? = nil,
    limit: Int? = nil
  ) {
    self.search = search
    self.badge = badge
    self.price = price
    self.order = order
    self.limit = limit
  }

  /// How many items may be read before the answer is known; nil when it takes all of them.
  public var readLimit: Int? { order == nil ? limit : nil }

  /// Whether some items may not be asked for.
  public var isFiltering: Bool { search != nil || badge != nil || price != nil }

  /// Whether an item is asked for.
  public func admits(_ item: StoreItem) -> Bool {
    if let price {
      guard let cost = item.price, price.contains(cost) else { return false }
    }
    if let badge, !badge.isEmpty, !item.badges.contains(where: badge.isIn) { return false }
    guard let search, !search.isEmpty else { return true }
    return search.isIn(item.title) || search.isIn(item.id)
      || item.description.map(search.isIn) ?? false || item.badges.contains(where: search.isIn)
  }

  /// Admitted elements in the order that is asked for, no more than are asked for.
  ///
  /// - Parameters:
  ///   - elements: What is admitted.
  ///   - item: The item of an element.
  /// - Returns: The elements to show.
  public func arranged<Element>(
    _ elements: [Element],
    by item: (Element) -> StoreItem
  ) -> [Element] {
    let sorted = order?.sorted(elements, by: item) ?? elements
    return limit.map { Array(sorted.prefix($0)) } ?? sorted
  }
}
