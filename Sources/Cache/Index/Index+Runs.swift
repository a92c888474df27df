import Base
import GRDB

/// A catalog that has a row in the index.
///
/// Several catalogs can share a cache.
package struct CatalogEntry: Sendable, Equatable {
  package let id: CatalogID
  /// The name that the catalog file gives the catalog.
  package let name: String
  /// The currency of the catalog's prices, such as `KRW`.
  package let currency: String
  /// The host and port from which the sections were last fetched; nil if they are not known.
  package let source: String?
}

extension CatalogEntry {
  fileprivate static let select = "SELECT id, name, currency, source FROM catalog "

  /// Reads the present row of a query that begins with ``select``.
  fileprivate init(_ row: borrowing RowStatement) {
    (id, source) = (CatalogID(rawValue: row.number(0)), row.text(3))
    (name, currency) = (row.text(1) ?? "", row.text(2) ?? "")
  }
}

/// A section of a catalog as readers see it after a run has finished.
package struct RunSection: Sendable, Equatable {
  /// The section's key.
  package var key: String
  /// The section's title.
  package var title: String
  /// The line below the title.
  package var subtitle: String?
  /// The section's items; nil if they were never fetched.
  package var listing: ListingID?
  /// The origin of the listing: `network`, `unchanged`, `stale` or `failed`.
  package var source: String

  /// Makes a section from its parts.
  package init(key: String, title: String, subtitle: String?, listing: ListingID?, source: String)
  {
    self.key = key
    self.title = title
    self.subtitle = subtitle
    self.listing = listing
    self.source = source
  }
}

/// A run of a catalog.
package struct RunEntry: Sendable, Equatable {
  package let id: RunID
  /// The time at which the run started.
  package let started: UnixTime
  /// The time at which the run ended; nil if it was killed or is still running.
  package let finished: UnixTime?
  /// The outcome: `complete`, `partial`, `withheld`, `failed` or `interrupted`.
  package let outcome: String?
  /// The report as JSON, as `sync --json` prints it; nil if there is none, or if it was not read.
  package let report: [UInt8]?
}

extension RunEntry: Encodable {
  /// Writes the run as `diff --runs --json` prints it, without its report.
  package func encode(to encoder: any Encoder) throws {
    try encoder.write(["run": id, "started": started, "finished": finished, "outcome": outcome])
  }
}

extension RunEntry {
  /// The columns that ``init(_:)`` reads, without the report.
  fileprivate static let times = "SELECT id, started, finished, outcome, NULL FROM run "
  /// All columns that ``init(_:)`` reads.
  fileprivate static let all = "SELECT id, started, finished, outcome, report FROM run "

  /// Reads the present row of a query that begins with ``times`` or ``all``.
  fileprivate init(_ row: borrowing RowStatement) {
    id = RunID(rawValue: row.number(0))
    started = row.time(1)
    finished = row.optionalTime(2)
    outcome = row.text(3)
    report = row.bytes(4)
  }
}

extension Index {
  /// The catalogs in this cache, sorted by name.
  package func catalogs() throws(LarderError) -> [CatalogEntry] {
    try rows(CatalogEntry.select + "ORDER BY name") { CatalogEntry($0) }
  }

  /// The catalog with this name.
  ///
  /// If there is none, it is inserted; otherwise its currency is updated.
  package func catalog(named name: String, currency: String) throws(LarderError) -> CatalogEntry {
    try write { db in
      let upsert = """
        INSERT INTO catalog(name, currency) VALUES (?, ?) \
        ON CONFLICT(name) DO UPDATE SET currency = excluded.currency \
        WHERE currency <> excluded.currency
        """
      try db.run(upsert, name, currency)
      return try db.first(CatalogEntry.select + "WHERE name = ?", name) { CatalogEntry($0) }
        ?? CatalogEntry(id: CatalogID(rawValue: 0), name: name, currency: currency, source: nil)
    }
  }

  /// Records the host and port from which a catalog's sections were fetched.
  package func note(source: String, of catalog: CatalogID) throws(LarderError) {
    try run("UPDATE catalog SET source = ? WHERE id = ?", source, catalog)
  }

  /// Begins a run and returns its number.
  ///
  /// Listings that a killed run left unfinished are removed.
  package func beginRun(catalog: CatalogID, at now: UnixTime) throws(LarderError) -> RunID {
    try write { db in
      try db.execute(sql: DetailQuery.renewedTable)
      try Self.removeDrafts(in: db)
      let run = try Self.nextRun(db)
      try db.run("INSERT INTO run(id, catalog, started) VALUES (?, ?, ?)", run, catalog, now)
      return run
    }
  }

  /// The number that the next run gets.
  ///
  /// The history is saved when a damaged index is rebuilt, but the table of runs is not. So the history may have higher
  /// numbers.
  static func nextRun(_ db: Database) throws -> RunID {
    let sql = """
      SELECT max(coalesce((SELECT max(id) FROM run), 0), coalesce((SELECT max(run) FROM history_run), 0))
      """
    return RunID(rawValue: 1 + (try db.first(sql) { $0.number(0) } ?? 0))
  }

  /// Ends a run.
  ///
  /// From then on, readers see its sections. The rows that ``renew(_:)`` noted are written too.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - now: The present moment.
  ///   - outcome: The outcome, such as `complete`.
  ///   - report: The report as JSON.
  ///   - sections: The sections that readers see from now on.
  ///   - changes: The values that changed since the last run, for the history.
  ///   - items: The items that were added, removed or changed since the last run, for the history.
  ///   - comparison: Compares two versions of an item for the history.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func endRun(
    _ run: RunID,
    at now: UnixTime,
    outcome: String,
    report: [UInt8],
    sections: [RunSection],
    changes: [ItemChange] = [],
    items: [ChangedItem] = [],
    comparison: ItemComparison = { _, _, _, _ in [] }
  ) throws(LarderError) {
    try write { db in
      try HistoryWriter.record(changes, items, sections, comparison, run: run, at: now, in: db)
      try db.run(DetailQuery.keepRenewed.rawValue)
      let row = try RowStatement(
        db,
        "INSERT INTO run_section(run, position, key, title, subtitle, listing, source) VALUES (?,?,?,?,?,?,?)"
      )
      for (place, it) in sections.enumerated() {
        try row.run(run, place, it.key, it.title, it.subtitle, it.listing, it.source)
      }
      let end = "UPDATE run SET finished = ?, outcome = ?, report = ? WHERE id = ?"
      try db.run(end, now, outcome, report, run)
    }
  }

  /// Whether the last run was killed, so that files may be newer than their rows.
  ///
  /// Only the last run is checked, because each run first cleans up after the run before it. A query for all runs
  /// would read the pages of all their reports at each start.
  func wasKilled() throws(LarderError) -> Bool {
    let sql = """
      SELECT finished IS NULL AND outcome IS NULL FROM run WHERE id = (SELECT max(id) FROM run)
      """
    return try row(sql) { $0.number(0) != 0 } ?? false
  }

  /// Marks killed runs as `interrupted`.
  ///
  /// This is done after the clean-up.
  func markKilledRunsInterrupted() throws(LarderError) {
    try run("UPDATE run SET outcome = 'interrupted' WHERE finished IS NULL AND outcome IS NULL")
  }

  /// The last finished run of a catalog.
  ///
  /// If `id` is given, only runs before that run count.
  package func lastRun(catalog: CatalogID, before id: RunID? = nil) throws(LarderError)
    -> RunEntry?
  {
    try runs(catalog: catalog, finishedOnly: true, before: id, limit: 1).first
  }

  /// The times of the last run of a catalog that ended at or before the given moment.
  ///
  /// Its report is not read.
  package func lastRunTime(
    catalog: CatalogID,
    at moment: UnixTime = .distantFuture
  ) throws(LarderError) -> RunEntry? {
    let sql = RunEntry.times + "WHERE catalog = ? AND finished <= ? ORDER BY id DESC LIMIT 1"
    return try row(sql, catalog, moment) { RunEntry($0) }
  }

  /// The pictures whose bytes changed in runs after this run.
  package func replacedPictures(after run: RunID) throws(LarderError) -> [PictureID] {
    try rows("SELECT DISTINCT picture FROM picture_change WHERE run > ?", run) {
      PictureID($0.key(0))
    }
  }

  /// The time at which the last complete run of a catalog ended.
  ///
  /// - Returns: The time; nil if there is no such run.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func lastComplete(catalog: CatalogID) throws(LarderError) -> UnixTime? {
    let sql = """
      SELECT finished FROM run WHERE catalog = ? AND outcome = 'complete' ORDER BY id DESC LIMIT 1
      """
    return try row(sql, catalog) { $0.time(0) }
  }

  /// The run of a catalog with this number; nil if there is no such run, or if it has not finished.
  package func finishedRun(_ id: RunID, catalog: CatalogID) throws(LarderError) -> RunEntry? {
    let sql = RunEntry.all + "WHERE id = ? AND catalog = ? AND finished IS NOT NULL"
    return try row(sql, id, catalog) { RunEntry($0) }
  }

  /// The latest runs of a catalog, sorted from new to old.
  package func runs(
    catalog: CatalogID,
    finishedOnly: Bool = false,
    before id: RunID? = nil,
    limit: Int = 100
  ) throws(LarderError) -> [RunEntry] {
    let sql =
      RunEntry.all + "WHERE catalog = ? AND id < ? "
      + (finishedOnly ? "AND finished IS NOT NULL " : "") + "ORDER BY id DESC LIMIT ?"
    return try rows(sql, catalog, id ?? RunID(rawValue: .max), limit) { RunEntry($0) }
  }

  /// The times of the oldest run of a catalog that ended.
  ///
  /// Its report is not read.
  package func oldestRunTime(catalog: CatalogID) throws(LarderError) -> RunEntry? {
    let sql = RunEntry.times + "WHERE catalog = ? AND finished IS NOT NULL ORDER BY id LIMIT 1"
    return try row(sql, catalog) { RunEntry($0) }
  }

  /// The sections of a run, in the order of the catalog.
  package func sections(run: RunID) throws(LarderError) -> [RunSection] {
    let sql = """
      SELECT key, title, subtitle, listing, source FROM run_section WHERE run = ? ORDER BY position
      """
    return try rows(sql, run) {
      RunSection(
        key: $0.text(0) ?? "",
        title: $0.text(1) ?? "",
        subtitle: $0.text(2),
        listing: $0.optionalNumber(3).map { ListingID(rawValue: $0) },
        source: $0.text(4) ?? ""
      )
    }
  }

  /// The time since which a section could not be fetched; nil if the last run fetched it.
  ///
  /// It is the end of the first run after the last run that fetched the section.
  package func failingSince(section key: String, catalog: CatalogID) throws(LarderError)
    -> UnixTime?
  {
    let sql = """
      SELECT min(finished) FROM run JOIN run_section ON run = run.id \
      WHERE catalog = ?1 AND key = ?2 AND finished IS NOT NULL AND run.id > coalesce(\
      (SELECT max(run.id) FROM run JOIN run_section ON run = run.id \
      WHERE catalog = ?1 AND key = ?2 AND source IN ('network', 'unchanged')), 0)
      """
    return try row(sql, catalog, key) { $0.optionalTime(0) } ?? nil
  }

  /// The URLs of the pictures whose bytes changed after the run `old`, up to and including the run `new`, sorted.
  package func pictureChanges(after old: RunID, through new: RunID) throws(LarderError) -> [String]
  {
    let sql = """
      SELECT DISTINCT url FROM picture_change JOIN picture ON picture.id = picture \
      WHERE run > ? AND run <= ? AND length(before) > 0 ORDER BY url
      """
    return try rows(sql, old, new) { $0.text(0) ?? "" }
  }
}
