import Base
import Cache
import Catalog

/// The history of an item's prices, as spans of time without a change of the prices.
///
/// The history is that of one section, which is a list of items, because each section can list the item at another
/// price.
package struct PriceCourse: Sendable, Hashable {
  /// A span of time without a change of the prices.
  ///
  /// The section listed the item during the whole span, or never during it.
  package struct Span: Sendable, Hashable {
    /// The start of the span.
    ///
    /// The span ends when the next one begins.
    package let since: UnixTime
    /// Whether the section listed the item.
    package let isListed: Bool
    /// The normal price; nil if there was none.
    package let normalPrice: Price?
    /// The sale price; nil if there was none.
    package let salePrice: Price?

    /// The price to pay; nil if there was none, or the section did not list the item.
    package var price: Price? { isListed ? salePrice ?? normalPrice : nil }
  }

  /// The spans, oldest first.
  ///
  /// There is at least one.
  package let spans: [Span]
  /// The time since which the history has every value.
  package let known: UnixTime

  /// Combines the changes of an item's prices.
  ///
  /// - Parameters:
  ///   - item: The item as it is at the end of the history.
  ///   - steps: The changes of its prices. For each field, such as the sale price, the oldest is first.
  ///   - beginning: The time when the history begins. A price without recorded changes counts as valid since then.
  package init(of item: StoreItem, _ steps: [PriceStep], since beginning: UnixTime) {
    let fields = Dictionary(grouping: steps, by: \.field)
    // A field without recorded changes always had the value that the item has now.
    func price(_ field: HistoryField, after run: Int64, or present: Price?) -> Price? {
      fields[field].map { own in Price(own.last { $0.run <= run }?.value) } ?? present
    }
    var times = Dictionary(steps.map { ($0.run, $0.time) }) { first, _ in first }
    if !times.values.contains(beginning) { times[0] = beginning }
    // Before its first step, a field has an unknown value. While an item is on sale, its normal price is not to be paid.
    let isOnSale = fields[.salePrice] == nil && item.salePrice != nil
    let counted = fields.filter { !isOnSale || $0.key != .normalPrice }.values
    let start = counted.compactMap { $0.first?.run }.max() ?? 0
    spans = times.filter { $0.key >= start }.sorted { $0.key < $1.key }.map { run, time in
      Span(
        since: time,
        isListed: fields[.listed].map { own in own.last { $0.run <= run }?.value != nil } ?? true,
        normalPrice: price(.normalPrice, after: run, or: item.normalPrice),
        salePrice: price(.salePrice, after: run, or: item.salePrice)
      )
    }
    known = fields.values.compactMap { $0.first?.time }.reduce(beginning, max)
  }

  /// The lowest price to pay in a currency.
  ///
  /// - Parameters:
  ///   - start: The start of the period. A price that was set earlier counts if it was still valid then.
  ///   - end: The position of the first span after the period; nil if the period ends with the history.
  ///   - currency: The currency. Prices in other currencies are ignored.
  /// - Returns: The price and the time when it was set; nil if there was no price. If it was set twice, the time is the
  ///   later one.
  func lowest(from start: UnixTime, before end: Int? = nil, in currency: String) -> LowestPrice? {
    var lowest: LowestPrice?
    var last: (price: Price?, since: UnixTime)?
    for (place, span) in spans.prefix(end ?? spans.count).enumerated() {
      if last == nil || span.price != last?.price { last = (span.price, span.since) }
      let ends = place + 1 < spans.count ? spans[place + 1].since : .distantFuture
      guard let price = span.price, price.currency == currency, ends > start else { continue }
      if let lowest, price.minorUnits > lowest.price.minorUnits { continue }
      lowest = LowestPrice(price: price, time: last?.since ?? span.since)
    }
    return lowest
  }
}
