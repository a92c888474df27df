import Cache

/// The items of some sections as they are shown, in the catalog's order, read a few at a time.
///
/// Each batch is read in a moment of its own: however slowly it is looked at, no sync waits for it.
package struct ItemBatches {
  private let reader: CatalogReader
  /// The sections that are not begun yet.
  private var sections: ArraySlice<RunSection>
  /// The section that is read now, with the versions that are left of it.
  private var current: (section: RunSection, listing: ListingID, rest: ArraySlice<ItemVersion>)?

  /// As many as are read at once: enough that the queries are no cost, few enough to come at once.
  private static let size = 512

  init(_ sections: [RunSection], of reader: CatalogReader) {
    self.reader = reader
    self.sections = sections[...]
  }

  /// The next items, all of one section; nil behind the last.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package mutating func next() throws(CacheError) -> [ShownItem]? {
    while true {
      if let (section, listing, rest) = current, !rest.isEmpty {
        current = (section, listing, rest.dropFirst(Self.size))
        return try reader.shown(rest.prefix(Self.size), of: listing, in: section)
      }
      guard let section = sections.popFirst() else { return nil }
      guard let listing = section.listing else { continue }
      current = (section, listing, try reader.index.versions(listing: listing)[...])
    }
  }
}
