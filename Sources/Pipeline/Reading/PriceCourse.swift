import Base
import Cache
import Catalog

/// The history of a listed item's prices, as spans of time with constant prices.
package struct PriceCourse: Sendable, Hashable {
  /// A span of time in which the prices did not change, and in which the item was either always listed or never.
  package struct Span: Sendable, Hashable {
    /// The start of the span; its end is the start of the next.
    package let since: UnixTime
    /// Whether a section listed the item.
    package let isListed: Bool
    /// The normal price; nil for none.
    package let normalPrice: Price?
    /// The sale price; nil for none.
    package let salePrice: Price?

    /// The price to pay; nil if there is none, or if no section listed the item.
    package var price: Price? { isListed ? salePrice ?? normalPrice : nil }
  }

  /// The spans, oldest first; never empty.
  package let spans: [Span]
  /// The time since which every value is known.
  package let known: UnixTime

  /// Combines the changes of an item's prices.
  ///
  /// - Parameters:
  ///   - item: The item at the end of the history.
  ///   - steps: The changes of its prices, oldest first for each field.
  ///   - beginning: The time since which a price without recorded changes has been valid.
  package init(of item: StoreItem, _ steps: [PriceStep], since beginning: UnixTime) {
    let fields = Dictionary(grouping: steps, by: \.field)
    // A field without steps always had the value that the item has now.
    func price(_ field: HistoryField, after run: Int64, or present: Price?) -> Price? {
      fields[field].map { own in Price(own.last { $0.run <= run }?.value) } ?? present
    }
    var times = Dictionary(steps.map { ($0.run, $0.time) }) { first, _ in first }
    if !times.values.contains(beginning) { times[0] = beginning }
    spans = times.sorted { $0.key < $1.key }.map { run, time in
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
  ///   - start: The start of the period; a price that was set earlier counts if it was still valid then.
  ///   - end: The position of the first span after the period; nil for all spans.
  ///   - currency: The currency; prices in other currencies are ignored.
  /// - Returns: The price and the time when it was set, the later one if it was set twice; nil when there was no price.
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
