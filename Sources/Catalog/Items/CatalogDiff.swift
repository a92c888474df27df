import Base

/// The changes from one state of a catalog to another.
///
/// A listing is the appearance of an item in a section: an item that is in two sections has two listings. If an item
/// moved to another section, its old listing is compared with its new listing, and `section` is a changed field. A new
/// order of the items in a section is not a change.
public struct CatalogDiff: Hashable, Sendable {
  /// The listings that are new, in the order of the new state.
  public private(set) var added: [Listing] = []
  /// The listings that are gone, in the order of the old state.
  public private(set) var removed: [Listing] = []
  /// The fields that have another value than before, in the order of the new state.
  public private(set) var changed: [FieldChange] = []

  /// Whether nothing changed.
  public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

  /// A comparison of two states that is given only the listings that differ.
  ///
  /// First add the listings that are gone, then the new ones and the changes, each in the order of their state.
  package struct Comparison<Item> {
    /// The listings that are gone and that no new listing has replaced, by the ids of their items, the last one first.
    private var departed: [ExactText: [(place: Int, listing: Listing, item: Item)]] = [:]
    private var count = 0
    private var changed: [FieldChange] = []
    /// The listings that are new, in the order of the new state.
    private var added: [Listing] = []

    /// Begins a comparison.
    package init() {}

    /// Adds an item that its section no longer lists.
    package mutating func depart(_ listing: Listing, _ item: Item) {
      departed[listing.id.exact, default: []].insert((count, listing, item), at: 0)
      count += 1
    }

    /// Adds an item that its section did not list before.
    ///
    /// - Parameter listing: The new listing.
    /// - Returns: The item as another section listed it before, and the key of this section; nil if it has not moved, and
    ///   is new.
    package mutating func arrive(_ listing: Listing) -> (item: Item, section: String)? {
      // In a first run nothing is gone: then no id has to be hashed.
      guard !departed.isEmpty, let old = departed[listing.id.exact]?.popLast() else {
        added.append(listing)
        return nil
      }
      let (from, to) = (old.listing.section, listing.section)
      change([FieldChange(section: to, id: listing.id, field: "section", from: from, to: to)])
      return (old.item, from)
    }

    /// Adds fields that differ between an item before and after.
    package mutating func change(_ fields: [FieldChange]) { changed += fields }

    /// The listings that are gone, in the order of the old state.
    package var removed: [(listing: Listing, item: Item)] {
      departed.values.joined().sorted { $0.place < $1.place }.map { ($0.listing, $0.item) }
    }

    /// The difference, once everything is added.
    package var diff: CatalogDiff {
      var diff = CatalogDiff()
      diff.added = added
      diff.removed = removed.map(\.listing)
      diff.changed = changed
      return diff
    }
  }

  private init() {}

  /// The fields that differ between an item before and after.
  ///
  /// - Parameters:
  ///   - old: The item before.
  ///   - new: The item after.
  ///   - section: The key of the section that has the item after the change.
  /// - Returns: The changed fields in a fixed order, the title first.
  package static func changes(
    from old: StoreItem,
    to new: StoreItem,
    in section: String
  ) -> [FieldChange] {
    // A new price changes no currency.
    zip(fields(of: old), fields(of: new)).filter {
      $0.text != $1.text && ($0.name != "currency" || $0.text != nil && $1.text != nil)
    }.map {
      FieldChange(section: section, id: new.id, field: $0.name, from: $0.text, to: $1.text)
    }
  }

  /// The names of the compared fields, and the value of each field as text.
  ///
  /// A price is its number of minor units. Several URLs are separated by spaces.
  private static func fields(of item: StoreItem) -> [(name: String, text: String?)] {
    func urls(where isIncluded: (ImageReference) -> Bool) -> String? {
      let urls = item.images.filter(isIncluded).map(\.url)
      return urls.isEmpty ? nil : urls.joined(separator: " ")
    }
    return [
      ("title", item.title),
      ("description", item.description),
      ("badges", joined(item.badges)),
      ("deliveryTypes", joined(item.deliveryTypes)),
      ("normalPrice", item.normalPrice.map { String($0.minorUnits) }),
      ("salePrice", item.salePrice.map { String($0.minorUnits) }),
      ("currency", (item.salePrice ?? item.normalPrice)?.currency),
      ("address", item.address),
      ("latitude", item.coordinate.map { "\($0.latitude)" }),
      ("longitude", item.coordinate.map { "\($0.longitude)" }),
      ("thumbnail", urls { $0.role == .thumbnail }),
      ("images", urls { $0.role != .thumbnail }),
    ]
  }

  private static func joined(_ texts: [String]) -> String? {
    texts.isEmpty ? nil : texts.joined(separator: ", ")
  }
}

extension CatalogDiff {
  /// The appearance of an item in a section.
  public struct Listing: Hashable, Sendable, Codable {
    /// The section's key.
    public let section: String
    /// The item's id.
    public let id: String

    /// Makes the appearance of an item in a section.
    package init(section: String, id: String) { (self.section, self.id) = (section, id) }
  }

  /// A field of a listing whose value changed.
  public struct FieldChange: Hashable, Sendable, Codable {
    /// The key of the section that has the item after the change.
    public let section: String
    /// The item's id.
    public let id: String
    /// The name of the field: section, title, description, badges, deliveryTypes, normalPrice, salePrice, currency, address,
    /// latitude, longitude, thumbnail or images.
    public let field: String
    /// The value before, or nil if the field had no value.
    public let from: String?
    /// The value after, or nil if the field has no value.
    public let to: String?
  }
}
