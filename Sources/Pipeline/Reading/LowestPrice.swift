import Base
import Cache
import Catalog
import FoundationEssentials

/// The lowest price of an item in the 30 days up to the last sync.
///
/// The price is the one to pay, on sale or not. A price that began before the 30 days and held in some of them counts.
public struct LowestPrice: Sendable, Hashable {
  /// The price.
  public let price: Price
  /// Since when it held, or holds; of a price that held twice, the second time.
  package let time: UnixTime

  /// Since when it held, or holds; of a price that held twice, the second time.
  public var since: Date { Date(time) }

  /// The days that are looked at.
  static let days: Int64 = 30

  /// A price and since when it holds.
  package init(price: Price, time: UnixTime) {
    (self.price, self.time) = (price, time)
  }

  /// Finds the lowest price.
  ///
  /// - Parameters:
  ///   - item: The item as it is at the end; without a price it has none to compare.
  ///   - steps: Its prices field by field, each field's in order, from the values in force at `start`.
  ///   - beginning: Since when prices without steps hold.
  ///   - start: From when on prices count.
  init?(of item: StoreItem, _ steps: [PriceStep], since beginning: UnixTime, from start: UnixTime)
  {
    guard let price = item.price else { return nil }
    var lowest = LowestPrice(price: price, time: beginning)
    var last: Price?
    var began = beginning
    var isFound = false
    var times = Dictionary(steps.map { ($0.run, $0.time) }) { first, _ in first }
    if !times.values.contains(beginning) { times[0] = beginning }
    let moments = times.keys.sorted()
    for (place, moment) in moments.enumerated() {
      let normal = Self.price(.normalPrice, at: moment, steps, or: item.normalPrice)
      let sale = Self.price(.salePrice, at: moment, steps, or: item.salePrice)
      let listed = steps.filter { $0.field == .listed }
      let isListed = listed.isEmpty || listed.last { $0.run <= moment }?.value != nil
      let current = isListed ? sale ?? normal : nil
      if current != last { (last, began) = (current, times[moment] ?? beginning) }
      // One that another took the place of by the start is over.
      let ends = place + 1 < moments.count ? times[moments[place + 1]] ?? start : .distantFuture
      guard let current, current.currency == price.currency, ends > start else { continue }
      guard !isFound || current.minorUnits <= lowest.price.minorUnits else { continue }
      (lowest, isFound) = (LowestPrice(price: current, time: began), true)
    }
    self = lowest
  }

  /// A price after a run; without steps the one that the item has now.
  private static func price(
    _ field: HistoryField,
    at run: Int64,
    _ steps: [PriceStep],
    or present: Price?
  ) -> Price? {
    let own = steps.filter { $0.field == field }
    return own.isEmpty ? present : Price(own.last { $0.run <= run }?.value)
  }
}

extension Price {
  /// The price that a value of the history is; nil when it is none.
  package init?(_ value: HistoryValue?) {
    guard case .price(let units, let currency)? = value else { return nil }
    self.init(minorUnits: Int(units), currency: currency)
  }
}

extension HistoryValue {
  /// A price as the history keeps it.
  package init(_ price: Price) {
    self = .price(Int64(price.minorUnits), currency: price.currency)
  }
}

extension CatalogReader {
  /// The lowest prices of the last 30 days of listed items, in the order given; the days end with the last sync.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  func lowestPrices(of items: [ListedItem]) throws(LarderError) -> [LowestPrice?] {
    var last = past
    if last == nil { last = try index.lastRunTime(catalog: catalog.id) }
    guard let run = last else { return items.map { _ in nil } }
    let start = (run.finished ?? run.started) + -LowestPrice.days * 86_400
    let steps = try index.priceSteps(
      of: items.map { (section: $0.section.key, id: $0.item.id) },
      catalog: catalog.id,
      since: start,
      through: run.id
    )
    guard let steps else { return items.map { _ in nil } }
    return zip(items, steps.items).map {
      LowestPrice(of: $0.item, $1, since: steps.beginning, from: start)
    }
  }
}

extension CatalogReader {
  /// The changes of the catalog, oldest first.
  ///
  /// - Parameters:
  ///   - id: Only this item; nil for all.
  ///   - since: Only changes of runs that ended then or later; nil for all.
  ///   - kind: Only this; nil for everything.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func history(
    of id: String? = nil,
    since: UnixTime? = nil,
    _ kind: RecordedChange.Kind? = nil
  ) throws(LarderError) -> [RecordedChange] {
    let changes = try index.history(catalog: catalog.id, item: id, since: since)
    return kind.map { kind in changes.filter { $0.kind == kind } } ?? changes
  }

  /// Whether anything of an item ever changed, as far as that is kept.
  package func hasHistory(of id: String) throws(LarderError) -> Bool {
    try !history(of: id).isEmpty
  }
}
