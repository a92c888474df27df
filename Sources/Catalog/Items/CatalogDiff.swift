/// The changes from one state of a catalog to another.
///
/// A listing is the appearance of an item in a section: an item that is in two sections has two listings. If a section
/// lists an item twice, the first occurrence in the new state is compared with the first occurrence in the old state,
/// and so on. If an item moved to another section, its old listing is compared with its new listing, and `section` is a
/// changed field. A new order of the items in a section is not a change.
public struct CatalogDiff: Hashable, Sendable {
  /// The listings that are new, in the order of the new state.
  public private(set) var added: [Listing] = []
  /// The listings that are gone, in the order of the old state.
  public private(set) var removed: [Listing] = []
  /// The fields that have another value than before, in the order of the new state.
  public private(set) var changed: [FieldChange] = []

  /// Whether nothing changed.
  public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

  /// Compares two states.
  ///
  /// - Parameters:
  ///   - old: The sections before.
  ///   - new: The sections after.
  ///   - oldDetails: The details before, by item id. The pictures of a detail count as pictures of the item.
  ///   - newDetails: The details after. If an item has a detail in only one of the states, the detail is ignored.
  public init(
    from old: [Section],
    to new: [Section],
    oldDetails: [String: ItemDetail] = [:],
    newDetails: [String: ItemDetail] = [:]
  ) {
    var comparedDetails: Set<String> = []
    self.init(from: old.map(ListedIDs.init), to: new.map(ListedIDs.init)) { before, after in
      let item = new[after.section].items[after.index]
      let isFirst = comparedDetails.insert(item.id).inserted
      return Self.changes(
        from: old[before.section].items[before.index],
        to: item,
        in: new[after.section].key,
        oldDetail: isFirst ? oldDetails[item.id] : nil,
        newDetail: isFirst ? newDetails[item.id] : nil
      )
    }
  }

  /// Compares two states whose items need not be in memory.
  ///
  /// - Parameters:
  ///   - old: The ids of the sections before. No two sections have the same key.
  ///   - new: The ids of the sections after. No two sections have the same key.
  ///   - changes: Returns the fields that differ between an item before and after. It is called for each item that is
  ///     in both states, in the order of the new state.
  /// - Throws: The error that `changes` throws.
  package init<Failure: Error>(
    from old: [ListedIDs],
    to new: [ListedIDs],
    changes: (_ before: ListedPlace, _ after: ListedPlace) throws(Failure) -> [FieldChange]
  ) throws(Failure) {
    let oldPlaces = Dictionary(old.enumerated().map { ($1.key, $0) }) { first, _ in first }
    let newSections = Dictionary(new.map { ($0.key, $0.ids) }) { first, _ in first }
    // The old items that are not in the new section with the same key, the last one first.
    var departed: [String: [ListedPlace]] = [:]
    for (number, section) in old.enumerated().reversed() {
      let after = newSections[section.key]
      for index in (0..<section.ids.count).reversed()
      where after?.counterpart(of: index, in: section.ids) == nil {
        departed[section.ids[index], default: []]
          .append(ListedPlace(section: number, index: index))
      }
    }
    for (number, section) in new.enumerated() {
      let before = oldPlaces[section.key]
      for index in 0..<section.ids.count {
        let place = ListedPlace(section: number, index: index)
        if let before, let source = old[before].ids.counterpart(of: index, in: section.ids) {
          changed += try changes(ListedPlace(section: before, index: source), place)
          continue
        }
        let id = section.ids[index]
        guard let before = departed[id]?.popLast() else {
          added.append(Listing(section, index))
          continue
        }
        let key = old[before.section].key
        changed.append(
          FieldChange(section: section.key, id: id, field: "section", from: key, to: section.key)
        )
        changed += try changes(before, place)
      }
    }
    removed = departed.values.joined()
      .sorted { ($0.section, $0.index) < ($1.section, $1.index) }
      .map { Listing(old[$0.section], $0.index) }
  }

  /// The fields that differ between an item before and after.
  ///
  /// - Parameters:
  ///   - old: The item before.
  ///   - new: The item after.
  ///   - section: The key of the section that has the item after the change.
  ///   - oldDetail: The item's detail before.
  ///   - newDetail: The item's detail after. Details are compared only if both are given.
  /// - Returns: The changed fields in a fixed order, the title first.
  package static func changes(
    from old: StoreItem,
    to new: StoreItem,
    in section: String,
    oldDetail: ItemDetail? = nil,
    newDetail: ItemDetail? = nil
  ) -> [FieldChange] {
    let hasDetails = oldDetail != nil && newDetail != nil
    let oldFields = fields(of: old, detail: hasDetails ? oldDetail : nil)
    let newFields = fields(of: new, detail: hasDetails ? newDetail : nil)
    return zip(oldFields, newFields).filter { $0.text != $1.text }.map {
      FieldChange(section: section, id: new.id, field: $0.name, from: $0.text, to: $1.text)
    }
  }

  /// The names of the compared fields, and the value of each field as text.
  ///
  /// A price is its number of minor units. Several URLs are separated by spaces.
  private static func fields(
    of item: StoreItem,
    detail: ItemDetail?
  ) -> [(name: String, text: String?)] {
    let images = item.images + (detail?.images ?? [])
    func urls(where isIncluded: (ImageReference) -> Bool) -> String? {
      let urls = images.filter(isIncluded).map(\.url)
      return urls.isEmpty ? nil : urls.joined(separator: " ")
    }
    return [
      ("title", item.title),
      ("description", item.description),
      ("badges", joined(item.badges)),
      ("deliveryTypes", joined(item.deliveryTypes)),
      ("normalPrice", item.normalPrice.map { String($0.minorUnits) }),
      ("salePrice", item.salePrice.map { String($0.minorUnits) }),
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
    /// The number of earlier appearances of the item in the same section, nearly always 0.
    public internal(set) var occurrence = 0
  }

  /// A field of a listing whose value changed.
  public struct FieldChange: Hashable, Sendable, Codable {
    /// The key of the section that has the item after the change.
    public let section: String
    /// The item's id.
    public let id: String
    /// The name of the field: section, title, description, badges, deliveryTypes, normalPrice, salePrice, thumbnail or
    /// images.
    public let field: String
    /// The value before, or nil if the field had no value.
    public let from: String?
    /// The value after, or nil if the field has no value.
    public let to: String?
  }
}

extension CatalogDiff.Listing {
  fileprivate init(_ section: ListedIDs, _ index: Int) {
    self.init(
      section: section.key,
      id: section.ids[index],
      occurrence: section.ids.occurrence(at: index)
    )
  }
}

/// The ids of a section's items.
package struct ListedIDs: Sendable {
  /// The section's key.
  package let key: String
  /// The ids in the order of the items.
  package let ids: PackedIDs

  /// Makes the list of a section's ids.
  package init(key: String, ids: PackedIDs) {
    (self.key, self.ids) = (key, ids)
  }

  init(_ section: Section) {
    self.init(key: section.key, ids: PackedIDs(section.items.lazy.map(\.id)))
  }
}

/// The position of an item: the index of its section, and its index in the section.
package struct ListedPlace: Sendable {
  /// The index of the section.
  package let section: Int
  /// The item's index in the section.
  package let index: Int
}
