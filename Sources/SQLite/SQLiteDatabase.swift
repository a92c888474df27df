import Base
import CSQLite
import GRDB
import GRDBSQLite

/// An SQLite database, such as the index of a cache or the database of orders.
///
/// The database is hardened against planted files, and migrated to the current schema.
///
/// It has a rollback journal with `synchronous=FULL`, so that a committed transaction survives a power cut. It does not
/// use WAL, because Debian's SQLite still has the WAL-reset defect.
///
/// It can be used from any thread, because calls are serialized. A call throws ``DatabaseFailure``, or the error of its
/// body.
package final class SQLiteDatabase: Sendable {
  private let queue: DatabaseQueue

  /// The oldest SQLite that larder works with, which is the first release with the name `sqlite_schema`.
  ///
  /// `PRAGMA trusted_schema` exists since 3.31.0.
  private static let needed = LibraryVersion(3, 33, 0)

  /// Opens a database file, and applies missing migrations.
  ///
  /// If a file with an older schema is opened for reading, the file is not changed. Instead, a copy in memory is
  /// migrated.
  ///
  /// - Parameters:
  ///   - path: The file, which must exist, or `:memory:` for a database in memory.
  ///   - schema: The tables.
  ///   - isReadOnly: Whether the file is opened for reading.
  ///   - patience: The seconds that a call waits for locks of other processes.
  ///   - judge: Called with the version of the file, or 0 if it has no tables, before anything is written. It throws to
  ///     refuse the file.
  /// - Throws: ``DatabaseFailure``, or the error of `judge`.
  package init(
    _ path: String,
    _ schema: DatabaseSchema,
    isReadOnly: Bool = false,
    patience: Double = 10,
    judge: (Database, _ version: Int) throws -> Void = { _, _ in }
  ) throws {
    let found = LibraryVersion(thousands: sqlite3_libversion_number())
    if let shortcoming = found.shortcoming(of: "SQLite", needed: Self.needed) {
      throw DatabaseFailure.unfit(shortcoming)
    }
    var opened: DatabaseQueue?
    do {
      let file = try Self.connect(path, isReadOnly: isReadOnly, patience: patience)
      opened = file
      let isCurrent = try file.inDatabase { db in
        let isCurrent = try schema.isCurrent(db)
        try judge(db, DatabaseSchema.version(of: db))
        if !isReadOnly { try db.execute(sql: Self.settings) }
        return isCurrent
      }
      queue = isCurrent || !isReadOnly ? file : try Self.copy(of: file)
      if !isCurrent { try queue.inDatabase(schema.migrate) }
    } catch {
      throw DatabaseFailure.of(error, opened)
    }
  }

  /// Opens a database file for reading.
  ///
  /// Its version is not checked, and it is not migrated.
  package init(asFound path: String) throws {
    queue = try DatabaseFailure.translating { try Self.connect(path, isReadOnly: true) }
  }

  /// Rolls back the incomplete transaction of a killed writer. (https://sqlite.org/fileformat.html, section 3)
  ///
  /// The journal of a writer that is still alive looks the same as the journal of a killed one. SQLite tells the two
  /// apart by the writer's locks.
  package static func rollBack(_ path: String) throws {
    _ = try DatabaseFailure.translating {
      try connect(path, isReadOnly: false).inDatabase(DatabaseSchema.version)
    }
  }

  /// Opens a connection.
  private static func connect(
    _ path: String,
    isReadOnly: Bool,
    patience: Double = 10
  ) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(patience)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      try harden(db)
      try db.execute(sql: "PRAGMA cache_size = -4096")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The settings of a connection that writes.
  ///
  /// TRUNCATE syncs the emptied journal, so that it cannot come back after a power cut.
  ///
  /// Only a new file, and one that is vacuumed, gets the size of the pages. With SQLite's usual pages of 4 KiB, a cold
  /// sync of 10,000 pictures takes 6 % longer, a later sync without changes 6 %, and one with 10,000 details 7 %.
  private static let settings = """
    PRAGMA page_size = 16384; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL
    """

  /// Copies a database into memory.
  private static func copy(of file: DatabaseQueue) throws -> DatabaseQueue {
    let copy = try connect(":memory:", isReadOnly: false)
    try file.backup(to: copy)
    return copy
  }

  /// Runs `body` in one transaction.
  ///
  /// The transaction is committed and synced as a whole, or not at all.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try DatabaseFailure.translating(queue) { try queue.write(body) }
  }

  /// Runs `body`, which must not write, on one consistent state of the database.
  ///
  /// GRDB's own `read` would compile four statements at each call: the begin, the end, and twice the pragma
  /// `query_only`, which cannot be cached. That takes 80,000 instructions.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try DatabaseFailure.translating(queue) {
      try queue.unsafeRead { db in
        let changes = db.totalChangesCount
        try Self.perform("BEGIN", db)
        do {
          let value = try body(db)
          try Self.perform("COMMIT", db)
          assert(db.totalChangesCount == changes, "a read transaction has written")
          return value
        } catch {
          // After some errors, SQLite has already ended the transaction. In that case this ROLLBACK fails, and its
          // failure is ignored.
          try? Self.perform("ROLLBACK", db)
          throw error
        }
      }
    }
  }

  /// Executes a statement that returns no rows.
  ///
  /// The compiled statement is cached.
  private static func perform(_ sql: String, _ db: Database) throws {
    let statement = try db.cachedStatement(sql: sql).sqliteStatement
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw db.lastError }
  }

  /// Rewrites the file without unused pages.
  package func vacuum() throws {
    try DatabaseFailure.translating(queue) { try queue.vacuum() }
  }
}

extension SQLiteDatabase {
  /// The signature of `sqlite3_db_config` for an option that is on or off.
  ///
  /// The arguments are the connection, the option, the new state, and a pointer that receives the resulting state.
  ///
  /// Swift cannot call `sqlite3_db_config` itself, because that function is variadic.
  typealias Configure =
    @convention(c) (OpaquePointer, Int32, Int32, UnsafeMutablePointer<Int32>) -> Int32

  /// Makes SQLite distrust the schema of the file, and refuse statements that could damage the file.
  ///
  /// The schema may be damaged, or somebody may have planted it. (https://sqlite.org/c3ref/c_dbconfig_defensive.html)
  ///
  /// - Throws: ``DatabaseFailure/unfit(_:)`` when this SQLite does not support these settings.
  static func harden(_ db: Database, _ configure: Configure = larder_sqlite_config) throws {
    var state: Int32 = 0
    guard let connection = db.sqliteConnection,
      configure(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, &state) == SQLITE_OK, state == 1
    else { throw DatabaseFailure.unfit("this SQLite does not support defensive mode") }
    try db.execute(sql: "PRAGMA trusted_schema = OFF")
    // The result is checked, because SQLite silently ignores pragmas that it does not know.
    guard try Int.fetchOne(db, sql: "PRAGMA trusted_schema") == 0 else {
      throw DatabaseFailure.unfit("SQLite trusts the schema in the file")
    }
  }
}
