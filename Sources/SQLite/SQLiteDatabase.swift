import Base
import CSQLite
import GRDB
import GRDBSQLite

/// One SQLite database, opened as larder opens every one: hardened, in rollback mode, and up to date.
///
/// Rollback journal and `synchronous=FULL`, so that a committed transaction survives a power cut; no WAL, whose reset
/// defect Debian's SQLite still has. The schema of a file is never trusted.
///
/// Safe to call from any thread; calls wait for each other. Calls throw ``DatabaseFailure``, or the error of their body.
package final class SQLiteDatabase: Sendable {
  private let queue: DatabaseQueue

  /// The first release that knows `sqlite_schema`; `PRAGMA trusted_schema` came with 3.31.0.
  private static let needed = LibraryVersion(3, 33, 0)

  /// Opens a database file, and brings it up to date.
  ///
  /// A file of an older version that is opened for reading stays as it is: a copy of it in memory is brought up to date.
  ///
  /// - Parameters:
  ///   - path: The file, which is there; `:memory:` for a database of its own in memory.
  ///   - schema: The tables.
  ///   - isReadOnly: Whether the file is opened for reading.
  ///   - patience: Seconds that a call waits for the locks of other processes.
  ///   - judge: Called with the file's version, 0 without tables, before anything is written; throws to refuse the file.
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
        // TRUNCATE syncs the emptied journal, so that it cannot come back after a power cut.
        if !isReadOnly {
          try db.execute(sql: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL")
        }
        return isCurrent
      }
      queue = isCurrent || !isReadOnly ? file : try Self.copy(of: file)
      if !isCurrent { try queue.inDatabase(schema.migrate) }
    } catch {
      throw DatabaseFailure.of(error, opened)
    }
  }

  /// Opens a database file for reading, in any version and state.
  package init(asFound path: String) throws {
    do {
      queue = try Self.connect(path, isReadOnly: true)
    } catch {
      throw DatabaseFailure.of(error)
    }
  }

  /// Makes an unnamed temporary database for data that a run need not keep in memory; it ends with the
  /// process.
  ///
  /// Memory holds 16 MiB of its pages. SQLite puts the file where `SQLITE_TMPDIR` or `TMPDIR` say, else into `/var/tmp`.
  /// (https://sqlite.org/tempfiles.html, section 5)
  ///
  /// - Parameter tables: The statements that make its tables.
  /// - Throws: ``DatabaseFailure``.
  package init(temporary tables: String) throws {
    do {
      // No other process ever reads it, so that neither a journal nor a sync is worth its time.
      queue = try Self.connect(
        "",
        isReadOnly: false,
        pragmas: "journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE",
        cacheSize: 16_384
      )
      try queue.inDatabase { try $0.execute(sql: tables) }
    } catch {
      throw DatabaseFailure.of(error)
    }
  }

  /// Undoes the transaction that a killed writer left half in a file. (https://sqlite.org/fileformat.html, section 3)
  ///
  /// A live writer's journal looks the same; SQLite tells the two apart by the writer's locks.
  package static func rollBack(_ path: String) throws {
    do {
      _ = try connect(path, isReadOnly: false).inDatabase(DatabaseSchema.version)
    } catch {
      throw DatabaseFailure.of(error)
    }
  }

  /// Opens a connection; `pragmas` are those that a guarded one forbids, without the first `PRAGMA`.
  private static func connect(
    _ path: String,
    isReadOnly: Bool,
    patience: Double = 10,
    pragmas: String? = nil,
    cacheSize: Int = usualCache
  ) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(patience)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      if let pragmas { try db.execute(sql: "PRAGMA \(pragmas)") }
      try harden(db)
      try db.execute(sql: "PRAGMA cache_size = -\(cacheSize)")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The pages that a connection keeps in memory, in KiB.
  private static let usualCache = 4096

  /// The same contents in memory.
  private static func copy(of file: DatabaseQueue) throws -> DatabaseQueue {
    let copy = try connect(":memory:", isReadOnly: false)
    try file.backup(to: copy)
    return copy
  }

  /// Runs `body` in one transaction: all of it is committed and synced, or nothing.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    do {
      return try queue.write(body)
    } catch {
      throw DatabaseFailure.of(error, queue)
    }
  }

  /// Runs `body`, which writes nothing, on one moment's state.
  ///
  /// GRDB's own reading compiles four statements each time, 80 thousand instructions: the beginning, the end, and twice
  /// the pragma by which SQLite refuses to write, which cannot be kept compiled.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    do {
      return try queue.unsafeRead { db in
        let changes = db.totalChangesCount
        try Self.perform("BEGIN", db)
        do {
          let value = try body(db)
          try Self.perform("COMMIT", db)
          assert(db.totalChangesCount == changes, "a read transaction has written")
          return value
        } catch {
          // SQLite itself ends the transaction at some errors, and then says that there is none.
          try? Self.perform("ROLLBACK", db)
          throw error
        }
      }
    } catch {
      throw DatabaseFailure.of(error, queue)
    }
  }

  /// Performs a statement without rows, which stays compiled.
  private static func perform(_ sql: String, _ db: Database) throws {
    let statement = try db.cachedStatement(sql: sql).sqliteStatement
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw db.lastError }
  }

  /// Has `body` read a table from its beginning to its end in little memory.
  ///
  /// No page is asked for twice. Kept, they would take memory that is new to the process, and a fault for each costs
  /// more than the page takes to read.
  package static func scan<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
    try db.execute(sql: "PRAGMA cache_size = -256")
    defer { try? db.execute(sql: "PRAGMA cache_size = -\(usualCache)") }
    return try body()
  }

  /// Rewrites the file without its unused pages.
  package func vacuum() throws {
    do {
      try queue.vacuum()
    } catch {
      throw DatabaseFailure.of(error, queue)
    }
  }
}

extension SQLiteDatabase {
  /// `sqlite3_db_config` with one switch: connection, option, its new state, and a place for the resulting
  /// state.
  ///
  /// Swift cannot call the function itself, which is variadic.
  typealias Configure =
    @convention(c) (OpaquePointer, Int32, Int32, UnsafeMutablePointer<Int32>) -> Int32

  /// Has SQLite distrust the schema of a planted or damaged file, and refuse statements that could damage the file.
  ///
  /// (https://sqlite.org/c3ref/c_dbconfig_defensive.html)
  ///
  /// - Throws: ``DatabaseFailure/unfit(_:)`` when SQLite does not do so.
  static func harden(_ db: Database, _ configure: Configure = larder_sqlite_config) throws {
    var state: Int32 = 0
    guard let connection = db.sqliteConnection,
      configure(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, &state) == SQLITE_OK, state == 1
    else { throw DatabaseFailure.unfit("SQLite does not guard its schema") }
    try db.execute(sql: "PRAGMA trusted_schema = OFF")
    // SQLite says nothing of a pragma that it does not know.
    guard try Int.fetchOne(db, sql: "PRAGMA trusted_schema") == 0 else {
      throw DatabaseFailure.unfit("SQLite trusts the schema in the file")
    }
  }
}
