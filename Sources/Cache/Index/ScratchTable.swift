import Base
import GRDB
import SQLite
import Synchronization

/// A number for each of many pictures, beside memory: a database of SQLite's own for temporary files, which has no name
/// and is gone with the process.
///
/// Memory holds its page cache and the last additions, for any number of rows. SQLite puts the file where
/// `SQLITE_TMPDIR` or `TMPDIR` say, else into `/var/tmp` (https://sqlite.org/tempfiles.html, section 5). Safe on any
/// thread.
package final class ScratchTable: Sendable {
  private let database: ScratchDatabase
  /// The additions that wait.
  private let pending = Mutex<[(id: PictureID, number: Int64)]>([])
  private let most: Int

  /// Makes an empty table.
  ///
  /// - Parameter most: How many rows are gathered before they are added, in the order of the table's pages.
  /// - Throws: ``LarderError`` when SQLite is unfit or there is no room.
  package init(gathering most: Int = 1 << 18) throws(LarderError) {
    self.most = most
    database = try ScratchDatabase(
      "CREATE TABLE picture(id BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID"
    )
  }

  /// Adds a picture, which need not be found before ``settle()``.
  ///
  /// - Returns: A picture that was added before, with the number that it has; nil as long as there is none.
  /// - Throws: ``LarderError`` when there is no room.
  package func add(_ id: PictureID, _ number: Int64) throws(LarderError) -> PictureID? {
    let full = pending.withLock { pending in
      pending.append((id, number))
      defer { if pending.count == most { pending.removeAll(keepingCapacity: true) } }
      return pending.count == most ? pending : []
    }
    return try full.isEmpty ? nil : insert(full)
  }

  /// Adds the waiting rows; all additions are found from then on.
  ///
  /// - Returns: A picture that was added before; nil as long as there is none.
  /// - Throws: ``LarderError`` when there is no room.
  package func settle() throws(LarderError) -> PictureID? {
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

  /// The numbers of pictures, as far as they have any.
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

  /// All pictures that have a number, in order.
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

/// Lines of text in order, each once, for any number and order of additions: SQLite sorts them in temporary files, as
/// ``ScratchTable`` does.
///
/// Safe on any thread.
package final class ScratchLines: Sendable {
  private let database: ScratchDatabase
  private let pending = Mutex(Pending())

  /// The additions that wait.
  private struct Pending {
    var lines: [(list: Int, text: String)] = []
    var failure: LarderError?
  }

  /// How many lines are added in one transaction.
  private static let batch = 1 << 12

  /// No lines.
  ///
  /// - Throws: ``LarderError`` when SQLite is unfit or there is no room.
  package init() throws(LarderError) {
    database = try ScratchDatabase(
      "CREATE TABLE line(list INTEGER NOT NULL, text TEXT NOT NULL)"
    )
  }

  /// Adds a line to a list; a failure is told by ``forEach(_:)``.
  package func add(_ text: String, to list: Int) {
    pending.withLock { pending in
      pending.lines.append((list, text))
      if pending.lines.count == Self.batch { flush(&pending) }
    }
  }

  /// Calls `body` with each line of each list: the lists by number, a list's lines in the order of their bytes.
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
      throw ScratchDatabase.error(failure)
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

/// A database without a name, for data that a run need not remember.
private struct ScratchDatabase {
  let file: SQLiteDatabase

  /// Makes one with a table.
  init(_ table: String) throws(LarderError) {
    do {
      file = try SQLiteDatabase(temporary: table)
    } catch {
      throw Self.error(error)
    }
  }

  func write<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try file.write(body)
    } catch {
      throw Self.error(error)
    }
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try file.read(body)
    } catch {
      throw Self.error(error)
    }
  }

  static func error(_ error: any Error) -> LarderError {
    LarderError(error, with: "temporary files")
  }
}

/// A set of pictures that memory holds while they are few, and SQLite beside it when they are many.
///
/// Up to ``most`` it is a Swift set. Beyond, those that it held go into a ``ScratchTable``, and again whenever as many
/// have come, so that memory is bounded. Not safe on several threads: its owner has a lock.
package struct PictureSet {
  /// How many pictures memory holds at most.
  package static let most = 1 << 18

  private var recent: Set<PictureID> = []
  private var older: ScratchTable?
  private let limit: Int
  /// The first thing that went wrong; nothing is added from then on.
  package private(set) var failure: LarderError?

  /// An empty set.
  ///
  /// - Parameter limit: How many pictures memory holds at most.
  package init(limit: Int = most) {
    self.limit = limit
  }

  /// Adds pictures.
  ///
  /// - Returns: Those that were not there, in order, each once; none after a failure.
  package mutating func insert(_ ids: [PictureID]) -> [PictureID] {
    let known = known(ids)
    guard failure == nil else { return [] }
    let new = ids.filter { !known.contains($0) && recent.insert($0).inserted }
    if recent.count >= limit { spill() }
    return failure == nil ? new : []
  }

  /// Those of these pictures that are in the set.
  package mutating func members(_ ids: [PictureID]) -> Set<PictureID> {
    known(ids).union(ids.filter(recent.contains))
  }

  /// Whether all of these pictures are in the set.
  package mutating func hasAll(_ ids: [PictureID]) -> Bool {
    // Without a set of them for each question, where memory holds all that there is.
    older == nil ? ids.allSatisfy(recent.contains) : members(ids).isSuperset(of: ids)
  }

  /// All of them in order, in memory.
  ///
  /// - Throws: ``LarderError`` when they cannot be read.
  package func sorted() throws(LarderError) -> [PictureID] {
    if let failure { throw failure }
    guard let older else { return recent.sorted() }
    return (try older.pictures() + recent).sorted()
  }

  /// Those of these pictures that are in the table.
  private mutating func known(_ ids: [PictureID]) -> Set<PictureID> {
    guard let older, failure == nil else { return [] }
    do throws(LarderError) {
      return Set(try older.numbers(of: ids).map(\.id))
    } catch {
      failure = error
      return []
    }
  }

  private mutating func spill() {
    do throws(LarderError) {
      let table: ScratchTable
      if let older { table = older } else { table = try ScratchTable() }
      for id in recent { _ = try table.add(id, 0) }
      _ = try table.settle()
      older = table
      recent.removeAll(keepingCapacity: true)
    } catch {
      failure = error
    }
  }
}
