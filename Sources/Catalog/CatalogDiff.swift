/// What changed from one state of a catalog to another.
///
/// A listing is an item's appearance in a section. The same item twice in one section is told apart
/// by its occurrence, so the first of today is compared with the first of yesterday.
public struct CatalogDiff: Hashable, Sendable {
  /// Listings that are new, in the new order.
  public private(set) var added: [Listing] = []
  /// Listings that are gone, in the old order.
  public private(set) var removed: [Listing] = []
  /// Listings that left one section for another, or changed their order within one.
  public private(set) var moved: [Move] = []
  /// Fields with another value, in the new order.
  public private(set) var changed: [FieldChange] = []

  /// Whether nothing changed.
  public var isEmpty: Bool {
    added.isEmpty && removed.isEmpty && moved.isEmpty && changed.isEmpty
  }

  /// Compares two states.
  ///
  /// - Parameters:
  ///   - old: The sections before.
  ///   - new: The sections after.
  ///   - oldDetails: Details before, by item id; their pictures count as the item's.
  ///   - newDetails: Details after. Items with a detail on one side only are compared without it.
  public init(
    from old: [Section],
    to new: [Section],
    oldDetails: [String: ItemDetail] = [:],
    newDetails: [String: ItemDetail] = [:]
  ) {
    let before = Placement.all(in: old)
    let after = Placement.all(in: new)
    let oldByListing = Dictionary(before.map { ($0.listing, $0) }) { first, _ in first }
    let newListings = Set(after.map(\.listing))

    var departed: [String: [Placement]] = [:]
    for placement in before.reversed() where !newListings.contains(placement.listing) {
      departed[placement.listing.id, default: []].append(placement)
    }
    var comparedDetails: Set<String> = []
    var kept: [String: [(old: Placement, new: Placement)]] = [:]
    for placement in after {
      let id = placement.listing.id
      let previous: Placement
      if let same = oldByListing[placement.listing] {
        previous = same
        kept[placement.listing.section, default: []].append((same, placement))
      } else if let source = departed[id]?.popLast() {
        previous = source
        moved.append(Move(id: id, from: source.position, to: placement.position))
      } else {
        added.append(placement.listing)
        continue
      }
      let isFirst = comparedDetails.insert(id).inserted
      changed += Self.changes(
        from: previous.item,
        to: placement.item,
        in: placement.listing,
        oldDetail: isFirst ? oldDetails[id] : nil,
        newDetail: isFirst ? newDetails[id] : nil
      )
    }
    let gone = Set(departed.values.joined().map(\.listing))
    removed = before.map(\.listing).filter(gone.contains)
    for section in new { moved += Self.reordered(kept[section.key] ?? []) }
  }

  /// What a first state adds to nothing, known by the ids of its listings alone.
  ///
  /// - Parameter sections: The sections in order, each with the ids that it lists, in order.
  public init(first sections: [(key: String, ids: [String])]) {
    for (key, ids) in sections {
      var occurrences = [String: Int](minimumCapacity: ids.count)
      for id in ids {
        let occurrence = occurrences[id, default: 0]
        occurrences[id] = occurrence + 1
        added.append(Listing(section: key, id: id, occurrence: occurrence))
      }
    }
  }

  /// The fewest listings that, taken out, leave the rest in the old order.
  private static func reordered(_ kept: [(old: Placement, new: Placement)]) -> [Move] {
    let unmoved = Set(longestIncreasingSubsequence(of: kept.map(\.old.position.index)))
    return kept.enumerated().filter { !unmoved.contains($0.offset) }.map { _, pair in
      Move(id: pair.new.listing.id, from: pair.old.position, to: pair.new.position)
    }
  }

  private static func changes(
    from old: StoreItem,
    to new: StoreItem,
    in listing: Listing,
    oldDetail: ItemDetail?,
    newDetail: ItemDetail?
  ) -> [FieldChange] {
    let hasDetails = oldDetail != nil && newDetail != nil
    let oldFields = fields(of: old, detail: hasDetails ? oldDetail : nil)
    let newFields = fields(of: new, detail: hasDetails ? newDetail : nil)
    return zip(oldFields, newFields).filter { $0.text != $1.text }.map {
      FieldChange(
        section: listing.section,
        id: listing.id,
        field: $0.name,
        from: $0.text,
        to: $1.text
      )
    }
  }

  /// The comparable fields as text; prices in minor units, URLs parted by spaces.
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

/// A listing with its item and where it stands.
private struct Placement {
  let listing: CatalogDiff.Listing
  let position: CatalogDiff.Position
  let item: StoreItem

  static func all(in sections: [Section]) -> [Placement] {
    var placements: [Placement] = []
    for section in sections {
      var occurrences: [String: Int] = [:]
      for (index, item) in section.items.enumerated() {
        let occurrence = occurrences[item.id, default: 0]
        occurrences[item.id] = occurrence + 1
        placements.append(
          Placement(
            listing: CatalogDiff.Listing(
              section: section.key,
              id: item.id,
              occurrence: occurrence
            ),
            position: CatalogDiff.Position(section: section.key, index: index),
            item: item
          )
        )
      }
    }
    return placements
  }
}
