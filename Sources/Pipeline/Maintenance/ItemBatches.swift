import Cache
import Catalog

/// The items of some sections that a query asks for, as they are shown, read a few at a time.
///
/// Each batch is read in a moment of its own: however slowly it is looked at, no sync waits for it. In the
/// catalog's order no more is read than the answer needs; another order takes all items, but only what is
/// shown with its detail and pictures.
package struct ItemBatches {
  private let reader: CatalogReader
  private let query: ItemQuery
  /// The sections that are not begun yet.
  private var sections: ArraySlice<RunSection>
  /// The section that is read now.
  private var current: Reading?
  /// How many items may still be shown; nil for all.
  private var left: Int?
  /// What is left of the items in another order than the catalog's; nil before they are read.
  private var sorted: ArraySlice<ListedItem>?

  /// As many as are read at once: enough that the queries are no cost, few enough to come at once.
  private static let size = 512

  init(_ sections: [RunSection], of reader: CatalogReader, where query: ItemQuery) {
    self.reader = reader
    self.query = query
    self.sections = sections[...]
    left = query.readLimit
  }

  /// The next items, of one section unless they are sorted; nil behind the last.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package mutating func next() throws(CacheError) -> [ShownItem]? {
    guard query.order != nil else {
      guard let items = try admitted() else { return nil }
      return try reader.shown(items)
    }
    if sorted == nil { sorted = try allSorted()[...] }
    let rest = sorted ?? []
    sorted = rest.dropFirst(Self.size)
    return rest.isEmpty ? nil : try reader.shown(Array(rest.prefix(Self.size)))
  }

  private mutating func allSorted() throws(CacheError) -> [ListedItem] {
    var items: [ListedItem] = []
    while let batch = try admitted() { items += batch }
    return query.arranged(items, by: \.item)
  }

  /// The next items that the query admits, in the catalog's order; nil behind the last.
  private mutating func admitted() throws(CacheError) -> [ListedItem]? {
    while left != 0, let versions = try versions() {
      var items = try reader.items(versions.some, of: versions.listing)
        .filter(query.admits).map { ListedItem(item: $0, section: versions.section) }
      if let left { items = Array(items.prefix(left)) }
      left = left.map { $0 - items.count }
      if !items.isEmpty { return items }
    }
    return nil
  }

  /// The next versions of one listing; nil behind the last.
  private mutating func versions() throws(CacheError)
    -> (some: ArraySlice<ItemVersion>, listing: ListingID, section: RunSection)?
  {
    while true {
      if let reading = current, !reading.rest.isEmpty {
        let count = query.isFiltering ? Self.size : min(Self.size, left ?? Self.size)
        current?.rest = reading.rest.dropFirst(count)
        return (reading.rest.prefix(count), reading.listing, reading.section)
      }
      if try current?.readOn(in: reader.index) == true { continue }
      guard let section = sections.popFirst() else { return nil }
      current = section.listing.map { Reading(section: section, listing: $0) }
    }
  }

  /// How far the versions of a section are read.
  private struct Reading {
    let section: RunSection
    let listing: ListingID
    /// The versions that are read and not yet taken.
    var rest: ArraySlice<ItemVersion> = []
    /// How many are read.
    private var count = 0

    init(section: RunSection, listing: ListingID) {
      (self.section, self.listing) = (section, listing)
    }

    /// Reads on; false behind the last.
    ///
    /// Few at first, for many readers need no more, then seven times what is read so far: the list is walked from
    /// its beginning each time.
    mutating func readOn(in index: Index) throws(CacheError) -> Bool {
      rest = try index.versions(
        listing: listing,
        from: count,
        count: max(ItemBatches.size, 7 * count)
      )[...]
      count += rest.count
      return !rest.isEmpty
    }
  }
}

/// An item with the section that lists it.
struct ListedItem {
  let item: StoreItem
  let section: RunSection
}
