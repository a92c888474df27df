import Base
import GRDB

/// The statements by which the index forgets, in groups of one purpose.
///
/// None reads a table once for each row of another: `ForgettingTests` hold their plans to that. The runs that are kept
/// are in a temporary table, ``rooms``.
enum ForgettingQuery: String, CaseIterable {
  // MARK: Of a forgotten catalog

  case sectionsOfCatalog =
    "DELETE FROM run_section WHERE run IN (SELECT id FROM run WHERE catalog = ?1)"
  case changesOfCatalog =
    "DELETE FROM picture_change WHERE run IN (SELECT id FROM run WHERE catalog = ?1)"
  case runsOfCatalog = "DELETE FROM run WHERE catalog = ?1"
  case detailsOfCatalog = "DELETE FROM detail WHERE catalog = ?1"
  case historyOfCatalog =
    "DELETE FROM history WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1)"
  case historyItemsOfCatalog = "DELETE FROM history_item WHERE catalog = ?1"
  case historyRunsOfCatalog = "DELETE FROM history_run WHERE catalog = ?1"
  case catalog = "DELETE FROM catalog WHERE id = ?1"
  /// The listings that a run shows.
  case shownListings =
    "SELECT items FROM listing WHERE id IN (SELECT listing FROM run_section)"
  /// Pages with their items: a page does not name its catalog.
  case pages = "SELECT document, items FROM decoded JOIN listing ON listing.id = listing"
  case documents = "SELECT id FROM document WHERE id NOT IN (SELECT document FROM detail)"
  case document = "DELETE FROM document WHERE id = ?1"

  // MARK: Of a run that gave nothing

  case changesOfRun = "DELETE FROM picture_change WHERE run = ?1"
  case run = "DELETE FROM run WHERE id = ?1"
  case emptyCatalog = """
    DELETE FROM catalog WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE catalog = ?1) \
    AND NOT EXISTS (SELECT 1 FROM detail WHERE catalog = ?1) \
    AND NOT EXISTS (SELECT 1 FROM history_run WHERE catalog = ?1)
    """

  // MARK: Of old runs

  /// The last two finished runs of each catalog and its last complete one, at any age; younger runs, and one under way.
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

  // MARK: Of the history

  case lastHistoryRun = "SELECT max(run) FROM history_run WHERE catalog = ?1 AND time < ?2"
  /// The values that others took the place of up to a run.
  case replacedHistory = """
    DELETE FROM history WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1) \
    AND run < (SELECT max(run) FROM history AS later \
    WHERE later.item = history.item AND later.field = history.field AND later.run <= ?2)
    """
  /// All values of items that no section listed at a run or after it; ?3 is ``HistoryField/listed``.
  case goneHistory = """
    DELETE FROM history WHERE item IN (SELECT item FROM history AS gone \
    WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1) \
    AND field = ?3 AND value IS NULL AND run <= ?2 \
    AND NOT EXISTS (SELECT 1 FROM history AS later WHERE later.item = gone.item AND later.run > ?2))
    """
  /// Notes by the value ?4 that it is not known any more whether an item was new.
  case listedHistory = """
    UPDATE history SET value = ?4 WHERE item IN (SELECT row FROM history_item WHERE catalog = ?1) \
    AND run <= ?2 AND field = ?3 AND value IS NOT NULL
    """
  case emptyHistoryItems = "DELETE FROM history_item WHERE row NOT IN (SELECT item FROM history)"
  /// A catalog's first run stays: its history begins there.
  case emptyHistoryRuns = """
    DELETE FROM history_run WHERE run NOT IN (SELECT run FROM history) \
    AND run NOT IN (SELECT min(run) FROM history_run GROUP BY catalog)
    """

  // MARK: Of pages

  /// Pages that no kept run read and none has asked for since a moment.
  ///
  /// A 304 renews the stored response, whose first number is the time of the request. A run reads a page that it asked
  /// for, or one that was fresh when it began.
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
  case listings = "SELECT items FROM listing"
  case items = "SELECT id FROM item"
  case item = "DELETE FROM item WHERE id = ?1"

  // MARK: Of details

  /// Details that no request has brought since a moment; of a failed or missing one there is nothing to bring.
  case oldDetails = """
    SELECT catalog, item FROM detail LEFT JOIN document ON document.id = document \
    WHERE coalesce(fetched, 0) < ?1
    """
  /// The items' ids in the listings of a catalog's runs.
  case listedKeys = """
    SELECT keys FROM listing WHERE id IN \
    (SELECT listing FROM run_section WHERE run IN (SELECT id FROM run WHERE catalog = ?1))
    """
  case detail = "DELETE FROM detail WHERE catalog = ?1 AND item = ?2"
  /// The documents of details that went.
  case unreadDetails = """
    DELETE FROM document WHERE coalesce(fetched, 0) < ?1 \
    AND id NOT IN (SELECT document FROM detail) AND id NOT IN (SELECT document FROM decoded)
    """

  // MARK: Of pictures

  /// Addresses without bytes that no catalog has referred to since a moment.
  case addresses = """
    DELETE FROM picture WHERE sha256 IS NULL \
    AND id IN (SELECT picture FROM unreferenced WHERE since <= ?1)
    """
  case marks = "DELETE FROM unreferenced WHERE picture NOT IN (SELECT id FROM picture)"

  /// The temporary table of the runs that are kept.
  static let rooms = """
    CREATE TEMP TABLE IF NOT EXISTS kept_run(
      id INTEGER PRIMARY KEY, started INTEGER NOT NULL, finished INTEGER);
    CREATE INDEX IF NOT EXISTS temp.kept_run_started ON kept_run(started, finished);
    DELETE FROM kept_run;
    """
}

extension Database {
  /// Runs a statement; returns how many rows it changed.
  @discardableResult
  fileprivate func run(
    _ query: ForgettingQuery,
    _ arguments: StatementArguments = []
  ) throws -> Int {
    try execute(sql: query.rawValue, arguments: arguments)
    return changesCount
  }
}

extension Index {
  /// Deletes runs that ended before a moment, and their own data: pages, listings, items, details and tombstones.
  ///
  /// The last two finished runs of a catalog and its last complete one stay, at any age.
  ///
  /// - Returns: How many runs are forgotten.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func forgetRuns(before moment: UnixTime) throws(LarderError) -> Int {
    let forgotten = try write { db in
      try db.execute(sql: ForgettingQuery.rooms)
      try db.run(.keptRuns, [moment])
      let forgotten = try db.run(.runs)
      try db.run(.sections)
      try db.run(.changes)
      try db.run(.tombstones, [moment])
      try db.run(.unreadPages, [moment])
      try Self.forgetUnlisted(in: db)
      try Self.forgetDetails(before: moment, in: db)
      try db.run(.unreadDetails, [moment])
      return forgotten
    }
    try shrink()
    return forgotten
  }

  /// Forgets the changes before a moment; the values in force then stay.
  ///
  /// Of items that no section listed any more at that moment, and since, nothing stays.
  ///
  /// - Returns: How many changes are forgotten.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func forgetHistory(before moment: UnixTime) throws(LarderError) -> Int {
    try write { db in
      var count = 0
      let listed = HistoryField.listed.rawValue
      for catalog in try CatalogID.fetchAll(db, sql: "SELECT id FROM catalog") {
        let last = try RunID.fetchOne(
          db,
          sql: ForgettingQuery.lastHistoryRun.rawValue,
          arguments: [catalog, moment]
        )
        guard let last else { continue }
        count += try db.run(.replacedHistory, [catalog, last])
        count += try db.run(.goneHistory, [catalog, last, listed])
        try db.run(.listedHistory, [catalog, last, listed, Self.listedBefore])
      }
      try db.run(.emptyHistoryItems)
      try db.run(.emptyHistoryRuns)
      return count
    }
  }

  /// Forgets picture addresses without bytes that no catalog has referred to since a moment.
  ///
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func forgetAddresses(unreferencedSince moment: UnixTime) throws(LarderError) {
    try write { db in
      try db.run(.addresses, [moment])
      try db.run(.marks)
    }
  }

  /// Removes details that no request has brought since a moment, of items that no run of their catalog lists.
  private static func forgetDetails(before moment: UnixTime, in db: Database) throws {
    var old: [CatalogID: Set<String>] = [:]
    let details = try RowReader(db, ForgettingQuery.oldDetails.rawValue)
    details.restart(moment.seconds)
    while try details.next() {
      old[CatalogID(rawValue: details.number(0)), default: []].insert(details.text(1) ?? "")
    }
    for (catalog, var items) in old {
      let listings = try RowReader(db, ForgettingQuery.listedKeys.rawValue)
      listings.restart(catalog.rawValue)
      while try !items.isEmpty && listings.next() {
        for key in (listings.bytes(0) ?? []).split(separator: 0) {
          items.remove(String(decoding: key, as: UTF8.self))
        }
      }
      for item in items { try db.run(.detail, [catalog, item]) }
    }
  }

  /// Removes listings that no run and no page refers to, and their items.
  private static func forgetUnlisted(in db: Database) throws {
    try db.run(.unreadSections)
    try db.run(.unreadListings)
    let listed = try versions(in: .listings, db)
    for id in try ItemVersion.fetchAll(db, sql: ForgettingQuery.items.rawValue)
    where !listed.contains(id) { try db.run(.item, [id]) }
  }

  /// The items of the listings that a query names.
  private static func versions(
    in query: ForgettingQuery,
    _ db: Database
  ) throws -> Set<ItemVersion> {
    var versions: Set<ItemVersion> = []
    let listings = try RowReader(db, query.rawValue)
    while try listings.next() { versions.formUnion(listings.keys(0).map(ItemVersion.init)) }
    return versions
  }

  /// Removes pages without an item in any run, and their own data: a page does not name its catalog.
  private static func forgetUnshown(in db: Database) throws {
    let shown = try versions(in: .shownListings, db)
    var kept: Set<DocumentID> = []
    let pages = try RowReader(db, ForgettingQuery.pages.rawValue)
    while try pages.next() {
      guard pages.keys(1).contains(where: { shown.contains(ItemVersion($0)) }) else { continue }
      kept.insert(DocumentID(pages.key(0)))
    }
    for id in try DocumentID.fetchAll(db, sql: ForgettingQuery.documents.rawValue)
    where !kept.contains(id) { try db.run(.document, [id]) }
    try forgetUnlisted(in: db)
  }

  /// Forgets a run that gave nothing, and its catalog when that holds nothing else: nothing was synced.
  package func forgetRun(_ run: RunID, of catalog: CatalogID) throws(LarderError) {
    try write { db in
      try db.run(.changesOfRun, [run])
      try db.run(.run, [run])
      try db.run(.emptyCatalog, [catalog])
    }
  }

  /// Deletes a catalog with its runs, pages, items and details; its pictures are then unreferenced.
  ///
  /// Pages of another catalog that showed no item, as an empty one, go with it, and are fetched whole next time.
  ///
  /// - Throws: ``LarderError/Code/empty`` when there is none of that name.
  package func forgetCatalog(_ name: String) throws(LarderError) {
    let held = try catalogs()
    guard let entry = held.first(where: { $0.name == name }) else {
      let names = held.isEmpty ? "none" : held.map(\.name).joined(separator: ", ")
      throw LarderError(
        .empty,
        "cannot forget catalog \(name): there is none in \(path), which holds \(names)",
        thing: name
      )
    }
    try write { db in
      for query: ForgettingQuery in [
        .sectionsOfCatalog, .changesOfCatalog, .runsOfCatalog, .detailsOfCatalog,
        .historyOfCatalog,
        .historyItemsOfCatalog, .historyRunsOfCatalog, .catalog,
      ] { try db.run(query, [entry.id]) }
      try Self.forgetUnshown(in: db)
    }
  }

  /// Gives unused pages back to the file system when they are more than a quarter of the file.
  private func shrink() throws(LarderError) {
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
