import Cache
import Catalog

/// What changed between two runs: the items that the lists show, and pictures with new bytes.
package struct RunDiff: Sendable {
  /// Added, removed, moved and changed listings.
  package let listing: CatalogDiff
  /// The URLs of pictures whose bytes changed.
  package var pictures: [String] = []
  /// The pictures that a sweep removed in between.
  package var removed: [Tombstone] = []

  /// Compares the sections that two runs left.
  ///
  /// Reads only items that stand on both sides in different versions: of the others their ids say
  /// all there is to say, and reading ten thousand items takes longer than fetching a section.
  init(_ index: Index, before: [RunSection], after: [RunSection]) throws(CacheError) {
    guard before.contains(where: { $0.listing != nil }) else {
      listing = CatalogDiff(
        first: try after.map { section throws(CacheError) in
          (section.key, try section.listing.map(index.itemKeys) ?? [])
        }
      )
      return
    }
    let same = Set(
      before.filter { old in
        after.contains { $0.key == old.key && $0.listing == old.listing }
      }.map(\.key)
    )
    let old = try Side(before.filter { !same.contains($0.key) }, index)
    let new = try Side(after.filter { !same.contains($0.key) }, index)
    listing = CatalogDiff(
      from: try old.sections(comparedWith: new, index),
      to: try new.sections(comparedWith: old, index)
    )
  }

  /// The sections of one run, as far as they may differ.
  private struct Side {
    /// Where an item stands: the n-th of its id in a section.
    private struct Place: Hashable {
      var section: String
      var key: String
      var occurrence: Int
    }

    private var listings: [(section: RunSection, items: [(place: Place, version: ItemVersion)])] =
      []
    private var versions: [Place: ItemVersion] = [:]
    private var keys: Set<String> = []

    init(_ sections: [RunSection], _ index: Index) throws(CacheError) {
      for section in sections {
        var items: [(place: Place, version: ItemVersion)] = []
        var occurrences: [String: Int] = [:]
        var stored: [(version: ItemVersion, key: String)] = []
        if let listing = section.listing { stored = try index.itemVersions(listing: listing) }
        for (version, key) in stored {
          let place = Place(
            section: section.key,
            key: key,
            occurrence: occurrences[key, default: 0]
          )
          occurrences[key, default: 0] += 1
          items.append((place, version))
          versions[place] = version
          keys.insert(key)
        }
        listings.append((section, items))
      }
    }

    func sections(comparedWith other: Side, _ index: Index) throws(CacheError) -> [Section] {
      var sections: [Section] = []
      for (section, items) in listings {
        var read: [StoreItem] = []
        for (place, version) in items {
          let isCompared = other.keys.contains(place.key) && other.versions[place] != version
          let body = isCompared ? try index.item(version: version) : nil
          read.append(
            body.flatMap { try? StoreItem(decoding: $0) } ?? StoreItem(id: place.key, title: "")
          )
        }
        sections.append(
          Section(
            key: section.key,
            title: section.title,
            subtitle: section.subtitle,
            items: read
          )
        )
      }
      return sections
    }
  }
}
