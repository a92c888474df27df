import ArgumentParser
import Catalog

/// Which items are listed, and in which order.
struct QueryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only items with this in title, description, badge or id; ㅂㄱㄱ finds 불고기.",
      valueName: "text"
    )
  )
  var search: String?

  @Option(help: ArgumentHelp("Only items with a badge that has this in it.", valueName: "text"))
  var badge: String?

  @Option(
    help: ArgumentHelp(
      "Only items that cost so much, in the currency's major unit; ..9000 and 5000.. are open.",
      valueName: "low..high"
    ),
    transform: QueryOptions.bounds
  )
  var price: PriceBounds?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The order: price, -price (the dearest first) or title. (default: the catalog's)",
      valueName: "order"
    ),
    completion: .list(ItemOrder.allCases.map(\.rawValue)),
    transform: QueryOptions.order
  )
  var sort: ItemOrder?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("So many items at most. (default: all)", valueName: "n"),
    transform: WholeNumber.reader(1...1_000_000_000)
  )
  var limit: Int?

  /// What is asked for.
  var query: ItemQuery {
    ItemQuery(
      search: search.map(SearchText.init),
      badge: badge.map(SearchText.init),
      price: price,
      order: sort,
      limit: limit
    )
  }

  /// Reads bounds of prices.
  ///
  /// - Throws: `ValidationError` that names what may be written.
  private static func bounds(_ argument: String) throws -> PriceBounds {
    guard let bounds = PriceBounds(argument) else {
      throw ValidationError("it takes \(PriceBounds.expected), the lower end first")
    }
    return bounds
  }

  /// Reads an order.
  ///
  /// - Throws: `ValidationError` that names what may be written.
  private static func order(_ argument: String) throws -> ItemOrder {
    guard let order = ItemOrder(rawValue: argument) else {
      let all = ItemOrder.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("it takes one of \(all)")
    }
    return order
  }
}
