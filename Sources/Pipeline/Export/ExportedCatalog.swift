import Cache
import Catalog

/// A catalog as it was when an export began.
struct ExportedCatalog {
  /// The catalog.
  let entry: CatalogEntry
  /// Its sections, in the catalog's order.
  let sections: [RunSection]

  private let reader: CatalogReader

  /// Reads which catalog it is, and what its last run left.
  init(_ reader: CatalogReader) throws(CacheError) {
    self.reader = reader
    entry = reader.catalog
    sections = try reader.sections()
  }

  /// Its listings, in the catalog's order, some at a time, each time the same.
  var batches: ItemBatches { ItemBatches(sections, of: reader, where: ItemQuery()) }
}
