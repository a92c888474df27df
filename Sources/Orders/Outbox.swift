import CSQLite
import GRDB
import Glibc
import Transport

/// The orders, and what is still to be sent of them: one SQLite database outside every cache.
///
/// An order that ``place(_:)`` returned from survives any crash and power cut: rollback journal
/// and `synchronous=FULL`; no WAL, whose reset defect Debian's SQLite still has. The file is 0600.
///
/// Safe to call from any thread, and to open from any number of processes; calls wait for each
/// other.
package final class Outbox: Sendable {
  private let queue: DatabaseQueue
  /// The file.
  package let path: String

  /// How long a call waits for other processes before it gives up, in seconds.
  private static let patience = 20.0

  /// Opens the outbox at `path`, making it when there is none, and brings an older one up to date.
  ///
  /// - Throws: ``OrdersError``. A file that a newer larder wrote is not touched.
  package convenience init(_ path: String) throws(OrdersError) {
    try self.init(path, migrator: Self.migrator())
  }

  /// The same with migrations that a test may interrupt.
  init(_ path: String, migrator: DatabaseMigrator) throws(OrdersError) {
    // From the header: a transaction would already change the journal mode and the times.
    if let version = OutboxFile.version(of: path), version > Self.steps.count {
      throw .newer(path, version: version)
    }
    try OutboxFile.make(path)
    self.path = path
    var configuration = Configuration()
    configuration.busyMode = .timeout(Self.patience)
    configuration.prepareDatabase { db in
      try Self.harden(db, path)
      // TRUNCATE syncs the emptied journal, so that it cannot come back after a power cut.
      try db.execute(
        sql: """
          PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;
          PRAGMA cache_size = -4096
          """
      )
    }
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      try Self.migrate(queue, path, migrator)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Keeps what a planted or damaged file says from being believed, and the file from being damaged by it.
  ///
  /// - Throws: ``OrdersError`` when SQLite does not do so.
  static func harden(
    _ db: Database,
    _ path: String,
    _ defence: SQLiteDefence = SQLiteDefence(larder_sqlite_config)
  ) throws {
    guard defence.turnOn(db.sqliteConnection) else {
      throw OrdersError(.disk, "cannot use \(path): SQLite does not guard its schema")
    }
    try db.execute(sql: "PRAGMA trusted_schema = OFF")
    // SQLite says nothing of a pragma that it does not know.
    guard try Int.fetchOne(db, sql: "PRAGMA trusted_schema") == 0 else {
      throw OrdersError(.disk, "cannot use \(path): SQLite trusts whatever its file says")
    }
  }

  /// Whether there is an outbox at `path`.
  package static func exists(at path: String) -> Bool { access(path, F_OK) == 0 }

  /// Runs `body` in one transaction: all of it is committed and synced, or nothing.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(OrdersError) -> Value {
    do {
      return try queue.write(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Runs `body` on one moment's state.
  func read<Value>(_ body: (Database) throws -> Value) throws(OrdersError) -> Value {
    do {
      return try queue.read(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  private static func translate(_ error: any Error, _ path: String) -> OrdersError {
    if error is RowDecodingError || error is DecodingError {
      return damaged(path)
    }
    guard let error = error as? DatabaseError else {
      return error as? OrdersError ?? OrdersError(.disk, "cannot use \(path): \(error)")
    }
    switch error.resultCode {
    case .SQLITE_FULL:
      return OrdersError(.diskFull, "cannot write \(path): no space left; free some and run again")
    case .SQLITE_NOTADB, .SQLITE_CORRUPT:
      return damaged(path)
    case .SQLITE_BUSY:
      return OrdersError(.busy, "cannot use \(path): another process holds it; try again")
    default:
      return OrdersError(.disk, "cannot use \(path): \(error.message ?? "SQLite error")")
    }
  }

  private static func damaged(_ path: String) -> OrdersError {
    OrdersError(
      .damaged,
      "cannot read \(path): it is damaged; move it away, and save what sqlite3 .recover finds"
    )
  }
}
