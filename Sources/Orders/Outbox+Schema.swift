import GRDB

extension Outbox {
  /// One change of the tables, made in one transaction, whole or not at all.
  struct Step: Sendable {
    /// Its name in the file, for good.
    let name: String
    /// What it does, a statement each.
    let statements: [String]
  }

  /// Every change so far, in order.
  ///
  /// What stands here was written into files and never changes; new ones are added at the end.
  ///
  /// The number of steps is the schema's version, which `PRAGMA user_version` repeats for older
  /// versions of larder: they refuse what is above theirs. Files of version 1 know no names of
  /// steps, so the first step leaves alone what is there.
  ///
  /// Times are milliseconds since 1970.
  static let steps = [
    Step(
      name: "orders",
      statements: [
        // An order, in the order of placing. Nothing but `state` ever changes.
        """
        CREATE TABLE IF NOT EXISTS placed(
          row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, by TEXT NOT NULL,
          note TEXT, currency TEXT NOT NULL, total INTEGER NOT NULL, language TEXT NOT NULL,
          placed INTEGER NOT NULL, state TEXT NOT NULL)
        """,
        // What is ordered.
        """
        CREATE TABLE IF NOT EXISTS line(
          placed INTEGER NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL,
          title TEXT NOT NULL, price INTEGER NOT NULL, quantity INTEGER NOT NULL,
          PRIMARY KEY(placed, position)) WITHOUT ROWID
        """,
        // Every state that an order came into, and when.
        """
        CREATE TABLE IF NOT EXISTS change(
          placed INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL,
          time INTEGER NOT NULL,
          PRIMARY KEY(placed, position)) WITHOUT ROWID
        """,
        // A message about an order, in the order of sending.
        """
        CREATE TABLE IF NOT EXISTS message(
          row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, placed INTEGER NOT NULL,
          state TEXT NOT NULL, changed INTEGER NOT NULL,
          delivery TEXT NOT NULL, attempts INTEGER NOT NULL, tries INTEGER NOT NULL,
          error TEXT, next INTEGER)
        """,
        "CREATE INDEX IF NOT EXISTS message_placed ON message(placed, row)",
        """
        CREATE INDEX IF NOT EXISTS message_waiting ON message(delivery, row)
          WHERE delivery NOT IN ('delivered', 'dead')
        """,
        // Every attempt: when it began, and how it ended, NULL while nobody knows.
        """
        CREATE TABLE IF NOT EXISTS attempt(
          message INTEGER NOT NULL, number INTEGER NOT NULL, began INTEGER NOT NULL,
          ended INTEGER, outcome TEXT,
          PRIMARY KEY(message, number)) WITHOUT ROWID
        """,
        // What is remembered of a webhook, by the SHA-256 of its URL: the URL itself is kept
        // nowhere.
        """
        CREATE TABLE IF NOT EXISTS webhook(
          digest TEXT PRIMARY KEY, host TEXT NOT NULL, stopped TEXT, stopped_at INTEGER,
          paused_until INTEGER, next_slot INTEGER) WITHOUT ROWID
        """,
      ]
    ),
    Step(
      name: "attempts-that-may-have-arrived",
      statements: [
        // Version 1 took these for failures, and would have sent them again unasked.
        """
        UPDATE attempt SET outcome = 'unknown ' || substr(outcome, length('failed ') + 1)
          WHERE outcome IN ('failed reply-not-ok', 'failed http-302', 'failed http-303',
            'failed http-499', 'failed http-502', 'failed http-504', 'failed http-520',
            'failed http-522', 'failed http-524')
        """,
        "CREATE INDEX message_retried ON message(next) WHERE delivery = 'queued' AND tries > 0",
      ]
    ),
    Step(
      name: "beginning-of-a-pause",
      statements: ["ALTER TABLE webhook ADD COLUMN paused_at INTEGER"]
    ),
  ]

  /// The migrations of ``steps``.
  ///
  /// - Parameter interrupt: called before every statement, with the transaction open; a test
  ///   throws here.
  /// - Returns: The migrator, which GRDB runs.
  static func migrator(
    interrupt: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for (index, step) in steps.enumerated() {
      migrator.registerMigration(step.name, foreignKeyChecks: .immediate) { db in
        for statement in step.statements {
          try interrupt(db)
          try db.execute(sql: statement)
        }
        try interrupt(db)
        try db.execute(sql: "PRAGMA user_version = \(index + 1)")
      }
    }
    return migrator
  }

  /// Brings the file up to date, unless it is.
  ///
  /// Any number of processes may do so at once: one that finds a step done by another continues with the next.
  ///
  /// - Throws: ``OrdersError`` of code `tooNew` for a file of a newer version, which is left as it
  ///   is; what SQLite says. The file then is of one version or another, and whole.
  static func migrate(_ queue: DatabaseQueue, _ path: String, _ migrator: DatabaseMigrator) throws
  {
    for rest in (0..<steps.count * 2).reversed() {
      do {
        let (isNewer, isDone) = try queue.read { db in
          (try migrator.hasBeenSuperseded(db), try migrator.hasCompletedMigrations(db))
        }
        if isNewer {
          let known = try queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM grdb_migrations")
          }
          throw OrdersError.newer(path, version: known ?? steps.count + 1)
        }
        if isDone { return }
        return try migrator.migrate(queue)
      } catch let error as DatabaseError where rest > 0 && isRace(error) {
        continue
      }
    }
  }

  /// Whether another process did the step in between: its name was there already, or the table of
  /// names came between a look at it and the question whether it exists.
  private static func isRace(_ error: DatabaseError) -> Bool {
    [.SQLITE_CONSTRAINT, .SQLITE_ERROR].contains(error.resultCode)
  }
}

extension OrdersError {
  /// A file that this larder does not understand.
  static func newer(_ path: String, version: Int) -> OrdersError {
    OrdersError(
      .tooNew,
      "cannot use \(path): it was written by a newer larder (schema \(version), this one knows "
        + "\(Outbox.steps.count)); install that version or later"
    )
  }
}
