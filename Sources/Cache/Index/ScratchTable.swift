import Base
import GRDB
import SQLite
import Synchronization

/// A map from pictures to numbers on disk, for maps that may be too large for memory.
///
/// Used by ``PictureSet``, and by the merge of shards for the positions of results.
///
/// It is an unnamed temporary database of SQLite, which disappears with the process.
///
/// Memory has only SQLite's page cache and the last additions. SQLite creates the file in `SQLITE_TMPDIR` or `TMPDIR`,
/// or else in `/var/tmp` (https://sqlite.org/tempfiles.html, section 5). Thread-safe.
package final class ScratchTable: Sendable {
  private let database: ScratchDatabase
  /// The additions that are not inserted yet.
  private let pending = Mutex<[(id: PictureID, number: Int64)]>([])
  private let most: Int

  /// Makes an empty table.
  ///
  /// - Parameter most: The number of additions to collect, so that they can be inserted in the order of the table's
  ///   pages.
  /// - Throws: ``LarderError`` when SQLite cannot be used, or there is no space.
  package init(gathering most: Int = 1 << 18) throws(LarderError) {
    self.most = most
    database = try ScratchDatabase(
      "CREATE TABLE picture(id BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID"
    )
  }

  /// Adds a picture; look-ups may miss it until ``insertPending()``.
  ///
  /// - Returns: If this call inserted the waiting additions, one of their pictures that the table already had; it keeps
  ///   its first number. Nil otherwise.
  /// - Throws: ``LarderError`` when there is no space.
  package func add(_ id: PictureID, _ number: Int64) throws(LarderError) -> PictureID? {
    let full = pending.withLock { pending in
      pending.append((id, number))
      defer { if pending.count == most { pending.removeAll(keepingCapacity: true) } }
      return pending.count == most ? pending : []
    }
    return try full.isEmpty ? nil : insert(full)
  }

  /// Inserts the waiting additions, so that look-ups find all of them.
  ///
  /// - Returns: One of the waiting pictures that the table already had; it keeps its first number. Nil if there is
  ///   none.
  /// - Throws: ``LarderError`` when there is no space.
  package func insertPending() throws(LarderError) -> PictureID? {
    let rest = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    return try insert(rest)
  }

  private func insert(_ rows: [(id: PictureID, number: Int64)]) throws(LarderError) -> PictureID? {
    let sorted = rows.sorted { $0.id < $1.id }
    return try database.write { db in
      var twice: PictureID?
      var row = try RowWriter(db, "INSERT OR IGNORE INTO picture(id, number) VALUES (?,?)")
      var count = db.totalChangesCount
      for (id, number) in sorted {
        row.bind(1, id.digest)
        row.bind(2, number)
        try row.run()
        if db.totalChangesCount == count { twice = twice ?? id }
        count = db.totalChangesCount
      }
      return twice
    }
  }

  /// The numbers of these pictures; pictures without a number are left out.
  ///
  /// - Throws: ``LarderError`` when the file cannot be read.
  package func numbers(
    of ids: some Sequence<PictureID>
  ) throws(LarderError) -> [(id: PictureID, number: Int64)] {
    try database.read { db in
      let row = try RowReader(db, "SELECT number FROM picture WHERE id = ?")
      var found: [(id: PictureID, number: Int64)] = []
      for id in ids {
        row.restart(id.digest)
        if try row.next() { found.append((id, row.number(0))) }
      }
      return found
    }
  }

  /// All pictures that have a number, sorted.
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

/// Sorts lines of text on disk and removes duplicates, for the URL lists of a shard plan.
///
/// SQLite sorts the lines in temporary files, in the same folder as those of ``ScratchTable``. Thread-safe.
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

  /// Adds a line to a list; ``forEach(_:)`` throws the error of a failed insertion.
  package func add(_ text: String, to list: Int) {
    pending.withLock { pending in
      pending.lines.append((list, text))
      if pending.lines.count == Self.batch { flush(&pending) }
    }
  }

  /// Calls `body` with each line of each list: the lists in the order of their numbers, the lines in the order of their
  /// bytes.
  ///
  /// - Throws: ``LarderError`` when there is no space; errors of `body`.
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

/// An unnamed temporary database.
private struct ScratchDatabase {
  /// The name of the database in messages.
  static let name = "temporary files"

  let file: SQLiteDatabase

  /// Makes a database with a table.
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

/// A set of pictures in memory that moves to disk when it becomes large.
///
/// Up to ``most`` pictures are in a Swift set. Whenever the Swift set is full, its pictures move to a ``ScratchTable``,
/// so that memory is bounded. Not thread-safe: the owner has a lock.
package struct PictureSet {
  /// The maximum number of pictures in memory.
  package static let most = 1 << 18

  private var recent: Set<PictureID> = []
  private var older: ScratchTable?
  private let limit: Int
  /// The first error; nothing is added after it.
  package private(set) var failure: LarderError?

  /// Makes an empty set.
  ///
  /// - Parameter limit: The maximum number of pictures in memory.
  package init(limit: Int = most) {
    self.limit = limit
  }

  /// Adds pictures.
  ///
  /// - Returns: The pictures that were not in the set, in the order of `ids`, each once; none after a failure.
  package mutating func insert(_ ids: [PictureID]) -> [PictureID] {
    let known = known(ids)
    guard failure == nil else { return [] }
    let new = ids.filter { !known.contains($0) && recent.insert($0).inserted }
    if recent.count >= limit { moveToDisk() }
    return failure == nil ? new : []
  }

  /// The given pictures that are in the set.
  package mutating func members(_ ids: [PictureID]) -> Set<PictureID> {
    known(ids).union(ids.filter(recent.contains))
  }

  /// Whether all of these pictures are in the set.
  package mutating func hasAll(_ ids: [PictureID]) -> Bool {
    // Makes no temporary set if everything is in memory.
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

  /// The given pictures that are in the table.
  private mutating func known(_ ids: [PictureID]) -> Set<PictureID> {
    guard let older, failure == nil else { return [] }
    do throws(LarderError) {
      return Set(try older.numbers(of: ids).map(\.id))
    } catch {
      failure = error
      return []
    }
  }

  private mutating func moveToDisk() {
    do throws(LarderError) {
      let table: ScratchTable
      if let older { table = older } else { table = try ScratchTable() }
      for id in recent { _ = try table.add(id, 0) }
      _ = try table.insertPending()
      older = table
      recent.removeAll(keepingCapacity: true)
    } catch {
      failure = error
    }
  }
}
