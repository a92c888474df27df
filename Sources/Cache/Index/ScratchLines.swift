import Base
import GRDB
import SQLite
import Synchronization

/// Sorts lines of text on disk and removes repeated lines, for the lists of URLs in a shard plan.
///
/// SQLite sorts the lines in temporary files, in `SQLITE_TMPDIR` or `TMPDIR`, or else in `/var/tmp`
/// (https://sqlite.org/tempfiles.html, section 5). A collection is thread-safe.
package final class ScratchLines: Sendable {
  private let database: SQLiteDatabase
  private let pending = Mutex(Pending())

  /// The additions that are not inserted yet.
  private struct Pending {
    var lines: [(list: Int, text: String)] = []
    var failure: LarderError?
  }

  /// The name of the database in messages.
  private static let name = "temporary files"
  /// The number of lines to insert in one transaction.
  private static let batch = 1 << 12

  /// Makes an empty collection.
  ///
  /// - Throws: ``LarderError`` when SQLite cannot be used, or there is no space.
  package init() throws(LarderError) {
    database = try LarderError.translating(Self.name) {
      try SQLiteDatabase(temporary: "CREATE TABLE line(list INTEGER NOT NULL, text TEXT NOT NULL)")
    }
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
      try database.read { db in
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
      throw LarderError(failure, with: Self.name)
    }
  }

  private func flush(_ pending: inout Pending) {
    let lines = pending.lines
    pending.lines.removeAll(keepingCapacity: true)
    guard pending.failure == nil else { return }
    do throws(LarderError) {
      try LarderError.translating(Self.name) {
        try database.write { db in
          var row = try RowWriter(db, "INSERT INTO line(list, text) VALUES (?,?)")
          for (list, text) in lines {
            row.bind(1, Int64(list))
            row.bind(2, text)
            try row.run()
          }
        }
      }
    } catch {
      pending.failure = error
    }
  }
}
