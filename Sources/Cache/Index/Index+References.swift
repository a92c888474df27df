import GRDB
import Transport

extension Index {
  /// The pictures that the catalogs in this cache refer to: those of the items that each one's last
  /// finished run shows, and of their details.
  package func referencedPictures() throws(CacheError) -> Set<PictureID> {
    var referenced: Set<PictureID> = []
    try forEachReferenced { referenced.formUnion($0) }
    return referenced
  }

  /// The same, however many they are.
  package func manyReferencedPictures() throws(CacheError) -> PictureSet {
    var referenced = PictureSet()
    try forEachReferenced { _ = referenced.insert($0) }
    if let failure = referenced.failure { throw failure }
    return referenced
  }

  private func forEachReferenced(_ body: ([PictureID]) -> Void) throws(CacheError) {
    for catalog in try catalogs() {
      guard let run = try lastRun(catalog: catalog.id) else { continue }
      var items: Set<String> = []
      for section in try sections(run: run.id) {
        guard let listing = section.listing else { continue }
        try forEachPictureBatch(of: listing) { body($0) }
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
          body(try row.pictures("pictures"))
        }
      }
    }
  }

  /// Whether pictures are marked as nobody's.
  package func hasUnreferenced() throws(CacheError) -> Bool {
    try read { try Int.fetchOne($0, sql: "SELECT 1 FROM unreferenced LIMIT 1") != nil }
  }

  /// Marks the pictures that nobody refers to since now, and takes the mark from those that
  /// somebody refers to again; older marks stand.
  ///
  /// - Parameters:
  ///   - referenced: The pictures that somebody refers to.
  ///   - now: The moment.
  /// - Throws: ``CacheError`` when the index cannot be written.
  package func markUnreferenced(
    except referenced: consuming PictureSet,
    at now: UnixTime
  ) throws(CacheError) {
    var referenced = referenced
    try write { db in
      try db.execute(
        sql: "DELETE FROM unreferenced WHERE picture NOT IN (SELECT id FROM picture)"
      )
      let rows = try RowReader(
        db,
        """
        SELECT id, unreferenced.picture FROM picture \
        LEFT JOIN unreferenced ON unreferenced.picture = id ORDER BY id
        """
      )
      var batch: [(id: PictureID, isMarked: Bool)] = []
      // What changes lies behind the row that is read next.
      func mark() throws {
        let members = referenced.members(batch.map(\.id))
        if let failure = referenced.failure { throw failure }
        for (id, isMarked) in batch where isMarked == members.contains(id) {
          if isMarked {
            try db.execute(sql: "DELETE FROM unreferenced WHERE picture = ?", arguments: [id])
          } else {
            try db.execute(
              sql: "INSERT INTO unreferenced(picture, since) VALUES (?, ?)",
              arguments: [id, now]
            )
          }
        }
        batch.removeAll(keepingCapacity: true)
      }
      while try rows.next() {
        batch.append((PictureID(rows.key(0)), rows.bytes(1) != nil))
        if batch.count == Self.idBatch { try mark() }
      }
      try mark()
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
        SELECT id, coalesce(identity, url), bytes, content, coalesce(checked, fetched, 0), since FROM picture \
        LEFT JOIN unreferenced ON unreferenced.picture = id WHERE sha256 IS NOT NULL
        """
      )
      var pictures: [GcPlan.Picture] = []
      while try rows.next() {
        let id = PictureID(rows.key(0))
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
