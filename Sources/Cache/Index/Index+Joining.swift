import FoundationEssentials
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
        let page = try ListingRow(listing, db, path: path)
        let isRepeated = page.keys.map { seen.contains($0) }
        if isRepeated.contains(true) {
          let select = try db.cachedStatement(sql: "SELECT pictures FROM item WHERE id = ?")
          for (place, isRepeated) in isRepeated.enumerated() {
            guard !isRepeated else {
              repeats += 1
              continue
            }
            items += page.items[place * 8..<place * 8 + 8]
            keys += page.keys[place] + [0]
            let id = PackedNumbers.unpack(Data(page.items[place * 8..<place * 8 + 8]))
            pictures += try Data.fetchOne(select, arguments: [id.first]) ?? Data()
          }
        } else {
          items += page.items
          for key in page.keys { keys += key + [0] }
          pictures += page.pictures
        }
        seen.formUnion(page.keys)
      }
      let listing = ListingID(rawValue: ContentDigest.number(of: items))
      try db.execute(
        sql: "INSERT OR IGNORE INTO listing(id, items, keys, pictures) VALUES (?,?,?,?)",
        arguments: [listing, Data(items), Data(keys), Data(pictures)]
      )
      return (listing, repeats)
    }
  }
}

/// A listing as its row has it: packed, and its keys apart.
private struct ListingRow {
  let items: [UInt8]
  let keys: [ArraySlice<UInt8>]
  let pictures: [UInt8]

  init(_ listing: ListingID, _ db: Database, path: String) throws {
    let select = try db.cachedStatement(
      sql: "SELECT items, keys, pictures FROM listing WHERE id = ?"
    )
    guard let row = try Row.fetchOne(select, arguments: [listing]) else {
      throw CacheError(
        .damaged,
        "cannot read listing \(listing) in \(path): it is gone",
        remedy: .repair,
        thing: path
      )
    }
    items = [UInt8](row[0] as Data)
    keys = [UInt8](row[1] as Data).split(separator: 0, omittingEmptySubsequences: false).dropLast()
    pictures = [UInt8](row[2] as Data)
  }
}
