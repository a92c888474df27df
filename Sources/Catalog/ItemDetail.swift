/// What a store tells about one item beyond its listing.
public struct ItemDetail: Hashable, Sendable, Codable {
  /// The id of the item.
  public var id: String
  /// The description, which may differ from the listing's.
  public var description: String?
  /// The prices as the detail lists them, one or two; they may disagree with the listing's.
  public var prices: [Price]
  /// Its pictures: top, gallery, section, each in the feed's order; one URL may come twice.
  public var images: [ImageReference]
  /// What else it says, by name: `point`, `delivery_info`, `delivery_fee`.
  public var notes: [String: String]
  /// The fields that are there and could not be read; nil when there are none.
  public var lost: [LostField]?
  /// The fields, by their names in the catalog file, that it spells out and that are lists without elements
  /// here: no value, and no sign of a wrong path either; nil when there are none.
  public var empty: [String]?

  /// Makes a detail; what a feed may leave out may be left out here.
  public init(
    id: String,
    description: String? = nil,
    prices: [Price] = [],
    images: [ImageReference] = [],
    notes: [String: String] = [:],
    lost: [LostField]? = nil
  ) {
    self.id = id
    self.description = description
    self.prices = prices
    self.images = images
    self.notes = notes
    self.lost = lost
  }
}

/// A field that is there and could not be read; what it belongs to does without it.
public struct LostField: Hashable, Sendable, Codable {
  /// The field as the feed calls it; nil when its path ends in no name.
  public var field: String?
  /// Why it could not be used.
  public var reason: String

  /// Makes a record.
  public init(field: String?, reason: String) {
    self.field = field
    self.reason = reason
  }
}
