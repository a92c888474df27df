import Cache
import Catalog
import Transport

/// The catalog as something keeps it at hand: its items whole, details and pictures when they are shown.
extension CatalogReader {
  /// The items of a section in its order, without details.
  package func storeItems(in section: RunSection) throws(CacheError) -> [StoreItem] {
    guard let listing = section.listing else { return [] }
    var items: [StoreItem] = []
    try index.forEachBatch(of: listing) { records throws(CacheError) in
      for record in records { items.append(try record.storeItem()) }
    }
    return items
  }

  /// Items as they are shown, with their details and the pictures of this moment.
  package func shown(
    _ items: some Sequence<(item: StoreItem, section: RunSection)>
  ) throws(CacheError) -> [ShownItem] {
    try shown(items.map { ListedItem(item: $0.item, section: $0.section) })
  }

  /// When the newest run ended of which a section was good; nil when none is known.
  package func lastGood(_ key: String) throws(CacheError) -> UnixTime? {
    for run in try index.runs(catalog: catalog.id, finishedOnly: true, limit: 200) {
      let section = try index.sections(run: run.id).first { $0.key == key }
      if let section, section.listing != nil, !section.isStale, section.source != "failed" {
        return run.finished
      }
    }
    return nil
  }
}
