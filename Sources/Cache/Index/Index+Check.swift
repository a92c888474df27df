import GRDB

extension Index {
  /// The most items that a run checks.
  ///
  /// All of 10,000 items took a third of an unattended run's processor time.
  package static let checkedAtOnce = 1 << 12

  /// Demands that listings can be shown: reads their items and the rows of their pictures as `list` does.
  ///
  /// SQLite finds damage only in a page that is read, and none within a value. Here each item is compared with the
  /// digest that it is found by. Of more than ``checkedAtOnce`` items a slice is checked.
  ///
  /// - Parameters:
  ///   - listings: The listings.
  ///   - slice: Which slice of a long catalog; nil for all items. Each run has the next, so that in turn all are checked.
  /// - Throws: ``CacheError``, with code `damaged` when they cannot be shown.
  package func checkListings(
    _ listings: [ListingID],
    slice: Int64? = nil
  ) throws(CacheError) {
    var versions: [ItemVersion] = []
    for listing in listings {
      let own = try checkedVersions(of: listing)
      versions += own
    }
    if let slice, versions.count > Self.checkedAtOnce {
      let slices = (versions.count - 1) / Self.checkedAtOnce + 1
      let start = Int(slice % Int64(slices)) * Self.checkedAtOnce
      versions = Array(versions[start...].prefix(Self.checkedAtOnce))
    }
    // In the order of the table's index: neighbours share its pages.
    versions.sort { $0.digest < $1.digest }
    var rest = versions[...]
    while !rest.isEmpty {
      let batch = rest.prefix(512)
      rest = rest.dropFirst(batch.count)
      try read { db in try check(batch, db) }
    }
  }

  /// The versions of a listing's items, compared with the digest that the listing is found by.
  private func checkedVersions(of listing: ListingID) throws(CacheError) -> [ItemVersion] {
    try read { db in
      let row = try RowReader(db, "SELECT items, keys, digest FROM listing WHERE id = ?")
      row.restart(listing.rawValue)
      guard try row.next(), let items = row.bytes(0), row.keys(2) == [IdentityDigest(of: items)]
      else { throw damaged("listing \(listing.rawValue)") }
      let versions = row.keys(0).map(ItemVersion.init)
      guard row.withBytes(1, { $0.count { $0 == 0 } }) == versions.count else {
        throw damaged("listing \(listing.rawValue)")
      }
      return versions
    }
  }

  private func check(_ versions: ArraySlice<ItemVersion>, _ db: Database) throws {
    let item = try RowReader(db, "SELECT body, pictures FROM item WHERE id = ?")
    var pictures: Set<IdentityDigest> = []
    for version in versions {
      item.restart(version.digest)
      guard try item.next(), item.withBytes(0, { IdentityDigest(of: $0) }) == version.digest else {
        throw damaged("an item")
      }
      pictures.formUnion(item.keys(1))
    }
    let picture = try RowReader(db, "SELECT failing_since FROM picture WHERE id = ?")
    for id in pictures.sorted() {
      picture.restart(id)
      // The last column: SQLite walks the whole row for it.
      if try picture.next() { _ = picture.optionalNumber(0) }
    }
  }

  private func damaged(_ what: String) -> CacheError {
    CacheError(
      .damaged,
      "cannot read \(path): \(what) is not as it was written",
      remedy: .remake,
      thing: path
    )
  }

  /// Demands that every catalog can be shown as its last run left it; see ``checkListings(_:slice:)``.
  ///
  /// - Throws: ``CacheError``, with code `damaged` when one cannot.
  package func checkCatalogs() throws(CacheError) {
    for catalog in try catalogs() {
      guard let run = try lastRun(catalog: catalog.id) else { continue }
      try checkListings(try sections(run: run.id).compactMap(\.listing))
    }
  }
}
