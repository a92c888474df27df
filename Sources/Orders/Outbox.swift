import Base
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

/// The file of the outbox: found, made and kept to its owner.
enum OutboxFile {
  /// Makes the file and the folders above it as far as they are missing.
  ///
  /// Folders are 0700 and the file 0600 whatever the umask, for the file names who ordered what.
  /// What is made is synced, so that a power cut after the first order does not take the file's
  /// name away.
  ///
  /// - Throws: ``OrdersError`` when the system refuses.
  static func make(_ path: String) throws(OrdersError) {
    let folder = self.folder(of: path)
    try makeFolders(folder)
    // Made without a descriptor: closing one would drop the locks of this process on the file.
    // (https://sqlite.org/howtocorrupt.html, section 2.2)
    if mknod(path, S_IFREG | 0o600, 0) != 0, errno != EEXIST {
      throw .system("make", path, errno: errno)
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .system("open", path, errno: errno) }
    // A link in its place would put the orders where others might read them.
    guard status.st_mode & S_IFMT != S_IFLNK else { throw .system("open", path, errno: ELOOP) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw OrdersError(
        .disk,
        "cannot open \(path): "
          + (status.st_mode & S_IFMT == S_IFDIR ? "is a directory" : "not a regular file"),
        remedy: .nameFile,
        thing: path
      )
    }
    if status.st_mode & 0o077 != 0, fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW) != 0 {
      throw .system("close to others", path, errno: errno)
    }
    if status.st_size == 0 { try sync(folder) }
  }

  /// The version that a SQLite database says it has, read from its header without a lock.
  ///
  /// - Returns: The `user_version` at offset 60; nil when there is no such file, or it is
  ///   something else. (SQLite, "Database File Format", section 1.3)
  static func version(of path: String) -> Int? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let file = larder_sqlite_open_header(path)
    else { return nil }
    defer { larder_sqlite_close_header(file) }
    var header = [UInt8](repeating: 0, count: 100)
    guard larder_sqlite_read_header(file, &header, Int32(header.count), 0) == 0,
      header.starts(with: "SQLite format 3\0".utf8)
    else { return nil }
    return header[60..<64].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The folder that a path lies in.
  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func makeFolders(_ path: String) throws(OrdersError) {
    var status = stat()
    if stat(path, &status) == 0 { return }
    let parent = folder(of: path)
    try makeFolders(parent)
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("make", path, errno: errno) }
    try sync(parent)
  }

  private static func sync(_ folder: String) throws(OrdersError) {
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
