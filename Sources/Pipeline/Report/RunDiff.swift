import Cache
import Catalog

/// What changed between two runs: the items that the lists show, and pictures with new bytes.
package struct RunDiff: Sendable {
  /// Added, removed and changed listings.
  package let listing: CatalogDiff
  /// The URLs of pictures whose bytes changed.
  package var pictures: [String] = []
  /// The pictures that a sweep removed in between.
  package var removed: [Tombstone] = []

  /// Compares the sections that two runs left.
  ///
  /// Reads only items that stand on both sides in different versions: of the others their ids say
  /// all there is to say. Held are some 40 bytes an item of the sections that differ.
  init(_ index: Index, before: [RunSection], after: [RunSection]) throws(CacheError) {
    let same = Set(
      before.filter { old in
        after.contains { $0.key == old.key && $0.listing == old.listing }
      }.map(\.key)
    )
    let old = try Side(before.filter { !same.contains($0.key) }, index)
    let new = try Side(after.filter { !same.contains($0.key) }, index)
    listing = try CatalogDiff(from: old.ids, to: new.ids) { before, after throws(CacheError) in
      let (first, second) = (old.version(before), new.version(after))
      guard first != second, let first = try index.storeItem(version: first),
        let second = try index.storeItem(version: second)
      else { return [] }
      return CatalogDiff.changes(from: first, to: second, in: new.ids[after.section].key)
    }
  }

  /// The sections of one run, as far as they may differ.
  private struct Side {
    /// The ids of each.
    private(set) var ids: [ListedIDs] = []
    /// Which version of its item each id stands for.
    private var versions: [[ItemVersion]] = []

    init(_ sections: [RunSection], _ index: Index) throws(CacheError) {
      for section in sections {
        let listing = try section.listing.map { id throws(CacheError) in
          try index.packedItems(listing: id)
        }
        versions.append(listing?.versions ?? [])
        ids.append(ListedIDs(key: section.key, ids: PackedIDs(zeroEnded: listing?.keys ?? [])))
      }
    }

    /// The version of an item.
    func version(_ place: ListedPlace) -> ItemVersion? {
      let versions = versions[place.section]
      // A damaged listing may name more items than it has.
      return place.index < versions.count ? versions[place.index] : nil
    }
  }
}

extension Index {
  /// One version of an item as the shop listed it; nil when there is none, or none that can be read.
  fileprivate func storeItem(version: ItemVersion?) throws(CacheError) -> StoreItem? {
    guard let version, let body = try item(version: version) else { return nil }
    return try? StoreItem(decoding: body)
  }
}
