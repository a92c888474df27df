import Base
import GRDB
import SQLite
import Synchronization

/// A set of pictures on disk, for a ``PictureSet`` that is too large for memory.
///
/// The set is an unnamed temporary database of SQLite, which disappears when the process ends. SQLite creates its file
/// in `SQLITE_TMPDIR` or `TMPDIR`, or else in `/var/tmp` (https://sqlite.org/tempfiles.html, section 5). Only SQLite's
/// page cache is in memory. A table is thread-safe.
private final class ScratchTable: Sendable {
  private let database: ScratchDatabase

  /// Makes an empty table.
  ///
  /// - Throws: ``LarderError`` when SQLite cannot be used, or there is no space.
  init() throws(LarderError) {
    database = try ScratchDatabase("CREATE TABLE picture(id BLOB PRIMARY KEY) WITHOUT ROWID")
  }

  /// Inserts pictures, in the order of the table's pages.
  ///
  /// - Throws: ``LarderError`` when there is no space.
  func insert(_ ids: Set<PictureID>) throws(LarderError) {
    try database.write { db in
      var row = try RowWriter(db, "INSERT OR IGNORE INTO picture(id) VALUES (?)")
      for id in ids.sorted() {
        row.bind(1, id.digest)
        try row.run()
      }
    }
  }

  /// Those of the given pictures that are in the table.
  ///
  /// - Throws: ``LarderError`` when the file cannot be read.
  func members(_ ids: [PictureID]) throws(LarderError) -> Set<PictureID> {
    try database.read { db in
      let row = try RowReader(db, "SELECT 1 FROM picture WHERE id = ?")
      var found: Set<PictureID> = []
      for id in ids {
        row.restart(id.digest)
        if try row.next() { found.insert(id) }
      }
      return found
    }
  }

  /// All pictures in the table, sorted.
  ///
  /// - Throws: ``LarderError`` when the file cannot be read.
  func pictures() throws(LarderError) -> [PictureID] {
    try database.read { db in
      let rows = try RowReader(db, "SELECT id FROM picture ORDER BY id")
      var ids: [PictureID] = []
      while try rows.next() { ids.append(PictureID(rows.key(0))) }
      return ids
    }
  }
}

/// Sorts lines of text on disk and removes repeated lines, for the lists of URLs in a shard plan.
///
/// SQLite sorts the lines in temporary files. These are in the same folder as the file of a ``ScratchTable``. A
/// collection is thread-safe.
package final class ScratchLines: Sendable {
  private let database: ScratchDatabase
  private let pending = Mutex(Pending())

  /// The additions that are not inserted yet.
  private struct Pending {
    var lines: [(list: Int, text: String)] = []
    var failure: LarderError?
  }

  /// The number of lines to insert in one transaction.
  private static let batch = 1 << 12

  /// Makes an empty collection.
  ///
  /// - Throws: ``LarderError`` when SQLite cannot be used, or there is no space.
  package init() throws(LarderError) {
    database = try ScratchDatabase(
      "CREATE TABLE line(list INTEGER NOT NULL, text TEXT NOT NULL)"
    )
  }

  /// Adds a line to a list.
  ///
  /// If the line cannot be inserted, ``forEach(_:)`` throws the error.
  package func add(_ text: String, to list: Int) {
    pending.withLock { pending in
      pending.lines.append((list, text))
      if pending.lines.count == Self.batch { flush(&pending) }
    }
  }

  /// Calls `body` with each line of each list.
  ///
  /// The lists are sorted by their numbers, and the lines of a list by their bytes.
  ///
  /// - Throws: ``LarderError`` when there is no space, and the errors of `body`.
  package func forEach(_ body: (_ list: Int, _ text: String) throws -> Void) throws {
    let failure = pending.withLock { pending in
      flush(&pending)
      return pending.failure
    }
    if let failure { throw failure }
    do {
      try database.file.read { db in
        let rows = try RowReader(db, "SELECT list, text FROM line ORDER BY list, text")
        var last: (Int, String)?
        while try rows.next() {
          let line = (Int(rows.number(0)), rows.text(1) ?? "")
          if let last, last == line { continue }
          try body(line.0, line.1)
          last = line
        }
      }
    } catch let failure as DatabaseFailure {
      throw LarderError(failure, with: ScratchDatabase.name)
    }
  }

  private func flush(_ pending: inout Pending) {
    let lines = pending.lines
    pending.lines.removeAll(keepingCapacity: true)
    guard pending.failure == nil else { return }
    do throws(LarderError) {
      try database.write { db in
        var row = try RowWriter(db, "INSERT INTO line(list, text) VALUES (?,?)")
        for (list, text) in lines {
          row.bind(1, Int64(list))
          row.bind(2, text)
          try row.run()
        }
      }
    } catch {
      pending.failure = error
    }
  }
}

/// An unnamed temporary database that converts its errors to ``LarderError``.
private struct ScratchDatabase {
  /// The name of the database in messages.
  static let name = "temporary files"

  let file: SQLiteDatabase

  /// Makes a database with the table that the SQL statement `table` creates.
  init(_ table: String) throws(LarderError) {
    file = try LarderError.translating(Self.name) { try SQLiteDatabase(temporary: table) }
  }

  func write<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    try LarderError.translating(Self.name) { try file.write(body) }
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    try LarderError.translating(Self.name) { try file.read(body) }
  }
}

/// A set of pictures that is stored on disk if it becomes too large for memory.
///
/// New pictures are in a Swift set. When that set has ``most`` pictures, they are moved to a ``ScratchTable``, so that
/// the memory is limited. A set is not thread-safe, so its owner needs a lock.
package struct PictureSet {
  /// The maximum number of pictures in memory.
  package static let most = 1 << 18

  private var recent: Set<PictureID> = []
  private var older: ScratchTable?
  private let limit: Int
  /// The first error.
  ///
  /// After an error, nothing is added to the set.
  package private(set) var failure: LarderError?

  /// Makes an empty set.
  ///
  /// - Parameter limit: The maximum number of pictures in memory.
  package init(limit: Int = most) {
    self.limit = limit
  }

  /// Adds pictures.
  ///
  /// - Returns: The pictures that were not in the set before, in the order of `ids` and without repeats; empty after a
  ///   failure.
  package mutating func insert(_ ids: [PictureID]) -> [PictureID] {
    let known = known(ids)
    guard failure == nil else { return [] }
    let new = ids.filter { !known.contains($0) && recent.insert($0).inserted }
    if recent.count >= limit { moveToDisk() }
    return failure == nil ? new : []
  }

  /// Those of the given pictures that are in the set.
  package mutating func members(_ ids: [PictureID]) -> Set<PictureID> {
    known(ids).union(ids.filter(recent.contains))
  }

  /// Whether all of these pictures are in the set.
  package mutating func hasAll(_ ids: [PictureID]) -> Bool {
    // If everything is in memory, no temporary set is needed.
    older == nil ? ids.allSatisfy(recent.contains) : members(ids).isSuperset(of: ids)
  }

  /// All pictures, sorted, as an array in memory.
  ///
  /// - Throws: ``LarderError`` when the table cannot be read.
  package func sorted() throws(LarderError) -> [PictureID] {
    if let failure { throw failure }
    guard let older else { return recent.sorted() }
    return (try older.pictures() + recent).sorted()
  }

  /// Those of the given pictures that are in the table on disk.
  private mutating func known(_ ids: [PictureID]) -> Set<PictureID> {
    guard let older, failure == nil else { return [] }
    do throws(LarderError) {
      return try older.members(ids)
    } catch {
      failure = error
      return []
    }
  }

  private mutating func moveToDisk() {
    do throws(LarderError) {
      let table: ScratchTable
      if let older { table = older } else { table = try ScratchTable() }
      try table.insert(recent)
      older = table
      recent.removeAll(keepingCapacity: true)
    } catch {
      failure = error
    }
  }
}
