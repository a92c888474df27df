import Base
import GRDB
import Glibc
import SQLite

/// The orders, the notices of changes and their unsent messages: one SQLite database outside every cache.
///
/// An order that ``place(_:)`` returned from survives any crash and power cut. The file is 0600.
///
/// Safe to call from any thread, and to open from any number of processes; calls wait for each
/// other.
package final class Outbox: Sendable {
  private let database: SQLiteDatabase
  /// The file.
  package let path: String

  /// How long a call waits for other processes before it gives up, in seconds.
  private static let patience = 20.0

  /// Opens the outbox at `path`, making it when there is none, and brings an older one up to date.
  ///
  /// - Throws: ``LarderError``. A file that a newer larder wrote is not touched.
  package convenience init(_ path: String) throws(LarderError) {
    try self.init(path, Self.tables())
  }

  /// The same with tables whose making a test may interrupt.
  init(_ path: String, _ tables: DatabaseSchema) throws(LarderError) {
    self.path = path
    try OutboxFile.make(path)
    do {
      database = try SQLiteDatabase(path, tables, patience: Self.patience) { _, _ in
        // A newer larder's file has been refused, and nothing is written yet.
        try OutboxFile.restrict(path)
      }
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Whether there is an outbox at `path`.
  package static func exists(at path: String) -> Bool { access(path, F_OK) == 0 }

  /// Runs `body` in one transaction: all of it is committed and synced, or nothing.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try database.write(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Runs `body` on one moment's state.
  func read<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    do {
      return try database.read(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// The error of orders for one that the database threw.
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
  /// An error of the operating system while doing `verb` to `thing`.
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> LarderError {
    .system(verb, thing, errno: code, remedy: .writableFile)
  }
}

/// The file of the outbox: found, made and kept to its owner.
enum OutboxFile {
  /// Makes the file and the folders above it as far as they are missing.
  ///
  /// Folders are 0700 and the file 0600 regardless of the umask, because the file names customers
  /// and their orders. New files and folders are synced, so that a power cut after the first order
  /// does not remove the file's name.
  ///
  /// - Throws: ``LarderError`` when the system refuses.
  static func make(_ path: String) throws(LarderError) {
    let folder = self.folder(of: path)
    try makeFolders(folder)
    do throws(SystemError) {
      try DatabaseFile.make(path)
    } catch {
      throw .system("make", path, errno: error.code)
    }
    if let (path, kind) = DatabaseFile.irregular(path) {
      // A link at its path would put the orders where others might read them.
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

  /// Closes the file to others.
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
      // A folder that may be passed but not read cannot be synced by its users.
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
  /// One change of the tables.
  struct Step: Sendable {
    /// Its name in the file, for good.
    let name: String
    /// Its statements.
    let statements: [String]
  }

  /// Every change so far, in order.
  ///
  /// The statements were written into files and never change; new ones are added at the end.
  ///
  /// The number of steps is the schema's version, which `PRAGMA user_version` repeats for older
  /// versions of larder: they refuse newer ones. Files of version 1 have no names of steps, so the
  /// first step changes nothing that exists.
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
        // The items of an order.
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
        // Every attempt: when it began, and how it ended, NULL while that is unknown.
        """
        CREATE TABLE IF NOT EXISTS attempt(
          message INTEGER NOT NULL, number INTEGER NOT NULL, began INTEGER NOT NULL,
          ended INTEGER, outcome TEXT,
          PRIMARY KEY(message, number)) WITHOUT ROWID
        """,
        // The stored state of a webhook, by the SHA-256 of its URL: the URL itself is stored
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
    Step(
      name: "notices",
      statements: [
        // A wish to be told of a catalog's changes, and through which run it has been. The `placed` of its messages is
        // its row with a minus.
        """
        CREATE TABLE subscription(
          row INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, payload TEXT NOT NULL,
          cache TEXT NOT NULL, catalog TEXT NOT NULL, wish TEXT NOT NULL, told INTEGER NOT NULL,
          UNIQUE(webhook, payload, cache, catalog, wish))
        """,
        // The content of a message that is no order's, with the changes after the run `after`.
        """
        CREATE TABLE notice(
          message INTEGER PRIMARY KEY, after INTEGER NOT NULL, content BLOB NOT NULL)
        """,
      ]
    ),
  ]

  /// The tables that ``steps`` make.
  ///
  /// - Parameter interrupt: called before every statement, with the transaction open; a test
  ///   throws here.
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
