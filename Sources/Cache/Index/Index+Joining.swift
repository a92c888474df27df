import GRDB

extension Index {
  /// Joins listings, one behind the other, and says by which number to find what they make together.
  ///
  /// Reads each listing once and writes one row, whatever their number. Items are not read, unless an
  /// item stands in an earlier listing already: it is left out then, for feeds move items from page to
  /// page while they are read.
  ///
  /// - Parameter listings: the pages' listings, in order.
  /// - Returns: The joined listing, and how many items were left out as repeats.
  /// - Throws: ``CacheError``, also when one of the listings is not in the index.
  package func joinListings(
    _ listings: [ListingID]
  ) throws(CacheError) -> (listing: ListingID, repeats: Int) {
    if let only = listings.first, listings.count == 1 { return (only, 0) }
    return try write { db in
      var items: [UInt8] = []
      var keys: [UInt8] = []
      var pictures: [UInt8] = []
      var seen: Set<ArraySlice<UInt8>> = []
      var repeats = 0
      for listing in listings {
        let page = try row(of: listing, db)
        let pageKeys = page.separateKeys
        let isRepeated = pageKeys.map { seen.contains($0) }
        if isRepeated.contains(true) {
          let item = try RowReader(db, "SELECT pictures FROM item WHERE id = ?")
          let versions = page.items.withUnsafeBytes { IdentityDigest.unpack($0) }
          for (place, isRepeated) in isRepeated.enumerated() {
            guard !isRepeated else {
              repeats += 1
              continue
            }
            items += versions[place].bytes
            keys += pageKeys[place] + [0]
            item.restart(versions[place])
            if try item.next() { pictures += item.bytes(0) ?? [] }
          }
        } else {
          items += page.items
          keys += page.keys
          pictures += page.pictures
        }
        seen.formUnion(pageKeys)
      }
      let joined = ListingRow(items: items, keys: keys, pictures: pictures)
      return (try joined.keep(in: db), repeats)
    }
  }

  private func row(of listing: ListingID, _ db: Database) throws -> ListingRow {
    let row = try RowReader(db, "SELECT items, keys, pictures FROM listing WHERE id = ?")
    row.restart(listing.rawValue)
    guard try row.next() else {
      throw CacheError(
        .damaged,
        "cannot read listing \(listing.rawValue) in \(path): it is gone",
        remedy: .repair,
        thing: path
      )
    }
    return ListingRow(
      items: row.bytes(0) ?? [],
      keys: row.bytes(1) ?? [],
      pictures: row.bytes(2) ?? []
    )
  }
}
