import Catalog

/// The web store: pages over what a cache holds of a catalog, and over the orders.
///
/// A value of few words that any number of requests share. It sends nothing itself: an order goes
/// into the outbox, and whoever sends orders sends it.
package struct Store: Sendable {
  /// The cache's path.
  let cache: String
  /// Which of its catalogs; nil while there is but one.
  let catalog: String?
  /// The path of the orders' file; nil when nothing can be ordered.
  let orders: String?
  /// The most that an order may cost; nil without such a limit.
  let budget: Price?

  /// A store over a cache and an order book.
  ///
  /// - Parameters:
  ///   - cache: the cache's path.
  ///   - catalog: which of its catalogs; nil for the only one.
  ///   - orders: the path of the orders' file, as ``OrderBook`` takes it; nil to show only.
  ///   - budget: the most that an order may cost.
  package init(cache: String, catalog: String?, orders: String?, budget: Price? = nil) {
    (self.cache, self.catalog, self.orders, self.budget) = (cache, catalog, orders, budget)
  }

  /// Answers a request.
  ///
  /// Files are read and orders written off the caller's thread.
  ///
  /// - Parameter request: the request; for POST its form must be whole.
  /// - Returns: The answer; nil when the path is none of the store's.
  package func answer(_ request: StoreRequest) async -> StoreAnswer? {
    nil
  }
}
