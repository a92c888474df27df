import Base
import GRDB

/// The SQL statements that find the details of a run, and keep the rows of documents that the shop has unchanged.
///
/// A run keeps its knowledge in temporary tables of the index's connection. `wanted` has the items that the run came
/// across, each with the version in its first listing, and `waiting` those whose details were not taken yet. `renewed`
/// has rows of documents for the end of the run. `DueDetailTests` checks that no statement scans a large table.
enum DetailQuery: String, CaseIterable {
  case wanted = """
    INSERT INTO temp.wanted(item, version) SELECT i.key, l.item FROM listing_item l CROSS JOIN item i ON i.row = l.item \
    WHERE l.listing = ?1 ORDER BY l.place ON CONFLICT(item) DO NOTHING
    """
  case last = "SELECT coalesce(max(number), 0) FROM temp.wanted"
  case waiting = "INSERT INTO temp.waiting SELECT 0, '', number FROM temp.wanted WHERE number > ?1"
  /// The column `response` begins with the time of the last request and the time of the answer.
  case ranked = """
    INSERT INTO temp.waiting SELECT coalesce((
      SELECT CAST(coalesce(substr(o.response, instr(o.response, ' ') + 1), o.fetched, 0) AS INTEGER) \
      FROM detail d CROSS JOIN document o ON o.id = d.document WHERE d.catalog = ?2 AND d.item = w.item), 0),
      w.item, w.number FROM temp.wanted w WHERE w.number > ?1
    """
  case next = """
    SELECT q.checked, q.name, q.number, w.item, CASE WHEN ?2 THEN (SELECT body FROM item WHERE row = w.version) END \
    FROM temp.waiting q CROSS JOIN temp.wanted w ON w.number = q.number \
    ORDER BY q.checked, q.name, q.number LIMIT ?1
    """
  case taken = "DELETE FROM temp.waiting WHERE (checked, name, number) <= (?1, ?2, ?3)"
  /// The details that the shop still has, as far as is known.
  case held = """
    SELECT w.number, d.item, d.body FROM temp.wanted w CROSS JOIN detail d ON d.catalog = ?1 AND d.item = w.item \
    WHERE w.number > ?2 AND d.state = 'held' AND d.since IS NULL AND d.body IS NOT NULL ORDER BY w.number LIMIT ?3
    """
  case isWanted = "SELECT 1 FROM temp.wanted WHERE item = ?1"
  /// A document with new bytes since then has a newer row.
  case keepRenewed = """
    INSERT OR REPLACE INTO document SELECT r.* FROM temp.renewed r CROSS JOIN document d ON d.id = r.id \
    WHERE d.digest IS r.digest
    """

  /// Creates the temporary tables, or empties them if they exist.
  static let tables = """
    CREATE TEMP TABLE IF NOT EXISTS wanted(
      number INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE, version INTEGER NOT NULL);
    CREATE TEMP TABLE IF NOT EXISTS waiting(checked INTEGER NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL,
      PRIMARY KEY(checked, name, number)) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS renewed(
      id BLOB PRIMARY KEY, url TEXT, mapping INTEGER, response TEXT, expiry INTEGER, digest INTEGER,
      fetched INTEGER, next TEXT) WITHOUT ROWID;
    DELETE FROM temp.wanted;
    DELETE FROM temp.waiting;
    DELETE FROM temp.renewed;
    """
}

/// An item whose detail a run brings up to date.
package struct WantedDetail: Sendable {
  /// The item's id.
  package let item: String
  /// The item, if the values of its fields are needed.
  package let record: ItemRecord?
  /// The row of the detail; nil if there is none yet.
  package let known: DetailEntry?
}

extension Index {
  /// Notes that a run came across the items of a listing, so that their details wait for ``takeDetails(_:of:withItems:)``.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - catalog: The catalog, to take the details in the order of the shop's last answers. Pass nil to take them in
  ///     the order of the listings.
  /// - Returns: The number of items that the run had not come across before.
  /// - Throws: ``LarderError``, with code `damaged` if an item of the listing is missing.
  package func wantDetails(
    of listing: ListingID,
    rankedIn catalog: CatalogID?
  ) throws(LarderError) -> Int {
    try write { db in
      let last = try Int64.fetchOne(db.cachedStatement(sql: DetailQuery.last.rawValue)) ?? 0
      try demandWhole(listing, db)
      try db.cachedStatement(sql: DetailQuery.wanted.rawValue).execute(arguments: [listing])
      let count = db.changesCount
      if let catalog {
        try db.cachedStatement(sql: DetailQuery.ranked.rawValue).execute(arguments: [
          last, catalog,
        ])
      } else {
        try db.cachedStatement(sql: DetailQuery.waiting.rawValue).execute(arguments: [last])
      }
      return count
    }
  }

  /// Takes the next details that wait, in their order.
  ///
  /// - Parameters:
  ///   - count: The maximum number of details.
  ///   - catalog: The catalog of the run.
  ///   - withItems: Whether to read the items too.
  /// - Returns: The details.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func takeDetails(
    _ count: Int,
    of catalog: CatalogID,
    withItems: Bool
  ) throws(LarderError) -> [WantedDetail] {
    try write { db in
      let next = try RowReader(db, DetailQuery.next.rawValue)
      let known = try DetailReader(db)
      var taken = try RowWriter(db, DetailQuery.taken.rawValue)
      next.restart(Int64(count), Int64(withItems ? 1 : 0))
      var wanted: [WantedDetail] = []
      var (checked, name, number) = (Int64(0), "", Int64(0))
      while try next.next() {
        (checked, name, number) = (next.number(0), next.text(1) ?? "", next.number(2))
        let item = next.text(3) ?? ""
        let record = next.bytes(4).map { ItemRecord(key: item, body: $0) }
        wanted.append(
          WantedDetail(item: item, record: record, known: try known.detail(of: item, in: catalog))
        )
      }
      taken.bind(1, checked)
      taken.bind(2, name)
      taken.bind(3, number)
      try taken.run()
      return wanted
    }
  }

  /// The next details of items that the run came across, without those that the shop does not have.
  ///
  /// - Parameters:
  ///   - last: The number of the last item that was read; 0 to begin.
  ///   - catalog: The catalog of the run.
  ///   - count: The maximum number of details.
  /// - Returns: The details as they are now, as JSON; an empty array after the last one.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func heldDetails(
    after last: inout Int64,
    of catalog: CatalogID,
    count: Int
  ) throws(LarderError) -> [(item: String, body: [UInt8])] {
    let (rows, end) = try read { [last] db in
      let row = try RowReader(db, DetailQuery.held.rawValue)
      row.restart(catalog.rawValue, last, Int64(count))
      var rows: [(item: String, body: [UInt8])] = []
      var end = last
      while try row.next() {
        rows.append((row.text(1) ?? "", row.bytes(2) ?? []))
        end = row.number(0)
      }
      return (rows, end)
    }
    last = end
    return rows
  }

  /// Those of some items that the run did not come across.
  package func unwanted(_ items: some Sequence<String>) throws(LarderError) -> [String] {
    try read { db in
      let rows = try RowReader(db, DetailQuery.isWanted.rawValue)
      return try items.filter { item in
        rows.restart(item)
        return try !rows.next()
      }
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
    try write { db in try db.execute(sql: DetailQuery.keepRenewed.rawValue) }
  }
}
