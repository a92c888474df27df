import Base
import Cache
import Catalog

/// The price to pay for an item over time, as the history of one section has it.
///
/// A section is a list of items. Each section can list the item at another price.
package struct PriceCourse: Sendable, Hashable {
  /// The prices, oldest first; two neighbours can have the same price.
  ///
  /// There is at least one.
  let steps: [PriceLine.Step]
  /// The time since which the history has every value.
  let known: UnixTime
  /// Whether older prices were deleted: the first known price is from a time at which the item was listed already.
  let isCut: Bool

  /// Combines the changes of an item's prices.
  ///
  /// - Parameters:
  ///   - item: The item as it is at the end of the history.
  ///   - changes: The changes of its prices. For each field, such as the sale price, the oldest is first.
  ///   - beginning: The time when the history begins. A price without recorded changes counts as valid since then.
  package init(of item: StoreItem, _ changes: [PriceStep], since beginning: UnixTime) {
    let fields = Dictionary(grouping: changes, by: \.field)
    // A field without recorded changes always had the value that the item has now.
    func price(_ field: HistoryField, after run: Int64, or present: Price?) -> Price? {
      fields[field].map { own in Price(own.last { $0.run <= run }?.value) } ?? present
    }
    var times = Dictionary(changes.map { ($0.run, $0.time) }) { first, _ in first }
    if !times.values.contains(beginning) { times[0] = beginning }
    // Before its first step, a field has an unknown value. While an item is on sale, its normal price is not to be paid.
    let isOnSale = fields[.salePrice] == nil && item.salePrice != nil
    let firsts = fields.filter { !isOnSale || $0.key != .normalPrice }.values.compactMap(\.first)
    let start = firsts.map(\.run).max() ?? 0
    steps = times.filter { $0.key >= start }.sorted { $0.key < $1.key }.map { run, time in
      let isListed =
        fields[.listed].map { own in own.last { $0.run <= run }?.value != nil } ?? true
      let paid =
        price(.salePrice, after: run, or: item.salePrice)
        ?? price(.normalPrice, after: run, or: item.normalPrice)
      return PriceLine.Step(time: time, price: isListed ? paid : nil)
    }
    let listed = fields[.listed]?.first?.time ?? beginning
    isCut = firsts.contains { $0.time > listed && $0.value != nil }
    known = fields.values.compactMap { $0.first?.time }.reduce(beginning, max)
  }

  /// The lowest price to pay in a currency.
  ///
  /// - Parameters:
  ///   - start: The start of the period. A price that was set earlier counts if it was still valid then.
  ///   - currency: The currency. Prices in other currencies are ignored.
  /// - Returns: The price and the time when it was set; nil if there was no price. If it was set twice, the time is the
  ///   later one.
  func lowest(from start: UnixTime, in currency: String) -> LowestPrice? {
    var lowest: LowestPrice?
    var last: PriceLine.Step?
    for (place, step) in steps.enumerated() {
      if last == nil || step.price != last?.price { last = step }
      let end = place + 1 < steps.count ? steps[place + 1].time : .distantFuture
      guard let price = step.price, price.currency == currency, end > start else { continue }
      if let lowest, price.minorUnits > lowest.price.minorUnits { continue }
      lowest = LowestPrice(price: price, time: last?.time ?? step.time)
    }
    return lowest
  }
}
