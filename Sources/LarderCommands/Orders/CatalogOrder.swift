import Cache
import Catalog
import Pipeline
import Orders

/// An order of the catalog as last synced: where the reader of the cache and the orders meet.
struct CatalogOrder {
  /// The order; nobody has kept it yet.
  let order: Order
  /// A sentence for each item whose price the last run changed.
  let priceChanges: [String]

  /// Looks the wishes up and makes the order.
  ///
  /// - Parameters:
  ///   - draft: what is asked for.
  ///   - budget: the most that may be spent, as the user wrote it.
  ///   - reader: the catalog.
  ///   - now: when.
  /// - Throws: ``CommandFailure`` or ``OrdersError`` when it cannot be ordered, ``CacheError`` when
  ///   the catalog cannot be read.
  init(_ draft: OrderDraft, budget: String?, _ reader: CatalogReader, at now: OrderTime) throws {
    var items: [String: StoreItem] = [:]
    for shown in try reader.list() where items[shown.item.id] == nil {
      items[shown.item.id] = shown.item
    }
    for wish in draft.wishes where items[wish.item] == nil {
      let near = try reader.nearestIDs(to: wish.item)
      throw CommandFailure(
        "cannot order \(wish.item): no section of \(reader.catalog.name) lists it"
          + (near.isEmpty ? "" : "; nearest are \(near.joined(separator: ", "))"),
        .failed
      )
    }
    var draft = draft
    if let budget { draft.budget = try Self.price(budget, reader.catalog.currency) }
    var generator = SystemRandomNumberGenerator()
    order = try draft.order(items, id: OrderID(at: now, using: &generator), at: now)
    priceChanges = Self.changes(order, items, reader)
  }

  private static func price(_ text: String, _ currency: String) throws -> Price {
    do {
      return try Price(parsing: text, currency: currency)
    } catch {
      throw CommandFailure("cannot read --budget: \(error); such as 20000", .usage)
    }
  }

  /// What the last run changed; a cache that cannot tell keeps nobody from ordering.
  private static func changes(
    _ order: Order,
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
