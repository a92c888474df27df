import Base
import Cache
import Catalog
import FoundationEssentials

/// The lowest price of an item in the 30 days up to the last sync.
///
/// The price is the one that a customer pays, on sale or not. A price that was set before the 30 days counts if it
/// was still valid during them.
public struct LowestPrice: Sendable, Hashable {
  /// The price.
  public let price: Price
  /// The time when the price was set; the later one, if it was set twice.
  package let time: UnixTime

  /// The time when the price was set; the later one, if it was set twice.
  public var since: Date { Date(time) }

  /// The length of the period in days.
  static let days: Int64 = 30

  /// A price, and the time when it was set.
  package init(price: Price, time: UnixTime) {
    (self.price, self.time) = (price, time)
  }

  /// Finds the lowest price.
  ///
  /// - Parameters:
  ///   - item: The item at the end of the period; the result is nil if it has no price.
  ///   - steps: The changes of its prices, oldest first for each field, beginning with the values at `start`.
  ///   - beginning: The time since which a price without recorded changes has been valid.
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
  private enum CodingKeys: String, CodingKey { case minorUnits, currency, at }

  /// Writes the price as the value of the key `lowest30Days` in `list --json`.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(price.minorUnits, forKey: .minorUnits)
    try body.encode(price.currency, forKey: .currency)
    try body.encode(time, forKey: .at)
  }
}

extension Price {
  /// The price in a value of the history; nil when the value is not a price.
  package init?(_ value: HistoryValue?) {
    guard case .price(let units, let currency)? = value else { return nil }
    self.init(minorUnits: Int(units), currency: currency)
  }
}

extension HistoryValue {
  /// The value that represents a price in the history.
  package init(_ price: Price) {
    self = .price(Int64(price.minorUnits), currency: price.currency)
  }
}

extension CatalogReader {
  /// The lowest prices of listed items in the days up to the last sync, in the order of the items.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  func lowestPrices(
    of items: [ListedItem],
    days: Int64 = LowestPrice.days
  ) throws(LarderError) -> [LowestPrice?] {
    let steps = try recentSteps(of: items.map { ($0.section.key, $0.item.id) }, days: days)
    guard let steps else { return items.map { _ in nil } }
    return zip(items, steps.items).map {
      LowestPrice(of: $0.item, $1, since: steps.beginning, from: steps.start)
    }
  }

  /// The changes of the prices of items in the days up to the last sync.
  ///
  /// - Parameters:
  ///   - items: The items, each with the section that lists it.
  ///   - days: The number of days; a negative number counts as 0.
  /// - Returns: The changes of each item, the time at which the history begins, and the start of the period; nil when
  ///   the catalog has no history.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func recentSteps(
    of items: [(section: String, id: String)],
    days: Int64
  ) throws(LarderError) -> (items: [[PriceStep]], beginning: UnixTime, start: UnixTime)? {
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
    return steps.map { ($0.items, $0.beginning, start) }
  }

  /// The lowest price of an item in the days up to the last sync; the item's values are those of its first listing.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - days: The number of days; 0 or less for the current price only.
  /// - Returns: The price; nil when no section lists the item, or it has no price.
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
  ///   - id: Only this item; nil for all.
  ///   - since: Only changes from runs that ended at this time or later; nil for all.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func history(
    of id: String? = nil,
    since: UnixTime? = nil
  ) throws(LarderError) -> [RecordedChange] {
    try index.history(catalog: catalog.id, item: id, since: since)
  }

  /// Whether the kept history has any change of an item.
  package func hasHistory(of id: String) throws(LarderError) -> Bool {
    try !history(of: id).isEmpty
  }
}
