import GRDB
import Transport

extension Index {
  /// The pictures that the catalogs in this cache refer to: those of the items that each one's last
  /// finished run shows, and of their details.
  package func referencedPictures() throws(CacheError) -> Set<PictureID> {
    var referenced: Set<PictureID> = []
    for catalog in try catalogs() {
      guard let run = try lastRun(catalog: catalog.id) else { continue }
      var items: Set<String> = []
      for section in try sections(run: run.id) {
        guard let listing = section.listing else { continue }
        referenced.formUnion(try pictures(listing: listing))
        items.formUnion(try itemKeys(listing: listing))
      }
      try read { db in
        let rows = try Row.fetchCursor(
          db,
          sql: "SELECT item, pictures FROM detail WHERE catalog = ? AND body IS NOT NULL",
          arguments: [catalog.id]
        )
        while let row = try rows.next() {
          guard items.contains(try row.decode(forColumn: "item")) else { continue }
          referenced.formUnion(try row.pictures("pictures"))
        }
      }
    }
    return referenced
  }

  /// Whether pictures are marked as nobody's.
  package func hasUnreferenced() throws(CacheError) -> Bool {
    try read { try Int.fetchOne($0, sql: "SELECT 1 FROM unreferenced LIMIT 1") != nil }
  }

  /// Marks the pictures that nobody refers to since now, and takes the mark from those that
  /// somebody refers to again; older marks stand.
  package func markUnreferenced(except referenced: Set<PictureID>, at now: UnixTime)
    throws(CacheError)
  {
    try write { db in
      let marked = try PictureID.fetchSet(db, sql: "SELECT picture FROM unreferenced")
      let known = try PictureID.fetchSet(db, sql: "SELECT id FROM picture")
      for picture in marked where !known.contains(picture) || referenced.contains(picture) {
        try db.execute(sql: "DELETE FROM unreferenced WHERE picture = ?", arguments: [picture])
      }
      for picture in known.subtracting(marked) where !referenced.contains(picture) {
        try db.execute(
          sql: "INSERT INTO unreferenced(picture, since) VALUES (?, ?)",
          arguments: [picture, now]
        )
      }
    }
  }

  /// Everything that is held, as a sweep judges it; `referenced` is what catalogs refer to, and what
  /// is not marked yet counts from `now`.
  package func held(referenced: Set<PictureID>, at now: UnixTime) throws(CacheError)
    -> [GcPlan.Picture]
  {
    try read { db in
      let rows = try RowReader(
        db,
        """
        SELECT id, url, bytes, content, coalesce(checked, fetched, 0), since FROM picture \
        LEFT JOIN unreferenced ON unreferenced.picture = id WHERE sha256 IS NOT NULL
        """
      )
      var pictures: [GcPlan.Picture] = []
      while try rows.next() {
        let id = PictureID(number: rows.number(0))
        pictures.append(
          GcPlan.Picture(
            id: id,
            url: rows.text(1) ?? "",
            bytes: rows.byteCount(2),
            content: rows.number(3),
            used: rows.time(4),
            unreferenced: referenced.contains(id) ? nil : rows.optionalTime(5) ?? now
          )
        )
      }
      return pictures
    }
  }
}
