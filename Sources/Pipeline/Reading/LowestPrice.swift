import Base
import Cache
import Catalog
import FoundationEssentials

/// The lowest price of an item in the 30 days up to the last sync.
///
/// The prices compared are those that a customer pays: the sale price, or the normal price while the item is not on
/// sale. A price that was set earlier than 30 days ago counts if it was still valid during the 30 days.
public struct LowestPrice: Sendable, Hashable {
  /// The price.
  public let price: Price
  /// The time when the price was set.
  ///
  /// If it was set twice, this is the later time.
  package let time: UnixTime

  /// The time when the price was set.
  ///
  /// If it was set twice, this is the later time.
  public var since: Date { Date(time) }

  static let days: Int64 = 30
}

extension LowestPrice {
  /// Finds the lowest price.
  ///
  /// - Parameters:
  ///   - item: The item at the end of the period. If it has no price, the result is nil.
  ///   - steps: The changes of its prices. For each field, such as the sale price, the oldest is first, beginning with
  ///     the value at `start`.
  ///   - beginning: The time when the history begins. A price without recorded changes counts as valid since then.
  ///   - start: The start of the period.
  init?(of item: StoreItem, _ steps: [PriceStep], since beginning: UnixTime, from start: UnixTime)
  {
    guard let price = item.price else { return nil }
    self =
      PriceCourse(of: item, steps, since: beginning).lowest(from: start, in: price.currency)
      ?? LowestPrice(price: price, time: beginning)
  }
}

extension LowestPrice: Encodable {
  /// Writes the price as the value of the key `lowest30Days` in `list --json`.
  public func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "minorUnits": price.minorUnits, "currency": price.currency, "at": time,
    ])
  }
}

extension Price {
  /// Reads the price in a value of the history; nil if the value is not a price.
  package init?(_ value: HistoryValue?) {
    guard case .price(let units, let currency)? = value else { return nil }
    self.init(minorUnits: Int(units), currency: currency)
  }
}

extension HistoryValue {
  /// Makes the value that represents a price in the history.
  package init(_ price: Price) {
    self = .price(Int64(price.minorUnits), currency: price.currency)
  }
}

extension CatalogReader {
  /// The lowest prices of items in the days up to the last sync, in the order of the items.
  ///
  /// They are not known if a part of these days was forgotten.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  func lowestPrices(
    of items: [ListedItem],
    days: Int64 = LowestPrice.days
  ) throws(LarderError) -> [LowestPrice?] {
    let steps = try recentSteps(of: items.map { ($0.section.key, $0.item.id) }, days: days)
    guard let steps, steps.forgotten <= steps.start else { return items.map { _ in nil } }
    return zip(items, steps.items).map {
      LowestPrice(of: $0.item, $1, since: steps.beginning, from: steps.start)
    }
  }

  /// The changes of the prices of items in the days up to the last sync.
  ///
  /// - Parameters:
  ///   - items: The items, and for each item the section that lists it.
  ///   - days: The number of days; a negative number counts as 0.
  /// - Returns: The changes of each item, the time at which the history begins, the time before which changes were
  ///   deleted, and the start of the period; nil when the catalog has no history.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func recentSteps(
    of items: [(section: String, id: String)],
    days: Int64
  ) throws(LarderError)
    -> (items: [[PriceStep]], beginning: UnixTime, forgotten: UnixTime, start: UnixTime)?
  {
    var last = past
    if last == nil { last = try index.lastRunTime(catalog: catalog.id) }
    guard let run = last else { return nil }
    let start = (run.finished ?? run.started) + max(days, 0).multipliedClamped(by: -86_400)
    let steps = try index.priceSteps(
      of: items,
      catalog: catalog.id,
      since: start,
      through: run.id
    )
    return steps.map { ($0.items, $0.beginning, $0.forgotten, start) }
  }

  /// The lowest price of an item in the days up to the last sync.
  ///
  /// If several sections list the item, the first one counts.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - days: The number of days. If it is 0 or less, only the current price counts.
  /// - Returns: The price; nil if no section lists the item, or it has no price.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func lowestPrice(of id: String, days: Int64) throws(LarderError) -> LowestPrice? {
    for section in try sections() {
      guard let item = try items(id, in: section).first else { continue }
      return try lowestPrices(of: [(item, section)], days: days)[0]
    }
    return nil
  }
}

extension CatalogReader {
  /// The changes of the catalog, oldest first.
  ///
  /// - Parameters:
  ///   - id: The id of the item whose changes are returned. Pass nil to get the changes of all items.
  ///   - since: Changes are returned only if their run ended at this time or later. Pass nil to get the changes of all
  ///     runs.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func history(
    of id: String? = nil,
    since: UnixTime? = nil
  ) throws(LarderError) -> [RecordedChange] {
    try index.history(catalog: catalog.id, item: id, since: since)
  }
}
