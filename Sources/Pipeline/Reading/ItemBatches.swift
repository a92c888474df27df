import Base
import Cache
import Catalog

/// The items of some sections that match a query, in batches.
///
/// A section is a list of items. The items come with their pictures and their details, which have data beyond their
/// entries in the sections.
///
/// Each batch is read in a separate transaction, so a slow caller does not block a sync. If the items are in the
/// catalog's order, only the needed ones are read. If they are sorted otherwise, all items are read once for their sort
/// keys, and the returned ones are read again.
package struct ItemBatches {
  private let reader: CatalogReader
  private let query: ItemQuery
  /// The sections to iterate over.
  private let all: [RunSection]
  /// The sections that are not yet begun.
  private var sections: ArraySlice<RunSection>
  private var current: Reading?
  /// The number of items that are still to be returned at most; nil if there is no limit.
  private var left: Int?
  /// The places of the items that are not yet returned, if the query sorts them; nil before the first batch.
  private var sorted: ArraySlice<(key: ItemSort.Key, element: Place)>?

  /// The number of items in a batch.
  ///
  /// A larger batch would delay the first result, and smaller ones would take longer in total.
  private static let size = 512

  init(_ sections: [RunSection], of reader: CatalogReader, where query: ItemQuery) {
    self.reader = reader
    self.query = query
    all = sections
    self.sections = sections[...]
    left = query.readLimit
  }

  /// Returns the next batch; nil after the last one.
  ///
  /// If the query does not sort, all items of a batch are from one section.
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

  /// Returns a page of items, and the total number of matches.
  ///
  /// Do not call it after ``next()``.
  ///
  /// - Parameters:
  ///   - offset: The number of items to skip.
  ///   - count: The maximum number of items to return.
  /// - Returns: The items, and the total.
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

  /// Reads items by their places.
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
        .map { (item: $0, section: section) }
    }
    return try reader.shown(items)
  }

  /// The place of an item in the index.
  private struct Place {
    let version: ItemVersion
    /// The position of its section in `all`.
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

  /// Reads the next matching items in the catalog's order; nil after the last ones.
  private mutating func admitted() throws(LarderError) -> [ListedItem]? {
    while left != 0, let versions = try versions() {
      var items = try reader.items(versions.some, of: versions.listing)
        .filter(query.admits).map { (item: $0, section: all[versions.number]) }
      if let left { items = Array(items.prefix(left)) }
      left = left.map { $0 - items.count }
      if !items.isEmpty { return items }
    }
    return nil
  }

  /// Returns the next item versions of one section; nil after the last ones.
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

  /// The progress of reading a section's item versions.
  private struct Reading {
    let number: Int
    let listing: ListingID
    /// The versions that were read and not yet used.
    var rest: ArraySlice<ItemVersion> = []
    /// The number of versions read so far.
    private var count = 0

    init(number: Int, listing: ListingID) {
      (self.number, self.listing) = (number, listing)
    }

    /// Reads more versions.
    ///
    /// Returns false after the last one.
    ///
    /// The first read is small, because many callers need no more. Each further read is seven times as large as all
    /// reads before it together, because each read scans the section from its beginning.
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
package typealias ListedItem = (item: StoreItem, section: RunSection)
