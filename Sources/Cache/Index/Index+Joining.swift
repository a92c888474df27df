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
      var draft = ListingDraft()
      var seen: Set<ArraySlice<UInt8>> = []
      var repeats = 0
      for listing in listings {
        let page = try row(of: listing, db)
        let keys = page.separateKeys
        let repeated = Set(keys.indices.filter { seen.contains(keys[$0]) })
        try draft.append(page, leavingOut: repeated, db)
        repeats += repeated.count
        seen.formUnion(keys)
      }
      return (try draft.row.keep(in: db), repeats)
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
