extension CatalogDiff {
  /// An item's appearance in a section.
  public struct Listing: Hashable, Sendable, Codable {
    /// The section's key.
    public let section: String
    /// The item's id.
    public let id: String
    /// How many times the item came before in this section; nearly always 0.
    public let occurrence: Int

    /// Names a listing.
    public init(section: String, id: String, occurrence: Int = 0) {
      self.section = section
      self.id = id
      self.occurrence = occurrence
    }
  }

  /// A place in a section.
  public struct Position: Hashable, Sendable, Codable {
    /// The section's key.
    public let section: String
    /// The index among its items, counted from 0.
    public let index: Int

    /// Names a place.
    public init(section: String, index: Int) {
      self.section = section
      self.index = index
    }
  }

  /// A listing that stands elsewhere now.
  public struct Move: Hashable, Sendable, Codable {
    /// The item's id.
    public let id: String
    /// Where it stood.
    public let from: Position
    /// Where it stands.
    public let to: Position

    /// Describes a move.
    public init(id: String, from: Position, to: Position) {
      self.id = id
      self.from = from
      self.to = to
    }
  }

  /// A field of a listing that has another value now.
  public struct FieldChange: Hashable, Sendable, Codable {
    /// The key of the section that lists the item now.
    public let section: String
    /// The item's id.
    public let id: String
    /// The field: title, description, badges, deliveryTypes, normalPrice, salePrice, thumbnail or
    /// images.
    public let field: String
    /// The value before; nil for none.
    public let from: String?
    /// The value after; nil for none.
    public let to: String?

    /// Describes a change.
    public init(section: String, id: String, field: String, from: String?, to: String?) {
      self.section = section
      self.id = id
      self.field = field
      self.from = from
      self.to = to
    }
  }
}
