import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline

extension Shop {
  /// One change of an item, as a sync found it.
  public struct Change: Sendable, Hashable {
    /// The part of an item that changed; the raw values are those of `larder history --json`.
    public typealias Field = ChangeKind

    /// A value before or after a change.
    public enum Value: Sendable, Hashable {
      /// A price.
      case price(Price)
      /// Text.
      ///
      /// Badges and ways of delivery are joined with a comma and a space. If the cache did not have a picture, the text
      /// is the URL of that picture.
      case text(String)
      /// The SHA-256 of each picture's bytes, 64 hexadecimal digits.
      case pictures([String])
    }

    /// When the run that found the change ended.
    package let time: UnixTime
    /// The run that found the change.
    public let run: RunID
    /// The key of the section that lists the item, or listed it last.
    public let section: String
    /// The item's id.
    public let id: String
    /// The part that changed.
    public let field: Field
    /// The value before the change.
    ///
    /// It is nil if there was no value, and if the item itself was added, was removed or came back.
    public let from: Value?
    /// The value after the change.
    ///
    /// It is nil if there is no value, and if the item itself was added, was removed or came back.
    public let to: Value?

    /// When the run that found the change ended.
    public var date: Date { Date(time) }

    /// Translates a change from the form that the index has.
    package init(_ change: RecordedChange) {
      (time, run, section, id) = (change.time, change.run, change.section, change.id)
      field = change.kind
      (from, to) = (change.from.map(Value.init), change.to.map(Value.init))
    }
  }

  /// The catalog as it was after an earlier sync.
  ///
  /// Each method reads the catalog from the database of the cache. A picture is missing if its bytes have changed since
  /// that sync. A detail is missing if it was fetched later.
  public struct PastCatalog: Sendable {
    /// The sync.
    public let run: RunID
    /// When that sync ended.
    public let date: Date
    private let reader: CatalogReader

    fileprivate init(_ reader: CatalogReader) throws(LarderError) {
      let last = try reader.lastRun()
      (run, date) = (last.id, Date(last.finished ?? last.started))
      self.reader = reader
    }

    /// The sections after that sync, in the catalog's order.
    ///
    /// - Throws: ``LarderError`` with the code `not-found` when a sweep has removed the run meanwhile.
    public func sections() throws(LarderError) -> [Section] {
      try LarderError.translating { try reader.sections().map(Section.init) }
    }

    /// The items of all sections, or of one section, in the catalog's order.
    ///
    /// See ``Shop/items(in:)``.
    ///
    /// - Parameter section: The section's key. Pass nil to get all sections.
    /// - Returns: The items; an item in two sections is returned twice.
    /// - Throws: ``LarderError`` with the code `not-found` when there is no such section, or a sweep has removed the
    ///   run meanwhile.
    public func items(in section: String? = nil) throws(LarderError) -> [ShownItem] {
      try LarderError.translating { try reader.list(section: section) }
    }

    /// One item with all its sections; nil if no section listed the item.
    ///
    /// - Throws: ``LarderError`` with the code `not-found` when a sweep has removed the run meanwhile.
    public func item(_ id: String) throws(LarderError) -> ShownItem? {
      try LarderError.translating { try reader.show(id) }
    }
  }

  /// The changes of items that syncs found.
  ///
  /// A change is a new price, badge, title, picture or section, or an item that was added, was removed or came back.
  ///
  /// The history of a catalog begins with its first sync, and ``SweepOptions/prices`` limits it. Reading it needs no
  /// network. The history is complete even when a sweep has removed old runs.
  ///
  /// - Parameters:
  ///   - id: The item whose changes to return. Pass nil to get the changes of all items.
  ///   - since: A change is returned only if the sync that found it ended at this time or later. Pass nil to get all
  ///     changes.
  /// - Returns: The changes, the oldest first. The array is empty for an item that no sync has seen.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func history(
    of id: String? = nil,
    since: Date? = nil
  ) async throws(LarderError) -> [Change] {
    let since = since.map { UnixTime($0, rounded: .up) }
    return try await Blocking.run { _ in
      try reader().history(of: id, since: since).map(Change.init)
    }
  }

  /// The lowest price of an item in the days up to the last sync.
  ///
  /// The price is the one that a customer pays, on sale or not. A price that was set before these days counts if it was
  /// still valid during them. ``ShownItem/lowest30Days`` is the same price for 30 days.
  ///
  /// - Parameters:
  ///   - id: The id of the item. If several sections list the item, the price in the first of these sections counts.
  ///   - days: The number of days, each of 24 hours. With 0 or a negative number, only the present price counts.
  /// - Returns: The price; nil if no section lists the item, or if the item has no price.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func lowestPrice(of id: String, days: Int = 30) async throws(LarderError) -> LowestPrice?
  {
    try await Blocking.run { _ in try reader().lowestPrice(of: id, days: Int64(days)) }
  }

  /// The catalog as it was at a given moment: after the last sync that had ended by then.
  ///
  /// The cache must still have the run of that sync; see ``SweepOptions/history``.
  ///
  /// - Parameter moment: The moment.
  /// - Returns: The catalog at that moment.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet, or when no run from that time is
  ///   kept.
  public func catalog(at moment: Date) async throws(LarderError) -> PastCatalog {
    let moment = UnixTime(moment, rounded: .down)
    return try await Blocking.run { _ in
      try PastCatalog(CatalogReader(cache: cache, catalog: catalog.name, at: moment))
    }
  }
}

extension Shop.Change: Encodable {
  /// Writes the change as `larder history --json` prints it.
  public func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "time": time, "run": run, "section": section, "id": id, "field": field, "from": from,
      "to": to,
    ])
  }
}

extension Shop.Change.Value: Encodable {
  /// Writes a price as an object, such as `{"minorUnits": 6500, "currency": "KRW"}`, and every other value as text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .price(let price): try container.encode(price)
    case .text(let text): try container.encode(text)
    case .pictures(let digests): try container.encode(digests.joined(separator: " "))
    }
  }
}

extension Shop.Change.Value {
  fileprivate init(_ value: HistoryValue) {
    switch value {
    case .digests: self = .pictures(value.digests)
    case .price(let units, let currency):
      self = .price(Price(minorUnits: Int(units), currency: currency))
    case .listed, .text: self = .text(value.text)
    }
  }
}

extension UnixTime {
  /// Rounds a Foundation date to a whole second, clamped to the range of `Int64`.
  fileprivate init(_ date: Date, rounded rule: FloatingPointRoundingRule) {
    let seconds = date.timeIntervalSince1970.rounded(rule)
    self.init(Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max))
  }
}
