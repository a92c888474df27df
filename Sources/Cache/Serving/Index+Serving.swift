import GRDB

extension Index {
  /// What is known of the picture that belongs at a path in the cache; nil when no row says anything.
  package func picture(at path: String) throws(CacheError) -> PictureEntry? {
    guard let lowest = PictureName.lowestID(at: path) else { return nil }
    return try read { db in
      let rows = try RowReader(db, Self.select + Self.unnamed)
      rows.restart(lowest.number)
      while try rows.next() {
        let entry = PictureEntry(rows)
        if entry.name.path == path { return entry }
      }
      return nil
    }
  }

  private static let unnamed =
    " WHERE id BETWEEN ?1 AND ?1 + \(Int64(1) << PictureName.unnamedBits - 1)"

  /// The ids of items some version of which, or whose detail, may refer to the picture at a path in the cache.
  ///
  /// Looks through the packed identities of every item's pictures: a millisecond for each thousand items, and nothing
  /// is held.
  ///
  /// - Parameters:
  ///   - path: The path, which says all but the lowest 16 bits of the identity.
  ///   - catalog: The catalog whose details are looked at.
  /// - Returns: Some ids; few, for the bits that a path says are 47.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func items(
    mayName path: String,
    catalog: CatalogID
  ) throws(CacheError) -> [String] {
    guard let lowest = PictureName.lowestID(at: path) else { return [] }
    // Little-endian, eight bytes an identity: the two lowest bytes are those that the path does not say.
    let known = Array(PackedNumbers.pack([lowest.number]).dropFirst(PictureName.unnamedBits / 8))
    return try read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT * FROM (SELECT DISTINCT key FROM item WHERE instr(pictures, ?1) > 0 LIMIT 64) \
          UNION SELECT * FROM (SELECT item FROM detail \
          WHERE catalog = ?2 AND instr(pictures, ?1) > 0 LIMIT 64)
          """,
        arguments: [known.databaseValue, catalog]
      )
    }
  }
}
