import Base
import Cache
import Catalog

/// Collects the changes of a run for the history of prices and items.
///
/// A section is a list of items. The history records changes separately for each section.
struct ListingChanges {
  /// The changes that are not of ``items``: items that moved, and those of ``addAll(_:_:)``.
  private(set) var changes: [ItemChange] = []
  /// The items that sections added, removed or changed.
  var items: [ChangedItem] = []
  /// Items that moved, but whose move is not a change of their section: see ``addReturn(_:from:)``.
  private var returns: Set<CatalogDiff.Listing> = []

  /// Adds an item that moved to a section whose earlier listing of the item is in the history.
  ///
  /// The history then continues in this section: the item was removed from the other section, and came back to this one.
  mutating func addReturn(_ item: ChangedItem, from old: CatalogDiff.Listing) {
    items.append(ChangedItem(section: old.section, from: item.from, to: nil))
    items.append(ChangedItem(section: item.section, from: nil, to: item.to))
    returns.insert(CatalogDiff.Listing(section: item.section, id: old.id))
  }

  /// The values that changed from one version of an item to another.
  ///
  /// If both are the same, a picture has other bytes.
  static let comparison: ItemComparison = { section, from, to, digests in
    let old = from.flatMap { try? StoreItem(decoding: $0) }
    let new = to.flatMap { try? StoreItem(decoding: $0) }
    guard let item = new ?? old, (old == nil) == (from == nil), (new == nil) == (to == nil) else {
      return []
    }
    var add = Adding(section: section, id: item.id)
    guard let old, let new else {
      add.field(.listed, old.map { _ in .listed }, new.map { _ in .listed })
      // Also record the item's values: the prices of an added item are valid from now on, and those of a removed item end
      // now. If the item comes back, its values are compared with those that it had.
      for (field, value) in values(of: item) { add.known(field, value) }
      for (field, value) in try pictures(
        of: item,
        { new == nil ? try digests($0).before : try digests($0).now }
      ) {
        // A picture that is not held is unknown.
        if case .text = value { continue }
        add.known(field, value)
      }
      return add.changes
    }
    var (before, after) = (values(of: old), values(of: new))
    if from == to || old.images != new.images {
      before += try pictures(of: old) { try digests($0).before }
      after += try pictures(of: new) { try digests($0).now }
    }
    for ((field, before), (_, after)) in zip(before, after) { add.field(field, before, after) }
    return add.changes
  }

  private static func values(of item: StoreItem) -> [(HistoryField, HistoryValue?)] {
    prices(of: item) + [
      (.title, .text(item.title)), (.badges, joined(item.badges)),
      (.deliveryTypes, joined(item.deliveryTypes)),
    ]
  }

  private static func pictures(
    of item: StoreItem,
    _ digest: (PictureID) throws -> [UInt8]?
  ) rethrows -> [(HistoryField, HistoryValue?)] {
    try [HistoryField.thumbnail, .images].map { field in
      let own = item.images.filter { ($0.role == .thumbnail) == (field == .thumbnail) }
      return (field, try value(own.map(\.url), digest))
    }
  }

  /// The value that the history has for pictures.
  ///
  /// If all pictures are in the cache, it is a list of their digests. Otherwise it is a text with the digests of the
  /// cached pictures and the URLs of the others.
  private static func value(
    _ urls: [String],
    _ digest: (PictureID) throws -> [UInt8]?
  ) rethrows -> HistoryValue? {
    guard !urls.isEmpty else { return nil }
    let all = try urls.map { try digest(PictureID(url: $0)) }
    let held = all.compactMap(\.self)
    if held.count == all.count { return .digests(held.flatMap(\.self)) }
    return .text(zip(urls, all).map { $1.map(Hexadecimal.text) ?? $0 }.joined(separator: " "))
  }

  private static func prices(of item: StoreItem) -> [(HistoryField, HistoryValue?)] {
    [
      (.normalPrice, item.normalPrice.map(HistoryValue.init)),
      (.salePrice, item.salePrice.map(HistoryValue.init)),
    ]
  }

  /// Adds the current values of all items that already have a history.
  ///
  /// This is needed after the index was rebuilt. Then there is a history, but no earlier run to compare with.
  mutating func addAll(_ sections: [RunSection], _ context: RunContext) throws(LarderError) {
    var rest = try context.index.historyItems(catalog: context.entry.id)
    guard !rest.isEmpty else { return }
    for section in sections {
      guard let listing = section.listing, rest[section.key] != nil else { continue }
      try context.index.forEachBatch(of: listing) { records throws(LarderError) in
        for record in records where rest[section.key]?.remove(record.key.exact) != nil {
          let item = try record.storeItem()
          var add = Adding(section: section.key, id: item.id)
          add.known(.listed, .listed)
          for (field, price) in Self.prices(of: item) { add.known(field, price) }
          changes += add.changes
        }
      }
    }
    for (section, ids) in rest.sorted(by: { $0.key < $1.key }) {
      for id in ids.map(\.text).sorted() {
        var add = Adding(section: section, id: id)
        add.field(.listed, .listed, nil)
        changes += add.changes
      }
    }
  }

  /// Adds the items that moved from one section to another.
  mutating func addMoves(of diff: CatalogDiff) {
    // The moves go before all other changes, because the other changes of a moved item name its new section.
    let moves = diff.changed.filter {
      $0.field == "section"
        && !returns.contains(CatalogDiff.Listing(section: $0.section, id: $0.id))
    }.map {
      ItemChange(
        section: $0.section,
        id: $0.id,
        field: .section,
        from: $0.from.map { .text($0) },
        to: $0.to.map { .text($0) }
      )
    }
    if !moves.isEmpty { changes = moves + changes }
  }

  private static func joined(_ texts: [String]) -> HistoryValue? {
    texts.isEmpty ? nil : .text(texts.joined(separator: ", "))
  }

  /// The changes of one item in one section.
  private struct Adding {
    let section: String
    let id: String
    var changes: [ItemChange] = []

    mutating func field(_ field: HistoryField, _ from: HistoryValue?, _ to: HistoryValue?) {
      guard from != to else { return }
      changes.append(ItemChange(section: section, id: id, field: field, from: from, to: to))
    }

    mutating func known(_ field: HistoryField, _ value: HistoryValue?) {
      changes.append(ItemChange(section: section, id: id, field: field, from: value, to: value))
    }
  }
}
