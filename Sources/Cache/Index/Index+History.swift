import FoundationEssentials
import GRDB
import Transport

extension Index {
  /// Forgets runs that ended before a moment, and what only they knew: pages, listings, items and tombstones.
  ///
  /// The last two finished runs of a catalog and its last complete one stay, whatever their age.
  ///
  /// - Returns: How many runs are forgotten.
  /// - Throws: ``CacheError`` when the index cannot be written.
  package func forgetRuns(before moment: UnixTime) throws(CacheError) -> Int {
    let forgotten = try write { db in
      var kept: Set<RunID> = []
      for catalog in try CatalogID.fetchAll(db, sql: "SELECT id FROM catalog") {
        kept.formUnion(
          try RunID.fetchAll(
            db,
            sql: """
              SELECT id FROM (SELECT id FROM run WHERE catalog = ?1 AND finished IS NOT NULL \
              ORDER BY id DESC LIMIT 2) UNION SELECT max(id) FROM run WHERE catalog = ?1 \
              AND outcome = 'complete' HAVING max(id) IS NOT NULL
              """,
            arguments: [catalog]
          )
        )
      }
      let old = try RunID.fetchAll(
        db,
        sql: "SELECT id FROM run WHERE started < ? AND outcome IS NOT NULL",
        arguments: [moment]
      ).filter { !kept.contains($0) }
      for run in old {
        for table in ["run_section", "picture_change"] {
          try db.execute(sql: "DELETE FROM \(table) WHERE run = ?", arguments: [run])
        }
        try db.execute(sql: "DELETE FROM run WHERE id = ?", arguments: [run])
      }
      try db.execute(sql: "DELETE FROM tombstone WHERE removed < ?", arguments: [moment])
      try Self.forgetUnread(before: moment, in: db)
      return old.count
    }
    try shrink()
    return forgotten
  }

  /// Removes pages and details that no kept run read and none has asked for since a moment, then listings and items
  /// that nothing refers to.
  private static func forgetUnread(before moment: UnixTime, in db: Database) throws {
    // When it was last asked for: a 304 renews what is kept of the response, whose first number is its time.
    let asked = "max(coalesce(fetched, 0), CAST(coalesce(response, 0) AS INTEGER))"
    // A run reads a page that it asked for, or one that was fresh when it began.
    try db.execute(
      sql: """
        DELETE FROM document WHERE id NOT IN (SELECT document FROM detail) AND \(asked) < ? \
        AND NOT EXISTS (SELECT 1 FROM run WHERE finished IS NOT NULL \
        AND (\(asked) BETWEEN started AND finished OR \(asked) < started AND expiry >= started))
        """,
      arguments: [moment]
    )
    try forgetUnlisted(in: db)
    var keys: Set<String> = []
    let current = try Data.fetchCursor(db, sql: "SELECT keys FROM listing")
    while let packed = try current.next() {
      keys.formUnion(packed.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    }
    let details = try Row.fetchAll(
      db,
      sql: """
        SELECT catalog, item FROM detail JOIN document ON document.id = document \
        WHERE coalesce(fetched, 0) < ?
        """,
      arguments: [moment]
    )
    for row in details {
      let item: String = try row.decode(forColumn: "item")
      guard !keys.contains(item) else { continue }
      try db.execute(
        sql: "DELETE FROM detail WHERE catalog = ? AND item = ?",
        arguments: [try row.decode(CatalogID.self, forColumn: "catalog"), item]
      )
    }
    try db.execute(
      sql: """
        DELETE FROM document WHERE coalesce(fetched, 0) < ? \
        AND id NOT IN (SELECT document FROM detail) AND id NOT IN (SELECT document FROM decoded)
        """,
      arguments: [moment]
    )
  }

  /// Removes listings that no run and no page refers to, and their items.
  private static func forgetUnlisted(in db: Database) throws {
    try db.execute(sql: "DELETE FROM decoded WHERE document NOT IN (SELECT id FROM document)")
    try db.execute(
      sql: """
        DELETE FROM listing WHERE id NOT IN (SELECT listing FROM run_section WHERE listing NOT NULL) \
        AND id NOT IN (SELECT listing FROM decoded)
        """
    )
    let listed = try versions(in: "SELECT items FROM listing", db)
    for id in try ItemVersion.fetchAll(db, sql: "SELECT id FROM item") where !listed.contains(id) {
      try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [id])
    }
  }

  /// The items of the listings that a query names.
  private static func versions(in sql: String, _ db: Database) throws -> Set<ItemVersion> {
    var versions: Set<ItemVersion> = []
    let listings = try Data.fetchCursor(db, sql: sql)
    while let packed = try listings.next() {
      versions.formUnion(
        packed.withUnsafeBytes { IdentityDigest.unpack($0) }.map(ItemVersion.init)
      )
    }
    return versions
  }

  /// Removes pages of which no run shows an item, and what only they refer to: a page does not say whose it is.
  private static func forgetUnshown(in db: Database) throws {
    let shown = try versions(
      in: "SELECT items FROM listing WHERE id IN (SELECT listing FROM run_section)",
      db
    )
    var kept: Set<DocumentID> = []
    let pages = try Row.fetchCursor(
      db,
      sql: "SELECT document, items FROM decoded JOIN listing ON listing.id = listing"
    )
    while let page = try pages.next() {
      let items = try page.decode(Data.self, forColumn: "items")
        .withUnsafeBytes { IdentityDigest.unpack($0) }
      guard items.contains(where: { shown.contains(ItemVersion($0)) }) else { continue }
      kept.insert(try page.decode(DocumentID.self, forColumn: "document"))
    }
    let all = try DocumentID.fetchAll(
      db,
      sql: "SELECT id FROM document WHERE id NOT IN (SELECT document FROM detail)"
    )
    for id in all where !kept.contains(id) {
      try db.execute(sql: "DELETE FROM document WHERE id = ?", arguments: [id])
    }
    try forgetUnlisted(in: db)
  }

  /// Forgets a run that gave nothing, and its catalog when that holds nothing else: nothing was synced.
  package func forgetRun(_ run: RunID, of catalog: CatalogID) throws(CacheError) {
    try write { db in
      try db.execute(sql: "DELETE FROM picture_change WHERE run = ?", arguments: [run])
      try db.execute(sql: "DELETE FROM run WHERE id = ?", arguments: [run])
      try db.execute(
        sql: """
          DELETE FROM catalog WHERE id = ?1 \
          AND NOT EXISTS (SELECT 1 FROM run WHERE catalog = ?1) \
          AND NOT EXISTS (SELECT 1 FROM detail WHERE catalog = ?1)
          """,
        arguments: [catalog]
      )
    }
  }

  /// Forgets a catalog with its runs, pages, items and details; its pictures are then nobody's.
  ///
  /// Pages of another catalog that showed no item, as an empty one, go with it, and are fetched whole next time.
  ///
  /// - Throws: ``CacheError/Code/empty`` when there is none of that name.
  package func forgetCatalog(_ name: String) throws(CacheError) {
    let held = try catalogs()
    guard let entry = held.first(where: { $0.name == name }) else {
      let names = held.isEmpty ? "none" : held.map(\.name).joined(separator: ", ")
      throw CacheError(
        .empty,
        "cannot forget catalog \(name): there is none in \(path), which holds \(names)",
        thing: name
      )
    }
    try write { db in
      let runs = "(SELECT id FROM run WHERE catalog = ?)"
      for sql in [
        "DELETE FROM run_section WHERE run IN \(runs)",
        "DELETE FROM picture_change WHERE run IN \(runs)", "DELETE FROM run WHERE catalog = ?",
        "DELETE FROM detail WHERE catalog = ?", "DELETE FROM catalog WHERE id = ?",
      ] { try db.execute(sql: sql, arguments: [entry.id]) }
      try Self.forgetUnshown(in: db)
    }
  }

  /// Gives unused pages back to the file system when they are more than a quarter of the file.
  private func shrink() throws(CacheError) {
    let (free, all) = try read { db in
      (
        try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0,
        try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      )
    }
    guard free * 4 > all else { return }
    try vacuum()
  }
}
