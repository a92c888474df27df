import GRDB

/// The tables of a database, as the changes that make them.
package struct DatabaseSchema: Sendable {
  /// One change to the tables.
  package struct Migration: Sendable {
    /// The name by which files remember it; never changed.
    package let name: String
    /// Makes the change, in the transaction of the caller.
    let change: @Sendable (Database) throws -> Void

    /// Makes a migration from its name and its change.
    package init(_ name: String, _ change: @escaping @Sendable (Database) throws -> Void) {
      (self.name, self.change) = (name, change)
    }
  }

  /// Every change so far, in order; new ones are added at the end, and none that was released changes.
  package let migrations: [Migration]

  /// The version of a file that has seen all migrations: their number, which `PRAGMA user_version` holds.
  package var version: Int { migrations.count }

  /// Makes a schema of its migrations.
  package init(_ migrations: [Migration]) {
    self.migrations = migrations
  }

  /// The version in a database's header; 0 for one without tables.
  package static func version(of db: Database) throws -> Int {
    try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
  }

  /// Whether a database has seen all migrations, and no others.
  ///
  /// - Throws: ``DatabaseFailure/newer(_:known:)`` when it has seen more.
  func isCurrent(_ db: Database) throws -> Bool {
    let number = try Self.version(of: db)
    // There is no such table yet in a new file, nor in an outbox of version 1.
    let names = try? Int.fetchOne(db, sql: "SELECT count(*) FROM grdb_migrations")
    let seen = max(number, names ?? 0)
    guard seen <= version else { throw DatabaseFailure.newer(seen, known: version) }
    return number == version && names == version
  }

  /// Brings a database up to date in one transaction: for one wait for the device, and whole or not at all.
  ///
  /// Any number of processes may do so at once; all but the first find it done. Names are kept as GRDB's migrator keeps
  /// them, which made the files of earlier releases.
  ///
  /// - Throws: ``DatabaseFailure/newer(_:known:)`` when a newer larder came first; SQLite's errors.
  package func migrate(_ db: Database) throws {
    try db.inTransaction(.immediate) {
      guard try !isCurrent(db) else { return .commit }
      try db.execute(
        sql: "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"
      )
      let seen = try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
      for (place, migration) in migrations.enumerated() where !seen.contains(migration.name) {
        try migration.change(db)
        try db.execute(
          sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)",
          arguments: [migration.name]
        )
        try db.execute(sql: "PRAGMA user_version = \(place + 1)")
      }
      return .commit
    }
  }
}
