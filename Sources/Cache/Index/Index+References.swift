import Transport
import FoundationEssentials
import GRDB

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
          guard items.contains(row[0]) else { continue }
          let packed = PackedNumbers.unpack((row[1] as Data?) ?? Data())
          referenced.formUnion(packed.map(PictureID.init(number:)))
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
      let marked = try Int64.fetchSet(db, sql: "SELECT picture FROM unreferenced")
      let known = try Int64.fetchSet(db, sql: "SELECT id FROM picture")
      for number in marked
      where !known.contains(number) || referenced.contains(PictureID(number: number)) {
        try db.execute(sql: "DELETE FROM unreferenced WHERE picture = ?", arguments: [number])
      }
      for number in known.subtracting(marked)
      where !referenced.contains(PictureID(number: number)) {
        try db.execute(
          sql: "INSERT INTO unreferenced(picture, since) VALUES (?, ?)",
          arguments: [number, now]
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
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT id, url, bytes, content, coalesce(checked, fetched, 0), since FROM picture \
          LEFT JOIN unreferenced ON unreferenced.picture = id WHERE sha256 IS NOT NULL
          """
      )
      var pictures: [GcPlan.Picture] = []
      while let row = try rows.next() {
        let id = PictureID(number: row[0])
        let since: UnixTime? = referenced.contains(id) ? nil : (row[5] as UnixTime?) ?? now
        pictures.append(
          GcPlan.Picture(
            id: id,
            url: row[1],
            bytes: row[2] ?? 0,
            content: row[3] ?? 0,
            used: row[4],
            unreferenced: since
          )
        )
      }
      return pictures
    }
  }
}
