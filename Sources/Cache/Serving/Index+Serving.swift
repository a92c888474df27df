import GRDB

extension Index {
  /// What is known of the picture that belongs at a path in the cache; nil when no row says anything.
  ///
  /// While its file lies where an older larder put it, either path finds it.
  package func picture(at path: String) throws(CacheError) -> PictureEntry? {
    try read { db in
      let row: RowReader
      if let id = PictureName.id(at: path) {
        row = try RowReader(db, Self.select + " WHERE id = ?")
        row.restart(id.digest)
      } else {
        row = try RowReader(db, Self.select + " WHERE older = ?")
        row.restart(path)
      }
      guard try row.next() else { return nil }
      let entry = PictureEntry(row)
      return path == entry.older || path == entry.ownName.path
        ? entry : nil
    }
  }

  /// The ids of items some version of which, or whose detail, refers to the picture at a path in the cache.
  ///
  /// Looks through the packed identities of every item's pictures: a millisecond for each thousand items, and nothing
  /// is held.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - catalog: The catalog whose details are looked at.
  /// - Returns: At most 64 ids of either kind.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func items(
    mayName path: String,
    catalog: CatalogID
  ) throws(CacheError) -> [String] {
    guard let id = PictureName.id(at: path) else { return [] }
    return try read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT * FROM (SELECT DISTINCT key FROM item WHERE instr(pictures, ?1) > 0 LIMIT 64) \
          UNION SELECT * FROM (SELECT item FROM detail \
          WHERE catalog = ?2 AND instr(pictures, ?1) > 0 LIMIT 64)
          """,
        arguments: [id, catalog]
      )
    }
  }
}
