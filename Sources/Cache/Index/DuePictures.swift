import Base
import GRDB
import SQLite
import Transport

/// The SQL statements that find the pictures to request.
///
/// A run keeps its knowledge in temporary tables of the index's connection. `seen` has the rows of the pictures that it
/// came across, `came` those of the present call, and `due` those that wait for their requests. Joins begin at the table
/// that is named first. `DuePictureTests` checks that no statement scans a large table.
enum DueQuery: String, CaseIterable {
  case listed = """
    INSERT OR IGNORE INTO temp.came SELECT s.picture FROM listing_item l CROSS JOIN item_picture s ON s.item = l.item \
    WHERE l.listing = ?1
    """
  case references =
    "SELECT count(*) FROM listing_item l CROSS JOIN item_picture s ON s.item = l.item WHERE l.listing = ?1"
  case shown = "INSERT OR IGNORE INTO temp.came SELECT row FROM picture WHERE id = ?1"
  /// Because of the unary plus, SQLite looks up each row of `came` in `seen`.
  ///
  /// Otherwise it would look up each row of `seen` in `came`, at every call.
  case known = "DELETE FROM temp.came WHERE +picture IN (SELECT picture FROM temp.seen)"
  case seen = "INSERT INTO temp.seen SELECT picture FROM temp.came"
  /// The pictures that are not fresh at the moment ?1.
  ///
  /// The range of times is that of ``FreshnessPolicy/window(answered:expiry:)``, where ?3 is the tolerance. ?2 is the
  /// time of the plan of shards, or the end of time: a picture is not due if it was fresh then, or was answered since.
  /// The values are cast, because a text in a damaged row is larger than any number.
  case stale = """
    SELECT picture, url, checked, isHeld FROM (
      SELECT c.picture, p.url, coalesce(CAST(p.checked AS INTEGER), 0) AS checked,
        coalesce(CAST(p.expiry AS INTEGER), 0) AS expiry, p.sha256 IS NOT NULL AS isHeld
      FROM temp.came c LEFT JOIN picture p ON p.row = c.picture)
    WHERE NOT isHeld OR NOT (checked >= ?2
      OR checked < expiry AND (checked - ?3 <= ?1 AND ?1 < expiry OR checked - ?3 <= ?2 AND ?2 < expiry))
    """
  case due = "INSERT INTO temp.due(host, rank, checked, picture) VALUES (?1, ?2, ?3, ?4)"
  case next = """
    SELECT rank, checked, picture FROM temp.due WHERE host = ?1 ORDER BY rank, checked, picture LIMIT ?2
    """
  case waiting = "SELECT picture FROM temp.due WHERE host = ?1"
  case taken = """
    DELETE FROM temp.due WHERE host = ?1 AND rank = ?2 AND checked = ?3 AND picture = ?4
    """
  case bytes = """
    SELECT sum(p.bytes) FROM temp.seen s CROSS JOIN picture p ON p.row = s.picture WHERE p.sha256 IS NOT NULL
    """
  case pictures = "SELECT p.id FROM temp.seen s CROSS JOIN picture p ON p.row = s.picture"

  /// Creates the temporary tables, or empties them if they exist.
  static let tables = """
    CREATE TEMP TABLE IF NOT EXISTS seen(picture INTEGER PRIMARY KEY);
    CREATE TEMP TABLE IF NOT EXISTS came(picture INTEGER PRIMARY KEY);
    CREATE TEMP TABLE IF NOT EXISTS due(host TEXT NOT NULL, rank INTEGER NOT NULL, checked INTEGER NOT NULL,
      picture INTEGER NOT NULL, PRIMARY KEY(host, rank, checked, picture)) WITHOUT ROWID;
    DELETE FROM temp.seen;
    DELETE FROM temp.came;
    DELETE FROM temp.due;
    """
}

/// The rule by which a run decides which pictures are due.
package struct DueRule: Sendable {
  /// Whether an item or detail that shows the pictures has just changed.
  package var isChanged = false
  /// The current time.
  package var now: UnixTime
  /// In a merge of shards, the time of their plan.
  ///
  /// A cached picture is not due if the origin has answered for it since then, or if it was fresh then.
  package var since: UnixTime?
  /// Whether pictures are requested in the order of their value, and not in that of their rows.
  package var isRanked = false

  /// Makes a rule.
  package init(isChanged: Bool, now: UnixTime, since: UnixTime?, isRanked: Bool) {
    (self.isChanged, self.now, self.since, self.isRanked) = (isChanged, now, since, isRanked)
  }

  /// The rank of a due picture: 0 if it was never requested, 1 if it is cached and of a changed item, 2 otherwise.
  ///
  /// Pictures with a smaller rank are requested first, and among those of one rank, the one whose last answer is oldest.
  /// Pictures that one run did not reach are therefore early in the next run.
  func rank(checked: UnixTime, isHeld: Bool) -> Int64 {
    if !isRanked || !isHeld && checked == 0 { return 0 }
    return isHeld && isChanged ? 1 : 2
  }
}

/// The pictures that a run came across for the first time.
package struct SeenPictures: Sendable, Equatable {
  /// The number of references, in which a picture can occur several times.
  package var references = 0
  /// The number of pictures that the run had not come across before.
  package var total = 0
  /// The numbers of those that are due, by their hosts.
  package var due: [String: Int] = [:]
}

extension Index {
  /// Prepares the temporary tables for a run.
  package func forgetSeen() throws(LarderError) {
    try write { try $0.execute(sql: DueQuery.tables) }
  }

  /// Notes that a run came across the pictures of a listing, and finds those that are due.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - rule: Decides which are due.
  ///   - host: The host that a URL is requested from, as a text; empty if the text is not a URL.
  /// - Returns: The counts.
  /// - Throws: ``LarderError`` when the index cannot be read, or there is no space for temporary files.
  package func see(
    _ listing: ListingID,
    by rule: DueRule,
    host: (String) -> String
  ) throws(LarderError) -> SeenPictures {
    try see(by: rule, host: host) { db in
      try db.cachedStatement(sql: DueQuery.listed.rawValue).execute(arguments: [listing])
      return try Int.fetchOne(
        db.cachedStatement(sql: DueQuery.references.rawValue),
        arguments: [listing]
      ) ?? 0
    }
  }

  /// Notes that a run came across the pictures of details, and finds those that are due.
  ///
  /// - Parameters:
  ///   - ids: The pictures.
  ///   - rule: Decides which are due.
  ///   - host: The host that a URL is requested from, as a text; empty if the text is not a URL.
  /// - Returns: The counts.
  /// - Throws: ``LarderError`` when the index cannot be read, or there is no space for temporary files.
  package func see(
    _ ids: [PictureID],
    by rule: DueRule,
    host: (String) -> String
  ) throws(LarderError) -> SeenPictures {
    try see(by: rule, host: host) { db in
      var shown = try RowWriter(db, DueQuery.shown.rawValue)
      for id in ids {
        // This key stands for a picture that has no row.
        guard id.digest != IdentityDigest(high: 0, low: 0) else { throw lostPicture() }
        shown.bind(1, id.digest)
        try shown.run()
      }
      return ids.count
    }
  }

  /// Fills `came` by `fill`, and copies the pictures that are new to the run into `seen`, and the due ones into `due`.
  ///
  /// `fill` returns the number of references.
  private func see(
    by rule: DueRule,
    host: (String) -> String,
    _ fill: (Database) throws -> Int
  ) throws(LarderError) -> SeenPictures {
    try write { db in
      try db.cachedStatement(sql: "DELETE FROM temp.came").execute()
      var seen = SeenPictures(references: try fill(db))
      try db.cachedStatement(sql: DueQuery.known.rawValue).execute()
      try db.cachedStatement(sql: DueQuery.seen.rawValue).execute()
      seen.total = db.changesCount
      let stale = try RowReader(db, DueQuery.stale.rawValue)
      let since = rule.since ?? .distantFuture
      stale.restart(rule.now.seconds, since.seconds, FreshnessPolicy.clockTolerance)
      var due = try RowWriter(db, DueQuery.due.rawValue)
      while try stale.next() {
        guard let url = stale.text(1) else { throw lostPicture() }
        let (host, checked) = (host(url), stale.time(2))
        due.bind(1, host)
        due.bind(2, rule.rank(checked: checked, isHeld: stale.number(3) != 0))
        due.bind(3, rule.isRanked ? checked : UnixTime(0))
        due.bind(4, stale.number(0))
        try due.run()
        seen.due[host, default: 0] += 1
      }
      return seen
    }
  }

  /// Takes the next due pictures of a host, in the order of their requests.
  ///
  /// - Parameters:
  ///   - host: The host.
  ///   - count: The maximum number of pictures.
  /// - Returns: Their rows.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func takeDue(_ host: String, _ count: Int) throws(LarderError) -> [PictureEntry] {
    try write { db in
      let next = try RowReader(db, DueQuery.next.rawValue)
      let picture = try RowReader(db, Self.select + " WHERE row = ?")
      var taken = try RowWriter(db, DueQuery.taken.rawValue)
      next.restart(host, Int64(count))
      var rows: [(rank: Int64, checked: Int64, picture: Int64)] = []
      while try next.next() { rows.append((next.number(0), next.number(1), next.number(2))) }
      return try rows.map { row in
        taken.bind(1, host)
        taken.bind(2, row.rank)
        taken.bind(3, row.checked)
        taken.bind(4, row.picture)
        try taken.run()
        picture.restart(row.picture)
        guard try picture.next() else { throw lostPicture() }
        return PictureEntry(picture)
      }
    }
  }

  /// Calls `body` with the row of each due picture of a host, one at a time, without taking it.
  package func forEachDue(
    _ host: String,
    _ body: (PictureEntry) throws -> Void
  ) throws(LarderError) {
    try read { db in
      let waiting = try RowReader(db, DueQuery.waiting.rawValue)
      let picture = try RowReader(db, Self.select + " WHERE row = ?")
      waiting.restart(host)
      while try waiting.next() {
        picture.restart(waiting.number(0))
        guard try picture.next() else { throw lostPicture() }
        try body(PictureEntry(picture))
      }
    }
  }

  /// The total size of the held pictures that the run came across.
  package func bytesSeen() throws(LarderError) -> ByteCount {
    try read { db in
      let sums = try RowReader(db, DueQuery.bytes.rawValue)
      return try sums.next() ? sums.byteCount(0) : 0
    }
  }

  /// Whether the index has pictures that the run did not come across.
  package func hasUnseen() throws(LarderError) -> Bool {
    try read { db in
      let all = try Int.fetchOne(db, sql: "SELECT count(*) FROM picture") ?? 0
      return all > (try Int.fetchOne(db, sql: "SELECT count(*) FROM temp.seen") ?? 0)
    }
  }

  /// The pictures that the run came across.
  package func seenPictures() throws(LarderError) -> [PictureID] {
    try read { try PictureID.fetchAll($0, sql: DueQuery.pictures.rawValue) }
  }

  /// The pictures in the cache, by the ``ContentDigest/number(of:)`` of their bytes.
  func contents() throws(LarderError) -> [Int64: PictureID] {
    try read { db in
      try SQLiteDatabase.scan(db) {
        var contents: [Int64: PictureID] = [:]
        let rows = try RowReader(
          db,
          "SELECT content, id FROM picture WHERE content IS NOT NULL AND content <> 0"
        )
        while try rows.next() { contents[rows.number(0)] = PictureID(rows.key(1)) }
        return contents
      }
    }
  }
}
