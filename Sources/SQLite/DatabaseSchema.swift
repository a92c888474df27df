import GRDB

/// The tables of a database, defined by a list of migrations.
package struct DatabaseSchema: Sendable {
  /// A change to the tables.
  package struct Migration: Sendable {
    /// The name, which must never change, because database files record it.
    package let name: String
    /// Applies the change, in a transaction of the caller.
    let change: @Sendable (Database) throws -> Void

    /// Makes a migration from its name and its change.
    package init(_ name: String, _ change: @escaping @Sendable (Database) throws -> Void) {
      (self.name, self.change) = (name, change)
    }
  }

  /// All migrations, in the order in which they are applied.
  ///
  /// Add new migrations at the end. Never change a migration that was released.
  package let migrations: [Migration]

  /// The version of a file to which all migrations were applied.
  ///
  /// The file has it in `PRAGMA user_version`.
  package let version: Int

  /// Makes a schema from its migrations.
  ///
  /// - Parameters:
  ///   - migrations: The migrations, in the order in which they are applied.
  ///   - version: The version after all of them; nil for the number of the migrations.
  package init(_ migrations: [Migration], version: Int? = nil) {
    self.migrations = migrations
    self.version = version ?? migrations.count
  }

  /// The version in the header of a database; 0 for a database without tables.
  package static func version(of db: Database) throws -> Int {
    try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
  }

  /// Whether exactly these migrations were applied to a database.
  ///
  /// - Throws: ``DatabaseFailure/newer(_:known:)`` when more migrations were applied.
  func isCurrent(_ db: Database) throws -> Bool {
    let number = try Self.version(of: db)
    // A new file does not have this table yet. A database of orders of version 1 does not have it either.
    let names = try? Int.fetchOne(db, sql: "SELECT count(*) FROM grdb_migrations")
    let seen = max(number, names ?? 0)
    guard seen <= version else { throw DatabaseFailure.newer(seen, known: version) }
    return number == version && names == migrations.count
  }

  /// Applies all missing migrations atomically, in one transaction that is synced once.
  ///
  /// If several processes call this function at once, the first one does the work. The names of migrations go into the
  /// table that GRDB's migrator uses, because that migrator created the files of earlier releases.
  ///
  /// - Throws: ``DatabaseFailure/newer(_:known:)`` when a newer larder has already changed the file; SQLite's errors.
  package func migrate(_ db: Database) throws {
    try db.inTransaction(.immediate) {
      guard try !isCurrent(db) else { return .commit }
      try db.execute(
        sql: "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"
      )
      let seen = try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
      for migration in migrations where !seen.contains(migration.name) {
        try migration.change(db)
        try db.execute(
          sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)",
          arguments: [migration.name]
        )
      }
      try db.execute(sql: "PRAGMA user_version = \(version)")
      return .commit
    }
  }
}
