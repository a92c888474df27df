import Base
import GRDB
import SQLite
import Synchronization
import Transport

/// The SQL statements that find the pictures to request.
///
/// Joins begin at the table that is named first. `DuePictureTests` checks that no statement scans a large table, except
/// ``held`` and ``untaken``.
enum DueQuery: String, CaseIterable {
  /// The pictures of a listing's items, each as often as items show it.
  case listed = """
    SELECT s.picture, p.url, p.checked, p.expiry, p.sha256 IS NOT NULL \
    FROM listing_item l CROSS JOIN item_picture s ON s.item = l.item LEFT JOIN picture p ON p.row = s.picture \
    WHERE l.listing = ?1
    """
  /// The pictures of a detail.
  case detailed = """
    SELECT s.picture, p.url, p.checked, p.expiry, p.sha256 IS NOT NULL \
    FROM detail_picture s LEFT JOIN picture p ON p.row = s.picture WHERE s.detail = ?1
    """
  case shown = "SELECT row, url, checked, expiry, sha256 IS NOT NULL FROM picture WHERE id = ?1"
  case due = "INSERT INTO temp.due(host, rank, checked, picture) VALUES (?1, ?2, ?3, ?4)"
  case next = """
    SELECT rank, checked, picture FROM temp.due WHERE host = ?1 ORDER BY rank, checked, picture LIMIT ?2
    """
  case waiting = """
    SELECT p.row FROM temp.due d CROSS JOIN picture p ON p.row = d.picture WHERE d.host = ?1 ORDER BY p.id
    """
  /// The due pictures that were not requested. A run of a shard asks once, at its end.
  case untaken = "SELECT p.id FROM temp.due d CROSS JOIN picture p ON p.row = d.picture"
  case taken = """
    DELETE FROM temp.due WHERE host = ?1 AND rank = ?2 AND checked = ?3 AND picture = ?4
    """
  /// All pictures in the cache. A run asks once, at its end.
  case held = "SELECT row, id, bytes FROM picture WHERE sha256 IS NOT NULL"
}

/// The rule by which a run decides which pictures are due.
package struct DueRule: Sendable {
  /// Whether an item or detail that shows the pictures has just changed.
  package var isChanged = false
  /// The current time.
  package var now: UnixTime
  /// In a merge of shards, what they have fetched.
  package var shards: ShardAnswers?

  /// Makes a rule.
  package init(isChanged: Bool, now: UnixTime, shards: ShardAnswers?) {
    (self.isChanged, self.now, self.shards) = (isChanged, now, shards)
  }

  /// Whether a picture needs a request.
  ///
  /// - Parameters:
  ///   - row: The number of its row.
  ///   - isHeld: Whether the cache has its bytes.
  ///   - checked: The time of the origin's last answer for it.
  ///   - expiry: The time at which that answer expires.
  /// - Returns: Whether it needs one.
  func isDue(_ row: Int64, isHeld: Bool, checked: UnixTime, expiry: UnixTime) -> Bool {
    guard isHeld else { return true }
    let fresh = FreshnessPolicy.window(answered: checked, expiry: expiry)
    guard let shards else { return !fresh.contains(now) }
    return !shards.rows.contains(row) && !fresh.contains(now) && !fresh.contains(shards.planned)
  }

  /// The rank of a due picture: 0 if it was never requested, 1 if it is cached and of a changed item, 2 otherwise.
  ///
  /// Pictures with a smaller rank are requested first, and among those of one rank, the one whose last answer is oldest.
  /// Pictures that one run did not reach are therefore early in the next run.
  func rank(checked: UnixTime, isHeld: Bool) -> Int64 {
    if !isHeld && checked == 0 { return 0 }
    return isHeld && isChanged ? 1 : 2
  }
}

/// The pictures that shards have fetched or revalidated, which a merge need not request.
package struct ShardAnswers: Sendable {
  /// The time of their plan.
  ///
  /// A picture that was fresh then is in no shard, and needs no request either.
  package let planned: UnixTime
  fileprivate var rows = RowSet()

  /// Makes the value for a plan, and no pictures yet.
  package init(planned: UnixTime) { self.planned = planned }
}

extension Index {
  /// Writes the rows of pictures that shards have put into the cache, in one transaction.
  ///
  /// If a row replaces the bytes of a picture, the change is recorded for the next run.
  ///
  /// - Parameters:
  ///   - entries: The rows.
  ///   - answers: Gets the pictures.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func importPictures(
    _ entries: [PictureEntry],
    into answers: inout ShardAnswers
  ) throws(LarderError) {
    answers.rows = try write { db in
      var rows = answers.rows
      let run = try Self.nextRun(db)
      let held = try RowStatement(db, "SELECT row, sha256, failure FROM picture WHERE id = ?")
      let writer = try PictureRowWriter(db)
      for entry in entries {
        let known = try held.first(entry.id) {
          ($0.number(0), $0.bytes(1) ?? ($0.text(2) == nil ? nil : []))
        }
        try writer.save(entry, before: known?.1, run: run, in: db)
        _ = rows.insert(known?.0 ?? db.lastInsertedRowID)
      }
      return rows
    }
  }
}

/// Pictures that a run comes across together.
package enum PictureSource: Sendable {
  /// The pictures of a listing's items.
  case listing(ListingID)
  /// The pictures of details in the index, which are given by the numbers of their rows.
  case details([Int64])
  /// The pictures with these ids, such as those of a new detail.
  case pictures([PictureID])
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

/// A set of row numbers, which takes one bit for each row of a table.
struct RowSet {
  /// Blocks of 4,096 rows, by their place in the table.
  ///
  /// Row numbers of a damaged index can be huge, so that an array of bits up to the largest is no choice.
  private var blocks: [Int64: [UInt64]] = [:]
  private(set) var count = 0

  /// Adds a row; returns false if the set had it.
  mutating func insert(_ row: Int64) -> Bool {
    let (word, bit) = (Int(row >> 6 & 63), UInt64(1) << UInt64(row & 63))
    return {
      guard $0[word] & bit == 0 else { return false }
      $0[word] |= bit
      count += 1
      return true
    }(&blocks[row >> 12, default: [UInt64](repeating: 0, count: 64)])
  }

  func contains(_ row: Int64) -> Bool {
    blocks[row >> 12].map { $0[Int(row >> 6 & 63)] >> UInt64(row & 63) & 1 == 1 } ?? false
  }
}

/// The pictures that a run came across, and those of them that wait for their requests.
///
/// The waiting pictures are rows of a temporary table.
package final class DuePictures: Sendable {
  private let index: Index
  private let host: @Sendable (String) -> String
  private let rows = Mutex(RowSet())

  /// Makes the empty set of a run.
  ///
  /// - Parameters:
  ///   - index: The index. Only one set of it is used at a time.
  ///   - host: The host that a URL is requested from, as a text; empty if the text is not a URL.
  /// - Throws: ``LarderError`` when there is no space for temporary files.
  package init(_ index: Index, host: @escaping @Sendable (String) -> String) throws(LarderError) {
    (self.index, self.host) = (index, host)
    try index.write {
      try $0.execute(
        sql: """
          DROP TABLE IF EXISTS temp.due;
          CREATE TEMP TABLE due(host TEXT NOT NULL, rank INTEGER NOT NULL, checked INTEGER NOT NULL,
            picture INTEGER NOT NULL, PRIMARY KEY(host, rank, checked, picture)) WITHOUT ROWID
          """
      )
    }
  }

  /// Notes that a run came across pictures, and finds those that are due.
  ///
  /// - Parameters:
  ///   - source: The pictures.
  ///   - rule: Decides which are due.
  /// - Returns: The counts.
  /// - Throws: ``LarderError`` when the index cannot be read, or there is no space for temporary files.
  package func see(
    _ source: PictureSource,
    by rule: DueRule
  ) throws(LarderError) -> SeenPictures {
    try index.write { db in
      var seen = SeenPictures()
      let due = try RowStatement(db, DueQuery.due.rawValue)
      try rows.withLock { rows in
        func note(_ row: borrowing RowStatement) throws {
          seen.references += 1
          guard rows.insert(row.number(0)) else { return }
          seen.total += 1
          let (checked, isHeld) = (row.time(2), row.number(4) != 0)
          let expiry = row.time(3)
          guard rule.isDue(row.number(0), isHeld: isHeld, checked: checked, expiry: expiry) else {
            return
          }
          guard let url = row.text(1) else { throw index.lostPicture() }
          let host = host(url)
          let rank = rule.rank(checked: checked, isHeld: isHeld)
          try due.run(host, rank, checked, row.number(0))
          seen.due[host, default: 0] += 1
        }
        switch source {
        case .listing(let listing):
          try db.forEach(DueQuery.listed.rawValue, listing, body: note)
        case .details(let details):
          for detail in details {
            try db.forEach(DueQuery.detailed.rawValue, detail, body: note)
          }
        case .pictures(let ids):
          for id in ids {
            guard try db.first(DueQuery.shown.rawValue, id, make: note) != nil else {
              throw index.lostPicture()
            }
          }
        }
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
  package func take(_ host: String, _ count: Int) throws(LarderError) -> [PictureEntry] {
    try index.write { db in
      let next = try RowStatement(db, DueQuery.next.rawValue)
      let picture = try RowStatement(db, Index.select + " WHERE row = ?")
      let taken = try RowStatement(db, DueQuery.taken.rawValue)
      let rows = try next.all(host, count) { ($0.number(0), $0.number(1), $0.number(2)) }
      return try rows.map { rank, checked, row in
        try taken.run(host, rank, checked, row)
        guard let entry = try picture.first(row, make: { PictureEntry($0) }) else {
          throw index.lostPicture()
        }
        return entry
      }
    }
  }

  /// The ids of the due pictures that were not taken.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func untaken() throws(LarderError) -> [PictureID] {
    try index.rows(DueQuery.untaken.rawValue) { PictureID($0.key(0)) }
  }

  /// Calls `body` with the id and the size of each picture in the cache that the run came across.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func forEachHeld(_ body: (PictureID, ByteCount) -> Void) throws(LarderError) {
    try index.read { db in
      try rows.withLock { rows in
        try db.forEach(DueQuery.held.rawValue) {
          if rows.contains($0.number(0)) { body(PictureID($0.key(1)), $0.byteCount(2)) }
        }
      }
    }
  }

  /// Whether the index has pictures that the run did not come across.
  ///
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func leavesOthers() throws(LarderError) -> Bool {
    let all = try index.row("SELECT count(*) FROM picture") { $0.number(0) } ?? 0
    return all > rows.withLock(\.count)
  }
}

extension Index {
  /// Calls `body` with the row of each due picture of a host in the order of the ids, one at a time, without taking it.
  ///
  /// Pictures without a row are left out, because another process may have removed them since they were found due.
  package func forEachDue(
    _ host: String,
    _ body: (PictureEntry) throws -> Void
  ) throws(LarderError) {
    try read { db in
      let picture = try RowStatement(db, Self.select + " WHERE row = ?")
      try db.forEach(DueQuery.waiting.rawValue, host) {
        try picture.forEach($0.number(0)) { try body(PictureEntry($0)) }
      }
    }
  }

  /// The pictures in the cache, by the ``ContentDigest/number(of:)`` of their bytes.
  func contents() throws(LarderError) -> [Int64: PictureID] {
    try read { db in
      var contents: [Int64: PictureID] = [:]
      let sql = "SELECT content, id FROM picture WHERE content IS NOT NULL AND content <> 0"
      try db.forEach(sql) { contents[$0.number(0)] = PictureID($0.key(1)) }
      return contents
    }
  }
}
