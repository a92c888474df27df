import Base
import GRDB

extension Index {
  /// The listings that the last finished run of each catalog shows.
  package func shownListings() throws(LarderError) -> [ListingID] {
    var listings: [ListingID] = []
    for catalog in try catalogs() {
      guard let run = try lastRun(catalog: catalog.id) else { continue }
      listings += try sections(run: run.id).compactMap(\.listing)
    }
    return listings
  }

  /// The pictures of catalogs whose files belong at one of these paths in the cache.
  ///
  /// These are the pictures that the catalogs' items show, and those of all details.
  package func claimed(at paths: Set<String>) throws(LarderError) -> [PictureEntry] {
    guard !paths.isEmpty else { return [] }
    return try rows(Self.select + " WHERE row IN (\(Self.claimed))") { row in
      let entry = PictureEntry(row)
      return paths.contains(entry.ownName.path) ? entry : nil
    }.compactMap(\.self)
  }

  /// The rows of the pictures that the items of the last finished runs show.
  private static let shownByItems = """
    SELECT s.picture FROM catalog c CROSS JOIN run_section r ON r.run = (
      SELECT max(id) FROM run WHERE run.catalog = c.id AND run.finished IS NOT NULL)
    CROSS JOIN listing_item l ON l.listing = r.listing CROSS JOIN item_picture s ON s.item = l.item
    """

  /// The same, and the rows of the pictures in all details.
  private static let claimed = shownByItems + " UNION SELECT picture FROM detail_picture"

  /// The same, and the rows of the pictures in the details of these items.
  private static let referenced = """
    \(shownByItems) UNION SELECT s.picture FROM catalog c CROSS JOIN run_section r ON r.run = (
      SELECT max(id) FROM run WHERE run.catalog = c.id AND run.finished IS NOT NULL)
    CROSS JOIN listing_item l ON l.listing = r.listing CROSS JOIN item i ON i.row = l.item
    CROSS JOIN detail d ON d.catalog = c.id AND d.item = i.key CROSS JOIN detail_picture s ON s.detail = d.row
    """

  /// Whether any picture is marked as unreferenced.
  package func hasUnreferenced() throws(LarderError) -> Bool {
    try row("SELECT 1 FROM unreferenced LIMIT 1") { _ in } != nil
  }

  /// Updates the marks of unreferenced pictures.
  ///
  /// A picture that no catalog refers to is marked with the time `now`, unless it has a mark already. A picture that a
  /// catalog refers to loses its mark.
  ///
  /// - Parameter now: The present moment.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func markUnreferenced(at now: UnixTime) throws(LarderError) {
    try write { db in
      try db.execute(
        sql: """
          CREATE TEMP TABLE IF NOT EXISTS referenced(picture INTEGER PRIMARY KEY);
          DELETE FROM temp.referenced;
          INSERT INTO temp.referenced \(Self.referenced);
          DELETE FROM unreferenced WHERE picture NOT IN
          (SELECT id FROM picture WHERE row NOT IN (SELECT picture FROM temp.referenced));
          """
      )
      let marked = """
        INSERT OR IGNORE INTO unreferenced(picture, since)
        SELECT id, ? FROM picture WHERE row NOT IN (SELECT picture FROM temp.referenced)
        """
      try db.run(marked, now)
    }
  }

  /// All pictures that are in the cache, as the input of a ``GcPlan``.
  ///
  /// - Parameter now: The present moment. If no catalog refers to a picture and it has no mark yet, it counts as
  ///   unreferenced since now.
  /// - Returns: The pictures.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func held(at now: UnixTime) throws(LarderError) -> [GcPlan.Picture] {
    let sql = """
      SELECT id, coalesce(identity, url), bytes, content, coalesce(checked, fetched, 0), \
      CASE WHEN row NOT IN (\(Self.referenced)) THEN coalesce(since, ?1) END FROM picture \
      LEFT JOIN unreferenced ON unreferenced.picture = id WHERE sha256 IS NOT NULL
      """
    return try rows(sql, now) {
      GcPlan.Picture(
        id: PictureID($0.key(0)),
        url: $0.text(1) ?? "",
        bytes: $0.byteCount(2),
        content: $0.number(3),
        used: $0.time(4),
        unreferenced: $0.optionalTime(5)
      )
    }
  }
}

/// The record of a picture that `larder gc` removed.
package struct Tombstone: Sendable, Hashable {
  /// The picture's identity, which is usually its URL.
  package var url: String
  package var removed: UnixTime
  /// The reason of the removal: `unreferenced`, `age` or `size`.
  package var reason: String
}

extension Index {
  /// Forgets everything about pictures except their URLs, and writes a ``Tombstone`` for each, in one transaction.
  ///
  /// Call this before you remove the files. A file without a row is found and removed later, but a row must never
  /// point to a missing file.
  package func delete(_ removals: [GcPlan.Removal], at now: UnixTime) throws(LarderError) {
    try write { db in
      let tombstone = "INSERT INTO tombstone(url, removed, reason) VALUES (?,?,?)"
      for removal in removals {
        try db.run(tombstone, removal.picture.url, now, removal.reason.rawValue)
        try Self.forget(removal.picture.id, in: db)
        try db.run(.answer, removal.picture.id)
      }
    }
  }

  /// The pictures that were removed after the time `old` and not after the time `new`, sorted by URL.
  package func tombstones(after old: UnixTime, through new: UnixTime) throws(LarderError)
    -> [Tombstone]
  {
    let sql = """
      SELECT url, removed, reason FROM tombstone \
      WHERE removed > ? AND removed <= ? ORDER BY url, removed
      """
    return try rows(sql, old, new) {
      Tombstone(url: $0.text(0) ?? "", removed: $0.time(1), reason: $0.text(2) ?? "")
    }
  }

  /// The time at which a lost index was rebuilt.
  ///
  /// It is nil if the index was never lost, or if all pictures have a row again.
  package func lostSince() throws(LarderError) -> UnixTime? {
    try read { try $0.singleValue("lost") { $0.time(0) } }
  }

  /// Records the time at which a lost index was rebuilt, or removes the record if `moment` is nil.
  ///
  /// The record is removed after all pictures were adopted, which means that they have a row again.
  package func noteLost(since moment: UnixTime?) throws(LarderError) {
    try write { try $0.setSingleValue("lost", moment) }
  }
}

extension Database {
  /// The value of `key` in the table `meta`, such as `folders`; nil if there is none.
  func singleValue<Value>(
    _ key: String,
    make: (borrowing RowStatement) throws -> Value
  ) throws -> Value? {
    try first("SELECT value FROM meta WHERE key = ?", key, make: make)
  }

  /// Sets the value of `key` in the table `meta`, or deletes the row if `value` is nil.
  func setSingleValue(_ key: String, _ value: (some RowArgument)?) throws {
    guard let value else { return _ = try run("DELETE FROM meta WHERE key = ?", key) }
    try run("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", key, value)
  }

  /// The time before which `gc` deleted changes from the history; the distant past if it deleted none.
  func historyForgotten() throws -> UnixTime {
    try singleValue("forgotten") { $0.time(0) } ?? .distantPast
  }
}
