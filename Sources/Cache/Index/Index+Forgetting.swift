import Base
import GRDB

/// The SQL statements that delete old data, grouped by their purpose.
///
/// No statement scans a table once for each row of another table. `ForgettingTests` checks this with the query plans.
/// The runs to keep are in the temporary table `kept_run`; see ``temporaryTable``.
enum ForgettingQuery: String, CaseIterable {
  // MARK: A forgotten catalog

  case runsOfCatalog = "DELETE FROM run WHERE catalog = ?1"
  case detailsOfCatalog = "DELETE FROM detail WHERE catalog = ?1"
  case picturesOfDetails =
    "DELETE FROM detail_picture WHERE detail NOT IN (SELECT row FROM detail)"
  case historyOfCatalog =
    "DELETE FROM history WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1)"
  case historyItemsOfCatalog = "DELETE FROM history_item WHERE catalog = ?1"
  case historyRunsOfCatalog = "DELETE FROM history_run WHERE catalog = ?1"
  case catalog = "DELETE FROM catalog WHERE id = ?1"
  /// Deletes each page whose items are in no list of any run.
  ///
  /// The catalog of a page is found by its items, because the row of a page does not name its catalog.
  case unshownPages = """
    DELETE FROM document WHERE id NOT IN (SELECT document FROM detail) AND id NOT IN (
      SELECT document FROM decoded CROSS JOIN listing_item l ON l.listing = decoded.listing
      WHERE +l.item IN (SELECT s.item FROM (SELECT DISTINCT listing FROM run_section) r
        CROSS JOIN listing_item s ON s.listing = r.listing))
    """

  // MARK: A run without results

  case run = "DELETE FROM run WHERE id = ?1"
  case emptyCatalog = """
    DELETE FROM catalog WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE catalog = ?1) \
    AND NOT EXISTS (SELECT 1 FROM detail WHERE catalog = ?1) \
    AND NOT EXISTS (SELECT 1 FROM history_run WHERE catalog = ?1)
    """

  // MARK: Old runs

  /// Fills `kept_run` with the runs to keep.
  ///
  /// These are the runs that started since a given moment, and the runs that have not ended. In addition, the last two
  /// finished runs and the last complete run of each catalog are kept, even if they are older.
  case keptRuns = """
    INSERT INTO kept_run SELECT id, started, finished FROM run WHERE started >= ?1 OR outcome IS NULL OR id IN (
      SELECT (SELECT id FROM run WHERE catalog = catalog.id AND finished NOT NULL
        ORDER BY id DESC LIMIT 1) FROM catalog
      UNION ALL SELECT (SELECT id FROM run WHERE catalog = catalog.id AND finished NOT NULL
        ORDER BY id DESC LIMIT 1 OFFSET 1) FROM catalog
      UNION ALL SELECT (SELECT id FROM run WHERE catalog = catalog.id AND outcome = 'complete'
        ORDER BY id DESC LIMIT 1) FROM catalog)
    """
  case runs = "DELETE FROM run WHERE id NOT IN (SELECT id FROM kept_run)"
  case sections = "DELETE FROM run_section WHERE run NOT IN (SELECT id FROM run)"
  case changes = "DELETE FROM picture_change WHERE run NOT IN (SELECT id FROM run)"
  case tombstones = "DELETE FROM tombstone WHERE removed < ?1"

  // MARK: The history

  case lastHistoryRun = "SELECT max(run) FROM history_run WHERE catalog = ?1 AND time < ?2"
  /// Deletes values that were replaced by a newer value in the run ?2 or in an earlier run.
  case replacedHistory = """
    DELETE FROM history WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1) \
    AND run < (SELECT max(run) FROM history AS later \
    WHERE later.item = history.item AND later.field = history.field AND later.run <= ?2)
    """
  /// Deletes all values of the items that no section has listed since the run ?2. ?3 is ``HistoryField/listed``.
  case goneHistory = """
    DELETE FROM history WHERE item IN (SELECT item FROM history AS gone \
    WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1) \
    AND field = ?3 AND value IS NULL AND run <= ?2 \
    AND NOT EXISTS (SELECT 1 FROM history AS later WHERE later.item = gone.item AND later.run > ?2))
    """
  /// Sets ?4, which is ``Index/listedBefore``, as the value of ``HistoryField/listed``.
  case listedHistory = """
    UPDATE history SET value = ?4 WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1) \
    AND run <= ?2 AND field = ?3 AND value IS NOT NULL
    """
  case emptyHistoryItems = "DELETE FROM history_item WHERE row NOT IN (SELECT item FROM history)"
  /// Deletes runs without changes.
  ///
  /// The first run of each catalog stays, because the history of the catalog begins with it.
  case emptyHistoryRuns = """
    DELETE FROM history_run WHERE run NOT IN (SELECT run FROM history) \
    AND run NOT IN (SELECT min(run) FROM history_run GROUP BY catalog)
    """

  // MARK: Pages

  /// Deletes pages that were not requested since a given moment, and that no kept run read.
  ///
  /// A run has read a page if it requested the page, or if the page was fresh when the run began. The time of the last
  /// request is at the beginning of the column `response`, which is also updated when the shop answers with 304.
  case unreadPages = """
    DELETE FROM document WHERE id IN (
      SELECT id FROM (SELECT id, expiry, max(coalesce(fetched, 0), CAST(coalesce(response, 0) AS INTEGER)) AS asked
        FROM document WHERE id NOT IN (SELECT document FROM detail))
      WHERE asked < ?1
      AND NOT EXISTS (SELECT 1 FROM kept_run WHERE started <= asked AND finished >= asked)
      AND NOT EXISTS (SELECT 1 FROM kept_run WHERE started > asked AND started <= expiry AND finished NOT NULL))
    """
  case unreadSections = "DELETE FROM decoded WHERE document NOT IN (SELECT id FROM document)"
  case unreadListings = """
    DELETE FROM listing WHERE id NOT IN (SELECT listing FROM run_section WHERE listing NOT NULL) \
    AND id NOT IN (SELECT listing FROM decoded)
    """
  case unlistedPlaces = "DELETE FROM listing_item WHERE listing NOT IN (SELECT id FROM listing)"
  case unlistedItems = "DELETE FROM item WHERE row NOT IN (SELECT item FROM listing_item)"
  case unlistedPictures = "DELETE FROM item_picture WHERE item NOT IN (SELECT row FROM item)"

  // MARK: Details

  /// Deletes details that were not fetched since a given moment, if no run of their catalog lists their items.
  ///
  /// Details whose request failed, or that the shop does not have, count as never fetched.
  case oldDetails = """
    DELETE FROM detail WHERE coalesce((SELECT fetched FROM document WHERE id = detail.document), 0) < ?1
    AND NOT EXISTS (SELECT 1 FROM item i CROSS JOIN run ON run.catalog = detail.catalog
      CROSS JOIN run_section s ON s.run = run.id
      CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = s.listing AND l.item = i.row
      WHERE i.key = detail.item)
    """
  /// Deletes the documents of details that were deleted.
  case unreadDetails = """
    DELETE FROM document WHERE coalesce(fetched, 0) < ?1 \
    AND id NOT IN (SELECT document FROM detail) AND id NOT IN (SELECT document FROM decoded)
    """

  // MARK: Pictures

  /// Forgets the origin's answers for pictures that are not in the cache, and that no catalog has referred to since a
  /// given moment.
  case answers = """
    UPDATE picture SET expiry = 0, fetched = NULL, checked = NULL, failure = NULL, failing_since = NULL \
    WHERE id IN (SELECT picture FROM unreferenced WHERE since <= ?1) AND sha256 IS NULL
    """
  /// Forgets the origin's last answer for a picture.
  case answer = """
    UPDATE picture SET expiry = 0, fetched = NULL, checked = NULL, failure = NULL, failing_since = NULL \
    WHERE id = ?1
    """
  /// Deletes the rows of such pictures, unless an item or a detail shows them.
  case addresses = """
    DELETE FROM picture WHERE id IN (SELECT picture FROM unreferenced WHERE since <= ?1) AND sha256 IS NULL \
    AND NOT EXISTS (SELECT 1 FROM item_picture WHERE picture = picture.row) \
    AND NOT EXISTS (SELECT 1 FROM detail_picture WHERE picture = picture.row)
    """
  case marks = "DELETE FROM unreferenced WHERE picture NOT IN (SELECT id FROM picture)"

  /// Creates the temporary table with the runs to keep, or empties it if it exists.
  static let temporaryTable = """
    CREATE TEMP TABLE IF NOT EXISTS kept_run(
      id INTEGER PRIMARY KEY, started INTEGER NOT NULL, finished INTEGER);
    CREATE INDEX IF NOT EXISTS temp.kept_run_started ON kept_run(started, finished);
    DELETE FROM kept_run;
    """
}

extension Database {
  /// Runs a statement, and returns the number of changed rows.
  @discardableResult
  func run<each Argument: RowArgument>(
    _ query: ForgettingQuery,
    _ arguments: repeat each Argument
  ) throws -> Int {
    try run(query.rawValue, repeat each arguments)
  }
}

extension Index {
  /// Deletes runs that started before a given moment, and all data that only these runs used.
  ///
  /// These data are pages, listings, items, details and the records of removed pictures (tombstones). The last two
  /// finished runs of each catalog and its last complete run are kept, even if they are older.
  ///
  /// - Parameters:
  ///   - moment: The moment.
  ///   - isDryRun: Whether to count only.
  /// - Returns: The number of deleted runs.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func forgetRuns(
    before moment: UnixTime,
    isDryRun: Bool = false
  ) throws(LarderError) -> Int {
    if isDryRun { try shadowTables(["run"]) }
    let forgotten = try write { db in
      try db.execute(sql: ForgettingQuery.temporaryTable)
      try db.run(.keptRuns, moment)
      let forgotten = try db.run(.runs)
      if isDryRun { return forgotten }
      try db.run(.sections)
      try db.run(.changes)
      try db.run(.tombstones, moment)
      try db.run(.unreadPages, moment)
      try Self.forgetUnlisted(in: db)
      try db.run(.oldDetails, moment)
      try db.run(.picturesOfDetails)
      try db.run(.unreadDetails, moment)
      return forgotten
    }
    if !isDryRun { try shrink() }
    return forgotten
  }

  /// Deletes the history before a given moment, but keeps the values that were valid at that moment.
  ///
  /// If no section has listed an item since that moment, its history is deleted completely.
  ///
  /// - Parameters:
  ///   - moment: The moment.
  ///   - isDryRun: Whether to count only.
  /// - Returns: The number of deleted values.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func forgetHistory(
    before moment: UnixTime,
    isDryRun: Bool = false
  ) throws(LarderError) -> Int {
    if isDryRun { try shadowTables(["history", "history_item", "history_run", "meta"]) }
    return try write { db in
      var count = 0
      let listed = HistoryField.listed.rawValue
      for catalog in try db.all("SELECT id FROM catalog", make: { $0.number(0) }) {
        let last = try db.first(ForgettingQuery.lastHistoryRun.rawValue, catalog, moment) {
          $0.optionalNumber(0)
        }
        guard let last = last ?? nil else { continue }
        try db.run(.listedHistory, catalog, last, listed, Self.listedBefore)
        count += try db.run(.replacedHistory, catalog, last)
        count += try db.run(.goneHistory, catalog, last, listed)
      }
      try db.run(.emptyHistoryItems)
      try db.run(.emptyHistoryRuns)
      if count > 0 { try db.setSingleValue("forgotten", max(moment, db.historyForgotten())) }
      return count
    }
  }

  /// Forgets pictures that are not in the cache, if no catalog has referred to them since a given moment.
  ///
  /// The row with the URL stays while an item or a detail in the index shows the picture, because a catalog can refer to
  /// it again.
  ///
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func forgetAddresses(unreferencedSince moment: UnixTime) throws(LarderError) {
    try write { db in
      try db.run(.answers, moment)
      try db.run(.addresses, moment)
      try db.run(.marks)
    }
  }

  /// Deletes the listings that neither a run nor a page refers to, and then the items that are in no listing.
  private static func forgetUnlisted(in db: Database) throws {
    try db.run(.unreadSections)
    try db.run(.unreadListings)
    try db.run(.unlistedPlaces)
    try db.run(.unlistedItems)
    try db.run(.unlistedPictures)
  }

  /// Deletes a run that had no results.
  ///
  /// If its catalog has no other data, the catalog is deleted too.
  package func forgetRun(_ run: RunID, of catalog: CatalogID) throws(LarderError) {
    try write { db in
      try db.run(.run, run)
      try db.run(.changes)
      try db.run(.emptyCatalog, catalog)
    }
  }

  /// Deletes catalogs with their runs, pages, items, details and history.
  ///
  /// Their pictures become unreferenced. A page of another catalog is deleted too if no run lists any of the page's
  /// items, for example because the page is empty. The next sync fetches that page again in full.
  ///
  /// - Throws: ``LarderError/Code/empty`` if there is no catalog with one of the names. Then nothing is deleted.
  package func forgetCatalogs(_ names: [String]) throws(LarderError) {
    guard !names.isEmpty else { return }
    let held = try catalogs()
    if let name = names.first(where: { name in !held.contains { $0.name == name } }) {
      let known = held.isEmpty ? "none" : held.map(\.name).joined(separator: ", ")
      throw LarderError(
        .empty,
        "cannot forget catalog \(name): \(path) has no such catalog; it has \(known)",
        thing: name
      )
    }
    try write { db in
      for entry in held where names.contains(entry.name) {
        for query: ForgettingQuery in [
          .runsOfCatalog, .detailsOfCatalog, .historyOfCatalog, .historyItemsOfCatalog,
          .historyRunsOfCatalog, .catalog,
        ] { try db.run(query, entry.id) }
      }
      try db.run(.sections)
      try db.run(.changes)
      try db.run(.picturesOfDetails)
      try db.run(.unshownPages)
      try Self.forgetUnlisted(in: db)
    }
  }

  /// Deletes the details of a catalog whose file no longer describes any.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  package func forgetDetails(of catalog: CatalogID) throws(LarderError) {
    let sql = "SELECT 1 FROM detail WHERE catalog = ? LIMIT 1"
    guard try row(sql, catalog, make: { _ in true }) != nil else { return }
    try write { db in
      try db.run(.detailsOfCatalog, catalog)
      try db.run(.picturesOfDetails)
    }
  }

  /// Runs `VACUUM` if more than a quarter of the file's pages are unused.
  private func shrink() throws(LarderError) {
    let free = try row("PRAGMA freelist_count") { $0.number(0) } ?? 0
    let all = try row("PRAGMA page_count") { $0.number(0) } ?? 0
    if free * 4 > all { try vacuum() }
  }
}
