import Catalog

extension CatalogDiff {
  /// Compares two states of a catalog in memory, as the index compares two runs.
  ///
  /// A section lists an item at most once.
  package init(from old: [Catalog.Section], to new: [Catalog.Section]) {
    let (before, after) = (Self.listings(of: old), Self.listings(of: new))
    let known = Dictionary(uniqueKeysWithValues: before)
    let listed = Set(after.map(\.0))
    var comparison = Comparison<StoreItem>()
    for (listing, item) in before where !listed.contains(listing) {
      comparison.depart(listing, item)
    }
    for (listing, item) in after {
      guard let before = known[listing] ?? comparison.arrive(listing)?.item else { continue }
      comparison.change(Self.changes(from: before, to: item, in: listing.section))
    }
    self = comparison.diff
  }

  private static func listings(of sections: [Catalog.Section]) -> [(Listing, StoreItem)] {
    sections.flatMap { section in
      section.items.map { (Listing(section: section.key, id: $0.id), $0) }
    }
  }
}
