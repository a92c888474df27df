import Cache
import Catalog

/// What changed between two runs: the items that the lists show, and pictures with new bytes.
public struct RunDiff: Sendable {
  /// Added, removed, moved and changed listings.
  public let listing: CatalogDiff
  /// The URLs of pictures whose bytes changed.
  public var pictures: [String] = []

  /// Compares the sections that two runs left. Sections that did not change are not read.
  init(_ index: Index, before: [RunSection], after: [RunSection]) throws(CacheError) {
    let same = Set(
      before.filter { old in
        after.contains { $0.key == old.key && $0.listing == old.listing }
      }.map(\.key)
    )
    listing = CatalogDiff(
      from: try Self.read(before.filter { !same.contains($0.key) }, index),
      to: try Self.read(after.filter { !same.contains($0.key) }, index)
    )
  }

  private static func read(_ sections: [RunSection], _ index: Index)
    throws(CacheError) -> [Section]
  {
    var read: [Section] = []
    for section in sections {
      let items = try section.listing.map { id throws(CacheError) in
        try index.storeItems(listing: id)
      }
      read.append(
        Section(
          key: section.key,
          title: section.title,
          subtitle: section.subtitle,
          items: items ?? []
        )
      )
    }
    return read
  }
}
