import Base
import Cache
import Catalog

/// The prices of a listed item, from its first known change to the last one.
package struct PriceCourse: Sendable, Hashable {
  /// A time in which neither price changed, and no section took the item or dropped it.
  package struct Span: Sendable, Hashable {
    /// Since when; it ends where the next span begins.
    package let since: UnixTime
    /// Whether a section listed the item.
    package let isListed: Bool
    /// The normal price; nil for none.
    package let normalPrice: Price?
    /// The sale price; nil for none.
    package let salePrice: Price?

    /// The price to pay; nil without one, and while no section listed the item.
    package var price: Price? { isListed ? salePrice ?? normalPrice : nil }
  }

  /// The spans, oldest first; never empty.
  package let spans: [Span]
  /// Since when every value is known.
  package let known: UnixTime

  /// Puts an item's prices together.
  ///
  /// - Parameters:
  ///   - item: The item as it is at the end.
  ///   - steps: Its prices field by field, each field's in order.
  ///   - beginning: Since when prices without steps hold.
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
  ///   - start: From when on prices count; one that began before and still held then does.
  ///   - end: The first span that does not count; nil for all.
  ///   - currency: The currency; prices of others are not compared.
  /// - Returns: The price and since when it held, the second time if it held twice; nil when there was none.
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
