import Base
import Cache
import Catalog

/// An item of a section, as it was before a run and after it.
struct ListingChange {
  /// The section's key.
  let section: String
  /// The item before; nil if the section did not list it.
  let from: StoreItem?
  /// The item now; nil if the section no longer lists it.
  let to: StoreItem?
}

/// Collects the changes of a run for the history of prices and items.
///
/// A section is a list of items. The history records changes separately for each section.
struct ListingChanges {
  private var changes: [ItemChange] = []
  /// The items that sections added, removed or changed.
  private(set) var items: [ChangedItem] = []
  /// Items that moved, but whose move is not a change of their section: see ``addReturn(_:from:)``.
  private var returns: Set<CatalogDiff.Listing> = []
  /// Items whose picture URLs differ from those before.
  private var pictures: [ListingChange] = []

  /// Adds an item that a section added, removed or changed, with its values if it was changed.
  mutating func add(_ item: ChangedItem, _ change: ListingChange?) {
    items.append(item)
    if let change, change.from?.images != change.to?.images { pictures.append(change) }
  }

  /// Adds an item that moved to a section whose earlier listing of the item is in the history.
  ///
  /// The history then continues in this section: the item was removed from the other section, and came back to this one.
  mutating func addReturn(_ item: ChangedItem, from old: CatalogDiff.Listing) {
    items.append(ChangedItem(section: old.section, from: item.from, to: nil))
    items.append(ChangedItem(section: item.section, from: nil, to: item.to))
    returns.insert(CatalogDiff.Listing(section: item.section, id: old.id))
  }

  /// The values that changed from one version of an item to another, without those of pictures.
  static func values(_ section: String, _ from: [UInt8]?, _ to: [UInt8]?) -> [ItemChange] {
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
      return add.changes
    }
    for ((field, before), (_, after)) in zip(values(of: old), values(of: new)) {
      add.field(field, before, after)
    }
    return add.changes
  }

  private static func values(of item: StoreItem) -> [(HistoryField, HistoryValue?)] {
    prices(of: item) + [
      (.title, .text(item.title)), (.badges, joined(item.badges)),
      (.deliveryTypes, joined(item.deliveryTypes)),
    ]
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

extension ListingChanges {
  /// The changes that are not of ``items``: items that moved, those of pictures, and those of ``addAll(_:_:)``.
  ///
  /// Call it when all pictures are fetched.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - sections: The sections at the end of the run.
  ///   - context: The state of the run.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func all(
    of run: RunID,
    _ sections: [RunSection],
    _ context: RunContext
  ) throws(LarderError) -> [ItemChange] {
    let index = context.index
    let replaced = try index.replacedDigests(run: run)
    let repainted = try replaced.isEmpty ? [] : Self.items(showing: replaced, sections, context)
    let all = pictures + repainted
    guard !all.isEmpty else { return changes }
    let details = try index.details(
      catalog: context.entry.id,
      items: all.compactMap { $0.to?.id }
    ).mapValues { $0.decoded?.images ?? [] }
    let references = all.flatMap { change in
      (change.from?.images ?? []) + (change.to?.images ?? [])
        + (details[(change.to?.id ?? "").exact] ?? [])
    }
    let ids = Set(references.map { PictureID(url: $0.url) })
    let held = try index.pictures(Array(ids)).compactMapValues(\.sha256)
    var result = changes
    for change in all {
      guard let old = change.from, let new = change.to else { continue }
      let shared = details[new.id.exact] ?? []
      var add = Adding(section: change.section, id: new.id)
      for field in [HistoryField.thumbnail, .images] {
        func value(_ item: StoreItem, _ digests: (PictureID) -> [UInt8]?) -> HistoryValue? {
          let own = (item.images + shared).filter {
            ($0.role == .thumbnail) == (field == .thumbnail)
          }
          return Self.value(own.map(\.url), digests)
        }
        add.field(field, value(old) { replaced[$0] ?? held[$0] }, value(new) { held[$0] })
      }
      result += add.changes
    }
    return result
  }

  /// The value that the history has for pictures.
  ///
  /// If all pictures are in the cache, it is a list of their digests. Otherwise it is a text with the digests of the
  /// cached pictures and the URLs of the others.
  private static func value(
    _ urls: [String],
    _ digests: (PictureID) -> [UInt8]?
  ) -> HistoryValue? {
    guard !urls.isEmpty else { return nil }
    let all = urls.map { digests(PictureID(url: $0)) }
    let held = all.compactMap(\.self)
    if held.count == all.count { return .digests(held.flatMap(\.self)) }
    return .text(zip(urls, all).map { $1.map(Hexadecimal.text) ?? $0 }.joined(separator: " "))
  }

  /// Finds the items in the sections that show any of the given pictures.
  private static func items(
    showing pictures: [PictureID: [UInt8]],
    _ sections: [RunSection],
    _ context: RunContext
  ) throws(LarderError) -> [ListingChange] {
    let index = context.index
    let details = try index.details(of: context.entry.id, showing: pictures.keys).map(\.id)
    var found: [ListingChange] = []
    for section in sections {
      guard let listing = section.listing else { continue }
      var places = Set(try index.items(of: listing, showing: pictures.keys).map(\.place))
      places.formUnion(try index.places(of: details, in: listing))
      for item in try index.items(listing: listing, at: places.sorted()).storeItems() {
        found.append(ListingChange(section: section.key, from: item, to: item))
      }
    }
    return found
  }
}
