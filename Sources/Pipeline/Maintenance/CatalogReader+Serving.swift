import Cache
import Catalog
import Transport

// What a server asks of a catalog, a path or a page at a time.
extension CatalogReader {
  /// What is known of the picture that belongs at a path in the cache; nil when no row says anything.
  package func picture(at path: String) throws(CacheError) -> PictureEntry? {
    try index.picture(at: path)
  }

  /// The URL of the picture that the catalog names and that belongs at a path in the cache; nil when it names none.
  package func url(ofPictureAt path: String) throws(CacheError) -> String? {
    let ids = try index.items(mayName: path, catalog: catalog.id)
    guard !ids.isEmpty else { return nil }
    for section in try sections() {
      guard let listing = section.listing else { continue }
      for id in ids {
        let versions = try index.versions(of: id, listing: listing)
        let listed = try items(versions, of: listing).map {
          ListedItem(item: $0, section: section)
        }
        for image in try shown(listed).flatMap(\.images) where image.name.path == path {
          return image.url
        }
      }
    }
    return nil
  }

  /// What is known of a picture's square.
  package func square(of picture: PictureEntry, side: Int) throws(CacheError) -> SquareEntry? {
    try index.square(of: picture.id, side: side)
  }

  /// How many items a section lists.
  package func itemCount(of section: RunSection) throws(CacheError) -> Int {
    guard let listing = section.listing else { return 0 }
    return try index.itemCount(listing: listing)
  }

  /// Some of a section's items in the catalog's order.
  ///
  /// - Parameters:
  ///   - section: One of ``sections()``.
  ///   - first: How many to pass over, without reading them.
  ///   - count: How many to read at most.
  /// - Returns: The items.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func items(
    of section: RunSection,
    from first: Int,
    count: Int
  ) throws(CacheError) -> [ShownItem] {
    guard let listing = section.listing, count > 0 else { return [] }
    let versions = try index.versions(listing: listing, from: first, count: count)
    return try shown(
      try items(versions, of: listing).map { ListedItem(item: $0, section: section) }
    )
  }
}

extension ShownImage {
  /// Where it lies or would lie in the cache.
  package var name: PictureName { PictureName(url: url, id: PictureID(url: url)) }
}
