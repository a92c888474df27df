import Base
import GRDB
import Glibc
import SQLite

/// The database of orders, and the queue of messages to webhooks.
///
/// It is an SQLite file, which does not belong to a cache. A message is about an order, or is a notice about changes of
/// a catalog. When ``place(_:)`` returns, the order survives a crash and a power cut. Only the owner can read the file.
///
/// It is thread-safe. Any number of processes can use the file at the same time. A call waits until no other process
/// writes.
package final class Outbox: Sendable {
  private let database: SQLiteDatabase
  /// The path of the file.
  package let path: String

  /// The number of seconds for which a call waits for other processes before it fails.
  private static let patience = 20.0

  /// Opens the file at `path`.
  ///
  /// If there is no file, it is created. The file of an older larder is migrated.
  ///
  /// - Throws: ``LarderError``. It is also thrown if a newer larder wrote the file. In that case the file is not
  ///   changed.
  package convenience init(_ path: String) throws(LarderError) { try self.init(path, Self.tables) }

  /// Opens the file with a schema.
  ///
  /// Tests pass a schema whose migrations fail.
  init(_ path: String, _ tables: DatabaseSchema) throws(LarderError) {
    self.path = path
    try OutboxFile.make(path)
    do {
      database = try SQLiteDatabase(path, tables, patience: Self.patience) { _, _ in
        // At this time, the file is not from a newer larder, and nothing has been written yet.
        try OutboxFile.restrict(path)
      }
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Opens the file at `path`; the result is nil if there is none.
  package static func existing(_ path: String) throws(LarderError) -> Outbox? {
    access(path, F_OK) == 0 ? try Outbox(path) : nil
  }

  /// Runs `body` in a transaction.
  ///
  /// When this returns, the transaction survives a power cut.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try database.write(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Runs `body`, which must only read.
  ///
  /// It does not see transactions that are committed in the meantime.
  func read<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try database.read(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Converts an error that the database threw to an error with the outbox's message.
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
  /// The error for a failed system call, for example with the message "cannot open PATH: permission denied".
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> LarderError {
    .system(verb, thing, errno: code, remedy: .writableFile)
  }
}

/// Creates the file of the outbox.
///
/// Only its owner can read and write the file.
enum OutboxFile {
  /// Creates the file and its parent folders if they do not exist.
  ///
  /// Other users cannot read the new file and folders, because the file contains the names and orders of customers. The
  /// folders are synced, so that the file itself survives a power cut.
  ///
  /// - Throws: ``LarderError`` if a system call fails.
  static func make(_ path: String) throws(LarderError) {
    let folder = Files.folder(of: path)
    try makeFolders(folder)
    do throws(SystemError) {
      try DatabaseFile.make(path)
    } catch {
      throw .system("make", path, errno: error.code)
    }
    if let (path, kind) = DatabaseFile.irregular(path) {
      // A symbolic link could lead to a folder where other users can read the orders.
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

  /// Removes the permissions of other users for the file.
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

  private static func makeFolders(_ path: String) throws(LarderError) {
    var status = stat()
    if stat(path, &status) == 0 { return }
    let parent = Files.folder(of: path)
    try makeFolders(parent)
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("make", path, errno: errno) }
    try sync(parent)
  }

  private static func sync(_ folder: String) throws(LarderError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Without read permission, a folder cannot be opened for syncing, although files can be created in it.
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
  /// All migrations, in the order in which they are carried out.
  ///
  /// A migration changes the tables of an older version to the tables of the next version. It must not change after its
  /// release, and neither must its name, which is stored in the file. New migrations are added at the end.
  ///
  /// The version of a file is the number of its migrations. It is stored as `PRAGMA user_version`, so that an older
  /// larder can refuse the file. A file of version 1 does not contain the names of its migrations, so the first
  /// migration is carried out again. It does not change tables that exist.
  ///
  /// All times in the tables are in milliseconds since 1970.
  static let steps: [(name: String, statements: [String])] = [
    (
      name: "orders",
      statements: [
        // The orders, in the order in which they were placed. Only the column `state` changes later.
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
        // The states that orders reached, with the time of each.
        """
        CREATE TABLE IF NOT EXISTS change(
          placed INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL,
          time INTEGER NOT NULL,
          PRIMARY KEY(placed, position)) WITHOUT ROWID
        """,
        // The messages, in the order in which they are sent.
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
        // The attempts to send messages. `ended` and `outcome` are NULL until they are known.
        """
        CREATE TABLE IF NOT EXISTS attempt(
          message INTEGER NOT NULL, number INTEGER NOT NULL, began INTEGER NOT NULL,
          ended INTEGER, outcome TEXT,
          PRIMARY KEY(message, number)) WITHOUT ROWID
        """,
        // The states of the webhooks. `digest` is the SHA-256 of a webhook's URL. The URL itself is never stored.
        """
        CREATE TABLE IF NOT EXISTS webhook(
          digest TEXT PRIMARY KEY, host TEXT NOT NULL, stopped TEXT, stopped_at INTEGER,
          paused_until INTEGER, next_slot INTEGER) WITHOUT ROWID
        """,
      ]
    ),
    (
      name: "attempts-that-may-have-arrived",
      statements: [
        // Version 1 stored these outcomes as failures, and sent the messages again without asking the user.
        """
        UPDATE attempt SET outcome = 'unknown ' || substr(outcome, length('failed ') + 1)
          WHERE outcome IN ('failed reply-not-ok', 'failed http-302', 'failed http-303',
            'failed http-499', 'failed http-502', 'failed http-504', 'failed http-520',
            'failed http-522', 'failed http-524')
        """,
        "CREATE INDEX message_retried ON message(next) WHERE delivery = 'queued' AND tries > 0",
      ]
    ),
    (
      name: "beginning-of-a-pause",
      statements: ["ALTER TABLE webhook ADD COLUMN paused_at INTEGER"]
    ),
    (
      name: "notices",
      statements: [
        // The subscriptions to changes of catalogs. `told` is the number of the last sync that was reported. In the
        // table `message`, the column `placed` of a notice contains the negated `row` of its subscription.
        """
        CREATE TABLE subscription(
          row INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, payload TEXT NOT NULL,
          cache TEXT NOT NULL, catalog TEXT NOT NULL, wish TEXT NOT NULL, told INTEGER NOT NULL,
          UNIQUE(webhook, payload, cache, catalog, wish))
        """,
        // The contents of notices. A notice contains the changes after the sync with the number `after`.
        """
        CREATE TABLE notice(
          message INTEGER PRIMARY KEY, after INTEGER NOT NULL, content BLOB NOT NULL)
        """,
      ]
    ),
  ]

  /// The database schema that ``steps`` makes.
  private static let tables = DatabaseSchema(
    steps.map { step in
      DatabaseSchema.Migration(step.name) { db in
        for statement in step.statements { try db.execute(sql: statement) }
      }
    }
  )
}
