import Cache
import Catalog

/// A catalog as it was when an export began.
struct ExportedCatalog {
  /// The catalog.
  let entry: CatalogEntry
  /// Its sections, in the catalog's order.
  let sections: [RunSection]
  /// Its listings, in the catalog's order.
  let items: [ShownItem]

  /// Reads a catalog.
  init(_ reader: CatalogReader) throws(CacheError) {
    entry = reader.catalog
    sections = try reader.sections()
    items = try reader.list()
  }

  /// `catalog.json`: the catalog, or an array of them when there are several.
  ///
  /// - Parameters:
  ///   - catalogs: the catalogs.
  ///   - paths: where pictures lie in the folder, by URL.
  ///   - missing: the URLs of those that lie nowhere.
  /// - Returns: The document, with a line feed at its end.
  static func document(
    _ catalogs: [ExportedCatalog],
    _ paths: [String: String],
    missing: Set<String>
  ) -> String {
    let documents = catalogs.map { catalog in
      let items = catalog.items.map { item in
        var item = item
        item.images = item.images.map { image in
          var image = image
          image.path = missing.contains(image.url) ? nil : paths[image.url]
          return image
        }
        return item
      }
      return CatalogDocument(catalog.entry, sections: catalog.sections, items: items)
    }
    let bytes = documents.count == 1 ? try? documents[0].jsonLine() : try? documents.jsonLine()
    return String(decoding: bytes ?? [], as: UTF8.self) + "\n"
  }
}
