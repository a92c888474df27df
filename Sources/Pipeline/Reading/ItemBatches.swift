import Base
import Cache
import Catalog

/// The items of some sections that a query asks for, as they are shown, read a few at a time.
///
/// Each batch is read in a moment of its own: however slowly it is looked at, no sync waits for it. In the
/// catalog's order it reads only the items that the answer needs. Another order takes all items once, holds only
/// their sort keys, and reads the shown ones again.
package struct ItemBatches {
  private let reader: CatalogReader
  private let query: ItemQuery
  /// The sections that are listed.
  private let all: [RunSection]
  /// Those that are not begun yet.
  private var sections: ArraySlice<RunSection>
  /// The section that is read now.
  private var current: Reading?
  /// How many items may still be shown; nil for all.
  private var left: Int?
  /// Which items are left in another order than the catalog's; nil before they are read.
  private var sorted: ArraySlice<(key: ItemSort.Key, element: Place)>?

  /// As many as are read at once: enough that the queries are no cost, few enough to come at once.
  private static let size = 512

  init(_ sections: [RunSection], of reader: CatalogReader, where query: ItemQuery) {
    self.reader = reader
    self.query = query
    all = sections
    self.sections = sections[...]
    left = query.readLimit
  }

  /// The next items, of one section unless they are sorted; nil after the last.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  package mutating func next() throws(LarderError) -> [ShownItem]? {
    guard let order = query.order else {
      guard let items = try admitted() else { return nil }
      return try reader.shown(items)
    }
    if sorted == nil { sorted = try allSorted(order) }
    let batch = (sorted ?? []).prefix(Self.size)
    sorted = sorted?.dropFirst(Self.size)
    let items = try shown(batch)
    return items.isEmpty ? nil : items
  }

  /// Items from a place on, and how many the query admits in all; asked before any batch.
  ///
  /// - Parameters:
  ///   - offset: How many items to skip.
  ///   - count: The most items.
  /// - Returns: The items, and the number of all.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package mutating func page(
    from offset: Int,
    count: Int
  ) throws(LarderError) -> (items: [ShownItem], total: Int) {
    if let order = query.order {
      let places = try allSorted(order)
      return (try shown(places.dropFirst(offset).prefix(count)), places.count)
    }
    var (items, total) = ([ListedItem](), 0)
    while let some = try admitted() {
      items += some.dropFirst(max(0, offset - total)).prefix(count - items.count)
      total += some.count
      guard !query.isFiltering, items.count == count else { continue }
      total = 0
      for section in all { total += try reader.itemCount(of: section) }
      break
    }
    return (try reader.shown(items), total)
  }

  /// Items by where they are to be found.
  private func shown(
    _ places: ArraySlice<(key: ItemSort.Key, element: Place)>
  ) throws(LarderError) -> [ShownItem] {
    var (batch, items) = (places, [ListedItem]())
    while let number = batch.first?.element.section {
      let together = batch.prefix { $0.element.section == number }
      batch = batch.dropFirst(together.count)
      let section = all[Int(number)]
      guard let listing = section.listing else { continue }
      items += try reader.items(together.map(\.element.version), of: listing)
        .map { ListedItem(item: $0, section: section) }
    }
    return try reader.shown(items)
  }

  /// Where an item is to be found.
  private struct Place {
    let version: ItemVersion
    /// The number of its section.
    let section: Int32
  }

  private mutating func allSorted(
    _ order: ItemSort
  ) throws(LarderError) -> ArraySlice<(key: ItemSort.Key, element: Place)> {
    var places: [(key: ItemSort.Key, element: Place)] = []
    while let versions = try versions() {
      let items = try reader.items(versions.some, of: versions.listing)
      for (version, item) in zip(versions.some, items) where query.admits(item) {
        let place = Place(version: version, section: Int32(versions.number))
        places.append((order.key(of: item), place))
      }
    }
    return order.sorted(places).prefix(query.limit ?? .max)
  }

  /// The next items that the query admits, in the catalog's order; nil after the last.
  private mutating func admitted() throws(LarderError) -> [ListedItem]? {
    while left != 0, let versions = try versions() {
      var items = try reader.items(versions.some, of: versions.listing)
        .filter(query.admits).map { ListedItem(item: $0, section: all[versions.number]) }
      if let left { items = Array(items.prefix(left)) }
      left = left.map { $0 - items.count }
      if !items.isEmpty { return items }
    }
    return nil
  }

  /// The next versions of one listing; nil after the last.
  private mutating func versions() throws(LarderError)
    -> (some: ArraySlice<ItemVersion>, listing: ListingID, number: Int)?
  {
    while true {
      if let reading = current, !reading.rest.isEmpty {
        let count = query.isFiltering ? Self.size : min(Self.size, left ?? Self.size)
        current?.rest = reading.rest.dropFirst(count)
        return (reading.rest.prefix(count), reading.listing, reading.number)
      }
      if try current?.readOn(in: reader.index) == true { continue }
      let number = sections.startIndex
      guard let section = sections.popFirst() else { return nil }
      current = section.listing.map { Reading(number: number, listing: $0) }
    }
  }

  /// How far the versions of a section are read.
  private struct Reading {
    let number: Int
    let listing: ListingID
    /// The versions that are read and not yet taken.
    var rest: ArraySlice<ItemVersion> = []
    /// How many are read.
    private var count = 0

    init(number: Int, listing: ListingID) {
      (self.number, self.listing) = (number, listing)
    }

    /// Reads on; false after the last.
    ///
    /// Few at first, because many readers need no more, then seven times the number read so far: the list is
    /// walked from its beginning each time.
    mutating func readOn(in index: Index) throws(LarderError) -> Bool {
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
