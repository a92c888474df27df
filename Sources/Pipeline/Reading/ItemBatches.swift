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
  /// The section that is being read: its position in `all`, its listing, and the place of the next item.
  private var current: (number: Int, listing: ListingID, next: Int)?
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
      items += try reader.index.items(listing: listing, at: together.map(\.element.place))
        .storeItems().map { (item: $0, section: section) }
    }
    return try reader.shown(items)
  }

  /// The place of an item.
  private struct Place {
    /// The place in the listing of its section.
    let place: Int
    /// The position of its section in `all`.
    let section: Int32
  }

  private mutating func allSorted(
    _ order: ItemSort
  ) throws(LarderError) -> ArraySlice<(key: ItemSort.Key, element: Place)> {
    var places: [(key: ItemSort.Key, element: Place)] = []
    while let batch = try batch() {
      for (place, item) in zip(batch.first..., batch.items) where query.admits(item) {
        let place = Place(place: place, section: Int32(batch.number))
        places.append((order.key(of: item), place))
      }
    }
    return places.sorted { $0.key < $1.key }.prefix(query.limit ?? .max)
  }

  /// Reads the next matching items in the catalog's order; nil after the last ones.
  private mutating func admitted() throws(LarderError) -> [ListedItem]? {
    while left != 0, let batch = try batch() {
      var items = batch.items.filter(query.admits)
        .map { (item: $0, section: all[batch.number]) }
      if let left { items = Array(items.prefix(left)) }
      left = left.map { $0 - items.count }
      if !items.isEmpty { return items }
    }
    return nil
  }

  /// Reads the next items of one section; nil after the last ones.
  private mutating func batch() throws(LarderError)
    -> (items: [StoreItem], first: Int, number: Int)?
  {
    while true {
      guard let reading = current else {
        let number = sections.startIndex
        guard let section = sections.popFirst() else { return nil }
        current = section.listing.map { (number, $0, 0) }
        continue
      }
      let count = query.isFiltering ? Self.size : min(Self.size, left ?? Self.size)
      let items = try reader.index.items(
        listing: reading.listing,
        from: reading.next,
        count: count
      )
      current?.next += items.count
      if items.count < count { current = nil }
      if !items.isEmpty { return (try items.storeItems(), reading.next, reading.number) }
    }
  }
}

/// An item with the section that lists it.
package typealias ListedItem = (item: StoreItem, section: RunSection)
