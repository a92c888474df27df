import Base
import GRDB
import Synchronization

/// The SQL statements that find the details of a run, and keep the rows of documents that the shop has unchanged.
///
/// A run keeps its knowledge in temporary tables of the index's connection. `wanted` has the items whose details wait or
/// were taken, each with the version in its first listing, and `waiting` those whose details were not taken yet. `aside`
/// has details that are shown or not as the end of the run decides, without a body if the run could not bring them up
/// to date. `renewed` has rows of documents for the end of the run. `DueDetailTests` checks that no statement scans a large table.
enum DetailQuery: String, CaseIterable {
  /// The items of a listing with what decides whether their details are due.
  ///
  /// The bodies of details are not read, because they can be long, and each would be read in every run. The columns of
  /// the document are those that ``DocumentEntry`` reads.
  case listed = """
    SELECT i.key, i.row, CASE WHEN ?3 THEN i.body END, w.number IS NOT NULL, d.row, d.state, d.since, d.lost, \
    o.id, o.url, o.mapping, o.response, o.expiry, o.digest, o.fetched, o.next \
    FROM listing_item l CROSS JOIN item i ON i.row = l.item LEFT JOIN temp.wanted w ON w.item = i.key \
    LEFT JOIN detail d ON d.catalog = ?2 AND d.item = i.key LEFT JOIN document o ON o.id = d.document \
    WHERE l.listing = ?1 ORDER BY l.place
    """
  case wanted = "INSERT INTO temp.wanted(item, version) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
  case waiting = "INSERT INTO temp.waiting VALUES (?1, last_insert_rowid())"
  /// The columns of the detail and of its document are those that ``DetailEntry`` and ``DocumentEntry`` read.
  case next = """
    SELECT q.checked, q.number, w.item, CASE WHEN ?2 THEN (SELECT body FROM item WHERE row = w.version) END, \
    d.row, d.item, d.document, d.state, d.body, d.since, \
    o.id, o.url, o.mapping, o.response, o.expiry, o.digest, o.fetched, o.next \
    FROM temp.waiting q CROSS JOIN temp.wanted w ON w.number = q.number \
    LEFT JOIN detail d ON d.catalog = ?3 AND d.item = w.item LEFT JOIN document o ON o.id = d.document \
    ORDER BY q.checked, q.number LIMIT ?1
    """
  case taken = "DELETE FROM temp.waiting WHERE (checked, number) <= (?1, ?2)"
  /// The details that the shop still has, as far as is known, and that are not set aside.
  case held = """
    SELECT row, item, body FROM detail WHERE catalog = ?1 AND item > ?2 \
    AND state = 'held' AND since IS NULL AND body IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM temp.aside a WHERE a.item = detail.item) ORDER BY item
    """
  case setAside = "INSERT OR REPLACE INTO temp.aside(item, document, body) VALUES (?1, ?2, ?3)"
  /// The columns are those that ``DetailEntry`` reads.
  case aside = """
    SELECT item, document, 'held', body, NULL, number FROM temp.aside q WHERE body IS NOT NULL ORDER BY number LIMIT ?1
    """
  case asideRows = """
    SELECT d.row FROM temp.aside q CROSS JOIN detail d ON d.catalog = ?1 AND d.item = q.item \
    WHERE q.body IS NOT NULL ORDER BY q.number
    """
  case dropAside = "DELETE FROM temp.aside WHERE number <= ?1"
  case missing = "UPDATE detail SET state = 'missing' WHERE catalog = ?1 AND item = ?2"
  case isWanted = "SELECT 1 FROM temp.wanted WHERE item = ?1"
  /// A document with new bytes since then has a newer row.
  case keepRenewed = """
    INSERT OR REPLACE INTO document SELECT r.* FROM temp.renewed r CROSS JOIN document d ON d.id = r.id \
    WHERE d.digest IS r.digest
    """

  /// Creates the temporary table `renewed`, or empties it if it exists.
  static let renewedTable = """
    CREATE TEMP TABLE IF NOT EXISTS renewed(
      id BLOB PRIMARY KEY, url TEXT, mapping INTEGER, response TEXT, expiry INTEGER, digest INTEGER,
      fetched INTEGER, next TEXT) WITHOUT ROWID;
    DELETE FROM temp.renewed;
    """

  /// Creates the other temporary tables, or empties them if they exist.
  static let tables = """
    CREATE TEMP TABLE IF NOT EXISTS wanted(
      number INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE, version INTEGER NOT NULL);
    CREATE TEMP TABLE IF NOT EXISTS waiting(checked INTEGER NOT NULL, number INTEGER NOT NULL,
      PRIMARY KEY(checked, number)) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS aside(
      number INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE, document BLOB, body BLOB);
    DELETE FROM temp.wanted;
    DELETE FROM temp.waiting;
    DELETE FROM temp.aside;
    """
}

/// An item that a run came across, with what decides whether its detail is due.
package struct SeenDetail: Sendable {
  /// A row of a detail, without its body.
  package struct Known: Sendable {
    /// The number of the row.
    package let row: Int64
    package let state: DetailEntry.State
    /// The time since which the shop answers with 404 or 410; nil if the shop has the detail.
    package let since: UnixTime?
    /// Whether the row has a body.
    package let hasBody: Bool
    /// Whether the body says that fields could not be read.
    package let hasLost: Bool

    /// Whether the shop still has the detail, as far as is known.
    package var isCurrent: Bool { state == .held && since == nil }
  }

  /// The item's id.
  package let item: String
  /// The item, if the values of its fields are needed.
  package let record: ItemRecord?
  /// The row of the detail; nil if there is none yet.
  package let known: Known?
  /// The row of the document that the detail is from; nil if there is none.
  package let document: DocumentEntry?

  /// Reads the present row of ``DetailQuery/listed``.
  fileprivate init(_ row: borrowing RowStatement) {
    let item = row.text(0) ?? ""
    self.item = item
    record = row.bytes(2).map { ItemRecord(key: item, body: $0) }
    let (since, lost) = (row.optionalTime(6), row.optionalNumber(7))
    let state = row.text(5).flatMap(DetailEntry.State.init) ?? .failed
    known = row.optionalNumber(4).map {
      Known(row: $0, state: state, since: since, hasBody: lost != nil, hasLost: lost == 1)
    }
    document = DocumentEntry(row, from: 8)
  }
}

/// An item whose detail a run brings up to date.
package struct WantedDetail: Sendable {
  /// The item's id.
  package let item: String
  /// The item, if the values of its fields are needed.
  package let record: ItemRecord?
  /// The number of the detail's row; nil if there is none yet.
  package let row: Int64?
  /// The row of the detail; nil if there is none yet.
  package let known: DetailEntry?
  /// The row of the document that the detail is from; nil if there is none.
  package let document: DocumentEntry?
}

/// The items that a run came across, and those of them whose details wait.
///
/// The items with details in the index are a set of row numbers. The others, and those whose details are due, are rows
/// of a temporary table.
package final class DueDetails: Sendable {
  private let index: Index
  private let catalog: CatalogID
  private let readsItems: Bool
  private let rows = Mutex(RowSet())

  /// Makes the empty set of a run.
  ///
  /// - Parameters:
  ///   - index: The index. Only one set of it is used at a time.
  ///   - catalog: The catalog of the run.
  ///   - readsItems: Whether to read the items too.
  /// - Throws: ``LarderError`` when there is no space for temporary files.
  package init(
    _ index: Index,
    of catalog: CatalogID,
    readsItems: Bool
  ) throws(LarderError) {
    (self.index, self.catalog) = (index, catalog)
    self.readsItems = readsItems
    try index.write { try $0.execute(sql: DetailQuery.tables) }
  }

  /// Notes that a run came across the items of a listing, and finds those whose details are due.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - isDue: Called with each item that the run had not come across before. If its detail is due, it returns the time
  ///     of the shop's last answer. If it returns nil, the detail needs nothing.
  /// - Returns: The number of these items, and the number of those that are due.
  /// - Throws: ``LarderError``, with code `damaged` if an item of the listing is missing; and what `isDue` throws.
  package func see(
    _ listing: ListingID,
    _ isDue: (SeenDetail) throws -> UnixTime?
  ) throws(LarderError) -> (total: Int, due: Int) {
    try index.write { db in
      let items = try RowStatement(db, DetailQuery.listed.rawValue)
      let wanted = try RowStatement(db, DetailQuery.wanted.rawValue)
      let waiting = try RowStatement(db, DetailQuery.waiting.rawValue)
      var (read, total, due) = (0, 0, 0)
      items.restart(listing, catalog, readsItems ? 1 : 0)
      while try items.next() {
        read += 1
        // An item that waits, or was taken, can have got its first row since then.
        guard items.number(3) == 0, note(items.optionalNumber(4)) else { continue }
        let detail = SeenDetail(items)
        guard let checked = try isDue(detail) else {
          total += 1
          continue
        }
        try wanted.run(detail.item, items.number(1))
        guard db.changesCount > 0 else { continue }
        try waiting.run(checked)
        total += 1
        due += 1
      }
      guard try read == Index.count(of: listing, db) else { throw index.gone("an item", listing) }
      return (total, due)
    }
  }

  /// Notes that the run came across a detail in the index; returns false if it had before.
  private func note(_ row: Int64?) -> Bool {
    row.map { row in rows.withLock { $0.insert(row) } } ?? true
  }

  /// Takes the next details that wait, those with the oldest answers of the shop first, and those with none before them.
  ///
  /// - Parameter count: The maximum number of details.
  /// - Returns: The details.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func take(_ count: Int) throws(LarderError) -> [WantedDetail] {
    try index.write { db in
      let next = try RowStatement(db, DetailQuery.next.rawValue)
      let taken = try RowStatement(db, DetailQuery.taken.rawValue)
      next.restart(count, readsItems ? 1 : 0, catalog)
      var wanted: [WantedDetail] = []
      var (checked, number) = (Int64(0), Int64(0))
      while try next.next() {
        (checked, number) = (next.number(0), next.number(1))
        let item = next.text(2) ?? ""
        let record = next.bytes(3).map { ItemRecord(key: item, body: $0) }
        wanted.append(
          WantedDetail(
            item: item,
            record: record,
            row: next.optionalNumber(4),
            known: DetailEntry(next, from: 5),
            document: DocumentEntry(next, from: 10)
          )
        )
      }
      try taken.run(checked, number)
      return wanted
    }
  }

  /// The next details that the index had when the run came across their items, without those that the shop does not
  /// have and those that are set aside, in the order of the ids.
  ///
  /// - Parameters:
  ///   - last: The id of the last item that was read; an empty text to begin.
  ///   - count: The maximum number of details.
  /// - Returns: The details as they are now, as JSON; an empty array after the last one.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func held(after last: inout String, count: Int) throws(LarderError) -> [[UInt8]] {
    let (item, held) = try index.read { [last] db in
      let row = try RowStatement(db, DetailQuery.held.rawValue)
      row.restart(catalog, last)
      var (item, held) = (last, [[UInt8]]())
      while held.count < count, try row.next() {
        guard rows.withLock({ $0.contains(row.number(0)) }) else { continue }
        item = row.text(1) ?? ""
        held.append(row.bytes(2) ?? [])
      }
      return (item, held)
    }
    last = item
    return held
  }

  /// Sets a detail aside: its row stays as it is, and says nothing about the shop.
  ///
  /// - Parameters:
  ///   - item: The id of the item.
  ///   - new: The detail that may take the place of the row; nil if this run could not bring it up to date.
  /// - Throws: ``LarderError`` when there is no space for temporary files.
  package func setAside(_ item: String, for new: DetailEntry? = nil) throws(LarderError) {
    try index.run(DetailQuery.setAside.rawValue, item, new?.document, new?.body)
  }

  /// The numbers of the rows whose place details that were set aside may take.
  package func asideRows() throws(LarderError) -> [Int64] {
    try index.rows(DetailQuery.asideRows.rawValue, catalog) { $0.number(0) }
  }

  /// Takes the next details that were set aside and may take the place of their rows, without their pictures.
  package func takeAside(_ count: Int) throws(LarderError) -> [DetailEntry] {
    try index.write { db in
      var last = Int64(0)
      let details = try db.all(DetailQuery.aside.rawValue, count) { row in
        last = row.number(5)
        return DetailEntry(row)
      }
      try db.run(DetailQuery.dropAside.rawValue, last)
      return details.compactMap(\.self)
    }
  }

  /// Those of some items whose details neither waited nor were taken.
  package func unwanted(_ items: some Sequence<String>) throws(LarderError) -> [String] {
    try index.read { db in
      let rows = try RowStatement(db, DetailQuery.isWanted.rawValue)
      return try items.filter { try rows.first($0) { _ in } == nil }
    }
  }
}

extension Index {
  /// Records that the shop does not have the details of some items, whose rows have the time since which it is so.
  package func noteMissing(
    _ items: [String],
    of catalog: CatalogID
  ) throws(LarderError) {
    try write { db in
      let row = try RowStatement(db, DetailQuery.missing.rawValue)
      for item in items { try row.run(catalog, item) }
    }
  }

  /// Notes the row of a document whose body is unchanged, which ``keepRenewed()`` or the end of the run writes.
  ///
  /// A transaction for it alone would take five syncs of the disk. If a crash loses the row, the next run only requests
  /// the document once more.
  package func renew(_ document: DocumentEntry) throws(LarderError) {
    try write { db in try document.save(to: "temp.renewed", in: db) }
  }

  /// Writes the rows that ``renew(_:)`` noted in this run.
  package func keepRenewed() throws(LarderError) {
    try run(DetailQuery.keepRenewed.rawValue)
  }
}
