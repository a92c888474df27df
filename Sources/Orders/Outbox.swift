import Base
import GRDB
import Glibc
import SQLite

/// The database of orders and notices, with the queue of their messages to webhooks: an SQLite file outside every
/// cache.
///
/// Once ``place(_:)`` returns, the order survives any crash and power cut. The file's mode is 0600.
///
/// Thread-safe, and any number of processes may open the file; calls wait for each other.
package final class Outbox: Sendable {
  private let database: SQLiteDatabase
  /// The path of the file.
  package let path: String

  /// How long a call waits for other processes before it gives up, in seconds.
  private static let patience = 20.0

  /// Opens the outbox at `path`; creates a missing file, and migrates the file of an older larder.
  ///
  /// - Throws: ``LarderError``. The file of a newer larder is left unchanged.
  package convenience init(_ path: String) throws(LarderError) {
    try self.init(path, Self.tables())
  }

  /// Opens the outbox with a given schema, whose migrations a test may interrupt.
  init(_ path: String, _ tables: DatabaseSchema) throws(LarderError) {
    self.path = path
    try OutboxFile.make(path)
    do {
      database = try SQLiteDatabase(path, tables, patience: Self.patience) { _, _ in
        // At this point a newer larder's file has been refused, and nothing is written yet.
        try OutboxFile.restrict(path)
      }
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Whether there is an outbox at `path`.
  package static func exists(at path: String) -> Bool { access(path, F_OK) == 0 }

  /// Runs `body` in a transaction, which is synced to the device.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try database.write(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Runs `body`, which only reads, on a snapshot.
  func read<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try database.read(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// The outbox's error for an error that the database threw.
  static func translate(_ error: any Error, _ path: String) -> LarderError {
    if let error = error as? LarderError { return error }
    guard let failure = error as? DatabaseFailure else {
      return LarderError(.disk, "cannot use \(path): \(error)")
    }
    let problem = failure.problem(with: path)
    switch failure {
    case .full: return LarderError(.diskFull, problem + "; free some and run again")
    case .damaged, .strange:
      return LarderError(
        .damaged,
        "cannot read \(path): it is damaged; move it away, and recover its data with sqlite3 .recover"
      )
    case .busy: return LarderError(.busy, problem + "; try again")
    case .newer: return LarderError(.tooNew, problem + "; install that version or later")
    case .unfit, .refused: return LarderError(.disk, problem)
    }
  }
}

extension LarderError {
  /// The error for a failed system call: "cannot VERB THING: permission denied".
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> LarderError {
    .system(verb, thing, errno: code, remedy: .writableFile)
  }
}

/// Creates the file of the outbox, readable and writable only by its owner.
enum OutboxFile {
  /// Creates the file and its parent folders if they are missing.
  ///
  /// New folders have mode 0700 and the file 0600, because the file contains customers' names and orders. The names of
  /// the new folders and of the file are synced to the device, so that a power cut after the first order cannot lose
  /// the file.
  ///
  /// - Throws: ``LarderError`` when a system call fails.
  static func make(_ path: String) throws(LarderError) {
    let folder = self.folder(of: path)
    try makeFolders(folder)
    do throws(SystemError) {
      try DatabaseFile.make(path)
    } catch {
      throw .system("make", path, errno: error.code)
    }
    if let (path, kind) = DatabaseFile.irregular(path) {
      // A symbolic link could lead to a place where others can read the orders.
      guard kind != S_IFLNK else { throw .system("open", path, errno: ELOOP) }
      throw LarderError(
        .disk,
        "cannot open \(path): " + (kind == S_IFDIR ? "is a directory" : "not a regular file"),
        remedy: .nameFile,
        thing: path
      )
    }
    if try status(of: path).st_size == 0 { try sync(folder) }
  }

  /// Removes other users' permissions for the file.
  static func restrict(_ path: String) throws(LarderError) {
    guard try status(of: path).st_mode & 0o077 != 0 else { return }
    guard fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw .system("close to others", path, errno: errno)
    }
  }

  private static func status(of path: String) throws(LarderError) -> stat {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .system("open", path, errno: errno) }
    return status
  }

  /// The folder of a path.
  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func makeFolders(_ path: String) throws(LarderError) {
    var status = stat()
    if stat(path, &status) == 0 { return }
    let parent = folder(of: path)
    try makeFolders(parent)
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("make", path, errno: errno) }
    try sync(parent)
  }

  private static func sync(_ folder: String) throws(LarderError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // A folder with execute but no read permission cannot be opened, and so not synced.
      if errno == EACCES { return }
      throw .system("open", folder, errno: errno)
    }
    defer { close(descriptor) }
    do throws(SystemError) {
      try Files.sync(folder: descriptor)
    } catch {
      throw .system("sync", folder, errno: error.code)
    }
  }
}

extension Outbox {
  /// A migration of the tables.
  struct Step: Sendable {
    /// The migration's name, which the file records and which never changes.
    let name: String
    /// The migration's SQL statements.
    let statements: [String]
  }

  /// All migrations, in the order in which they are applied.
  ///
  /// Released migrations never change; new ones are added at the end.
  ///
  /// The number of migrations is the schema's version, also stored as `PRAGMA user_version`, by which older versions of
  /// larder refuse newer files. Files of version 1 do not record names of migrations, so the first migration leaves
  /// existing tables unchanged.
  ///
  /// Times are milliseconds since 1970.
  static let steps = [
    Step(
      name: "orders",
      statements: [
        // The orders, by the time of placing. Only `state` ever changes.
        """
        CREATE TABLE IF NOT EXISTS placed(
          row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, by TEXT NOT NULL,
          note TEXT, currency TEXT NOT NULL, total INTEGER NOT NULL, language TEXT NOT NULL,
          placed INTEGER NOT NULL, state TEXT NOT NULL)
        """,
        // The items of an order.
        """
        CREATE TABLE IF NOT EXISTS line(
          placed INTEGER NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL,
          title TEXT NOT NULL, price INTEGER NOT NULL, quantity INTEGER NOT NULL,
          PRIMARY KEY(placed, position)) WITHOUT ROWID
        """,
        // The states of an order, with the time at which each was reached.
        """
        CREATE TABLE IF NOT EXISTS change(
          placed INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL,
          time INTEGER NOT NULL,
          PRIMARY KEY(placed, position)) WITHOUT ROWID
        """,
        // The messages about orders, in the order of sending.
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
        // The attempts, with start and outcome; `ended` and `outcome` are NULL while unknown.
        """
        CREATE TABLE IF NOT EXISTS attempt(
          message INTEGER NOT NULL, number INTEGER NOT NULL, began INTEGER NOT NULL,
          ended INTEGER, outcome TEXT,
          PRIMARY KEY(message, number)) WITHOUT ROWID
        """,
        // The state of each webhook, by the SHA-256 of its URL. The URL itself is never stored.
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
        // Version 1 recorded these outcomes as failures, and would have resent the messages without asking the user.
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
    Step(
      name: "notices",
      statements: [
        // The subscriptions to a catalog's changes; `told` is the last run that was reported. A notice's row in
        // `message` has, in the column `placed`, the negated `row` of its subscription.
        """
        CREATE TABLE subscription(
          row INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, payload TEXT NOT NULL,
          cache TEXT NOT NULL, catalog TEXT NOT NULL, wish TEXT NOT NULL, told INTEGER NOT NULL,
          UNIQUE(webhook, payload, cache, catalog, wish))
        """,
        // The contents of notices, which report the changes after the run `after`.
        """
        CREATE TABLE notice(
          message INTEGER PRIMARY KEY, after INTEGER NOT NULL, content BLOB NOT NULL)
        """,
      ]
    ),
  ]

  /// The database schema of ``steps``.
  ///
  /// - Parameter interrupt: Called before every statement, within the transaction; throws in tests.
  /// - Returns: The schema of the file.
  static func tables(
    interrupt: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) -> DatabaseSchema {
    DatabaseSchema(
      steps.map { step in
        DatabaseSchema.Migration(step.name) { db in
          for statement in step.statements {
            try interrupt(db)
            try db.execute(sql: statement)
          }
          try interrupt(db)
        }
      }
    )
  }
}
