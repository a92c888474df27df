import Cache
import Catalog
import Orders
import Pipeline

/// An order of the catalog as last synced: where the reader of the cache and the orders meet.
package struct CatalogOrder {
  /// The order; nobody has kept it yet.
  package let order: Orders.Order
  /// A sentence for each item whose price the last run changed.
  package let priceChanges: [String]

  /// Looks the wishes up and makes the order.
  ///
  /// - Parameters:
  ///   - draft: what is asked for.
  ///   - reader: the catalog.
  ///   - now: when.
  ///   - chance: the chance in its id, when that was drawn before.
  /// - Throws: ``LarderError`` when the catalog has no such item, ``OrdersError`` when it cannot be
  ///   ordered, ``CacheError`` when the catalog cannot be read.
  package init(
    _ draft: OrderDraft,
    _ reader: CatalogReader,
    at now: OrderTime,
    chance: OrderID.Chance? = nil
  ) throws {
    var items: [String: StoreItem] = [:]
    for wish in draft.wishes where items[wish.item] == nil {
      if let shown = try reader.show(wish.item) {
        items[wish.item] = shown.item
        continue
      }
      let near = try reader.nearestIDs(to: wish.item)
      throw LarderError(
        .notFound,
        "cannot order \(wish.item): no section of \(reader.catalog.name) lists it"
          + (near.isEmpty ? "" : "; nearest are \(near.joined(separator: ", "))"),
        thing: wish.item
      )
    }
    var generator = SystemRandomNumberGenerator()
    let id = OrderID(at: now, chance: chance ?? OrderID.Chance(using: &generator))
    order = try draft.order(items, id: id, at: now)
    priceChanges = Self.changes(order, items, reader)
  }

  /// What the last run changed; a cache that cannot tell keeps nobody from ordering.
  private static func changes(
    _ order: Orders.Order,
    _ items: [String: StoreItem],
    _ reader: CatalogReader
  ) -> [String] {
    let changed = (try? reader.diff(from: nil, to: nil))?.diff.listing.changed ?? []
    var told: Set<String> = []
    return order.lines.compactMap { line in
      let field = items[line.item]?.salePrice == nil ? "normalPrice" : "salePrice"
      guard told.insert(line.item).inserted,
        let change = changed.first(where: { $0.id == line.item && $0.field == field })
      else { return nil }
      let before = change.from.flatMap { Int($0) }.map {
        Price(minorUnits: $0, currency: line.price.currency).formatted()
      }
      return "the price of \(line.item) changed with the last sync: "
        + "\(before ?? "none") → \(line.price.formatted())"
    }
  }
}
