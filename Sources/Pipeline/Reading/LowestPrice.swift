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
    self =
      PriceCourse(of: item, steps, since: beginning).lowest(from: start, in: price.currency)
      ?? LowestPrice(price: price, time: beginning)
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
  /// The lowest prices of listed items in the days up to the last sync, in the order given.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  func lowestPrices(
    of items: [ListedItem],
    days: Int64 = LowestPrice.days
  ) throws(LarderError) -> [LowestPrice?] {
    var last = past
    if last == nil { last = try index.lastRunTime(catalog: catalog.id) }
    guard let run = last else { return items.map { _ in nil } }
    let start = (run.finished ?? run.started) + max(days, 0).multipliedClamped(by: -86_400)
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

  /// The lowest price of an item, with the values of its first listing, in the days up to the last sync.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - days: How many days; none or fewer for the present price alone.
  /// - Returns: The price; nil when no section lists the item, or it has no price.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func lowestPrice(of id: String, days: Int64) throws(LarderError) -> LowestPrice? {
    for section in try sections() {
      guard let item = try items(id, in: section).first else { continue }
      return try lowestPrices(of: [ListedItem(item: item, section: section)], days: days)[0]
    }
    return nil
  }
}

extension CatalogReader {
  /// The changes of the catalog, oldest first.
  ///
  /// - Parameters:
  ///   - id: Only this item; nil for all.
  ///   - since: Only changes of runs that ended then or later; nil for all.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func history(
    of id: String? = nil,
    since: UnixTime? = nil
  ) throws(LarderError) -> [RecordedChange] {
    try index.history(catalog: catalog.id, item: id, since: since)
  }

  /// Whether anything of an item ever changed, as far as that is kept.
  package func hasHistory(of id: String) throws(LarderError) -> Bool {
    try !history(of: id).isEmpty
  }
}
