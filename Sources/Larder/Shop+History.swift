import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline

extension Shop {
  /// One change of an item, as a sync found it.
  public struct Change: Sendable, Hashable {
    /// The part of an item that changed; the raw values are those of `larder history --json`.
    public enum Field: String, Sendable, CaseIterable, Encodable {
      /// A section lists the item for the first time.
      case added
      /// No section lists the item any more.
      case removed
      /// A section lists the item again.
      case back
      /// The normal price. Shops show it crossed out while the item is on sale.
      case normalPrice
      /// The price to pay, if it differs from the normal price.
      case salePrice
      /// The section that lists the item.
      case section
      /// The title.
      case title
      /// The badges.
      case badges
      /// The ways of delivery.
      case deliveryTypes
      /// The bytes of the small picture.
      case thumbnail
      /// The bytes of other pictures.
      case images
    }

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
      // Both have the same names, except for `listed`, which stands in no recorded change.
      field = Field(rawValue: "\(change.kind)") ?? .added
      (from, to) = (change.from.map(Value.init), change.to.map(Value.init))
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
  init(_ date: Date, rounded rule: FloatingPointRoundingRule) {
    let seconds = date.timeIntervalSince1970.rounded(rule)
    self.init(Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max))
  }
}
