import CSQLite
import GRDB
import GRDBSQLite
import Glibc
import Transport

/// What is known of the files: one SQLite database beside them.
///
/// The files are the truth and this is a hint: a row without its file is forgotten, a file
/// without its row adopted or swept. Rollback journal and `synchronous=FULL`, so that a committed
/// group survives a power cut; no WAL, whose reset defect Debian's SQLite still has.
///
/// Safe to call from any thread; calls wait for each other.
package final class Index: Sendable {
  private let queue: DatabaseQueue
  /// The file, for messages.
  let path: String
  /// The cache whose lock is held while the index is written; nil for one that is read.
  private let layout: CacheLayout?

  /// Opens the index of a cache for writing, making it when there is none and bringing one that an
  /// older larder wrote up to date.
  ///
  /// The caller holds the cache's lock. A crash during the update leaves a file whose update the
  /// next opening completes.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - disk: Where files are renamed that an older larder named.
  /// - Throws: ``CacheError/Code/tooNew`` when a newer larder wrote it, which leaves its bytes as they
  ///   are, ``CacheError/Code/damaged`` when it is no index.
  package convenience init(
    _ layout: CacheLayout,
    disk: any Disk = SystemDisk()
  ) throws(CacheError) {
    let path = layout.path("index.sqlite")
    try Self.demandFiles(path)
    // Made here, so that its mode is 0600 whatever the umask; SQLite gives its journal the same. Without a descriptor:
    // closing one would drop the locks of this process on the file. (https://sqlite.org/howtocorrupt.html, section 2.2)
    if mknodat(layout.root.descriptor, "index.sqlite", S_IFREG | 0o600, 0) != 0 {
      guard errno == EEXIST, access(path, R_OK | W_OK) == 0 else {
        throw .system("open", path, errno: errno)
      }
    }
    try self.init(path: path, readOnly: false, in: layout)
    try takeOver(layout, on: disk)
  }

  /// An index of nothing, in memory: for a run whose results others enter.
  ///
  /// - Throws: ``CacheError`` when SQLite is unfit.
  package convenience init() throws(CacheError) {
    try self.init(path: ":memory:", readOnly: false)
  }

  /// Opens the index of the cache at `root` for reading; a run may change it meanwhile.
  ///
  /// One that an older larder wrote is read from a copy in memory that is brought up to date: who reads
  /// changes nothing, and may not be allowed to, or a run of that larder may be at work. Such a copy
  /// shows the moment at which it was made.
  ///
  /// - Throws: ``CacheError/Code/empty`` when there is no cache there, ``CacheError/Code/tooNew`` when a
  ///   newer larder wrote its index.
  package convenience init(reading root: String) throws(CacheError) {
    guard access(root + "/index.sqlite", F_OK) == 0 else {
      throw .unread(root, errno: errno)
    }
    try Self.demandFiles(root + "/index.sqlite")
    try Self.rollBack(root + "/index.sqlite")
    try self.init(path: root + "/index.sqlite", readOnly: true)
  }

  /// Demands that the index and its journal are regular files: a link may lead elsewhere, and opening a planted pipe
  /// would block.
  private static func demandFiles(_ path: String) throws(CacheError) {
    for path in [path, path + "-journal"] {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
      throw CacheError(.unfit, "cannot use \(path): it is no regular file; remove it", thing: path)
    }
  }

  /// Undoes the transaction that a killed writer left half in the file, if there is one: who may
  /// only read cannot, and would be refused. (https://sqlite.org/fileformat.html, section 3)
  ///
  /// Quiet when the cache cannot be written; the reader then says what is wrong.
  private static func rollBack(_ path: String) throws(CacheError) {
    var journal = stat()
    guard stat(path + "-journal", &journal) == 0, journal.st_size > 0,
      access(path, W_OK) == 0
    else { return }
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    configuration.prepareDatabase { try harden($0, path) }
    // A live writer's journal looks the same; SQLite tells the two apart by the writer's locks.
    do {
      _ = try DatabaseQueue(path: path, configuration: configuration)
        .read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
    } catch {
      throw translate(error, path)
    }
  }

  private init(path: String, readOnly: Bool, in layout: CacheLayout? = nil) throws(CacheError) {
    self.path = path
    self.layout = layout
    let found = LibraryVersion(thousands: sqlite3_libversion_number())
    if let shortcoming = found.shortcoming(of: "SQLite", needed: Self.neededSQLite) {
      throw CacheError(.unsupported, "cannot use \(path): \(shortcoming)")
    }
    var opened: DatabaseQueue?
    do {
      let file = try Self.open(path, readOnly: readOnly)
      opened = file
      let version = try file.inDatabase(Self.userVersion)
      // Before anything could be written: what a newer larder wrote stays as it is.
      guard version <= Self.version else { throw Self.tooNew(path, version) }
      if 1..<Self.version ~= version,
        try !file.inDatabase({ try $0.tableExists("grdb_migrations") })
      {
        throw CacheError(
          .damaged,
          "cannot read \(path): a larder before 0.2.0 wrote it",
          remedy: .remake,
          thing: path
        )
      }
      if !readOnly {
        // TRUNCATE syncs the emptied journal, so that it cannot come back after a power cut.
        try file.inDatabase {
          try $0.execute(sql: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL")
        }
      }
      switch version {
      case Self.version:
        queue = file
      case 0 where try file.inDatabase(Self.isEmpty):
        guard !readOnly else {
          throw CacheError(
            .empty,
            "cannot read \(path): it is empty, as the first run ended early",
            remedy: .sync,
            thing: path
          )
        }
        // Made elsewhere and put in place in one transaction: whole, and for one wait for the device.
        try Self.migrated(Self.open(":memory:", readOnly: false)).backup(to: file)
        queue = file
      default:
        queue = try Self.migrated(readOnly ? Self.copy(of: file) : file)
      }
    } catch {
      throw Self.translate(error, path, opened)
    }
  }

  /// The first that knows `sqlite_schema`; `PRAGMA trusted_schema` came with 3.31.0.
  static let neededSQLite = LibraryVersion(3, 33, 0)

  /// Opens a database file, or a database in memory, as every part of larder uses it.
  private static func open(_ path: String, readOnly: Bool) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = readOnly
    configuration.busyMode = .timeout(10)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      try harden(db, path)
      try db.execute(sql: cacheSize)
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  private static let cacheSize = "PRAGMA cache_size = -4096"

  /// Has `body` read a table from its beginning to its end in little memory.
  ///
  /// No page is asked for twice. Kept, they would take memory that is new to the process, and a fault for each costs
  /// more than the page takes to read.
  static func scan<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
    try db.execute(sql: "PRAGMA cache_size = -256")
    defer { try? db.execute(sql: cacheSize) }
    return try body()
  }

  /// Has SQLite distrust the schema of a planted or damaged file, and refuse statements that could damage the file.
  ///
  /// - Throws: ``CacheError`` of code `unsupported` when SQLite does not do so.
  static func harden(
    _ db: Database,
    _ path: String,
    _ defence: SQLiteDefence = SQLiteDefence(larder_sqlite_config)
  ) throws {
    guard defence.turnOn(db.sqliteConnection) else {
      throw CacheError(.unsupported, "cannot use \(path): SQLite does not guard its schema")
    }
    try db.execute(sql: "PRAGMA trusted_schema = OFF")
    // SQLite says nothing of a pragma that it does not know.
    guard try Int.fetchOne(db, sql: "PRAGMA trusted_schema") == 0 else {
      throw CacheError(.unsupported, "cannot use \(path): SQLite trusts whatever its file says")
    }
  }

  /// The same contents in memory.
  private static func copy(of file: DatabaseQueue) throws -> DatabaseQueue {
    let copy = try open(":memory:", readOnly: false)
    try file.backup(to: copy)
    return copy
  }

  private static func isEmpty(_ db: Database) throws -> Bool {
    try Int.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema") == nil
  }

  private static func migrated(_ queue: DatabaseQueue) throws -> DatabaseQueue {
    try migrator.migrate(queue)
    return queue
  }

  private static func tooNew(_ path: String, _ version: Int) -> CacheError {
    CacheError(
      .tooNew,
      "cannot use \(path): it was written by a newer larder (schema \(version), this one knows "
        + "\(Self.version))",
      remedy: .newerVersion,
      thing: path
    )
  }

  /// The size of the file in bytes.
  package var size: ByteCount {
    var status = stat()
    return stat(path, &status) == 0 ? ByteCount(status.st_size) : 0
  }

  /// Runs `body` in one transaction: all of it is committed, or nothing.
  ///
  /// - Throws: ``CacheError/Code/locked`` when another machine has taken the cache over, and then nothing
  ///   is written; ``CacheError`` of what SQLite says.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(CacheError) -> Value {
    try layout?.demandHold()
    do {
      return try queue.write(body)
    } catch {
      throw Self.translate(error, path, queue)
    }
  }

  /// Runs `body`, which writes nothing, on one moment's state.
  ///
  /// GRDB's own reading compiles four statements each time, 80 thousand instructions: the beginning, the end, and twice
  /// the pragma by which SQLite refuses to write, which cannot be kept compiled.
  func read<Value>(_ body: (Database) throws -> Value) throws(CacheError) -> Value {
    do {
      return try queue.unsafeRead { db in
        let changes = db.totalChangesCount
        try Self.perform("BEGIN", db)
        do {
          let value = try body(db)
          try Self.perform("COMMIT", db)
          assert(db.totalChangesCount == changes, "what was to read has written")
          return value
        } catch {
          // SQLite itself ends the transaction at some errors, and then says that there is none.
          try? Self.perform("ROLLBACK", db)
          throw error
        }
      }
    } catch {
      throw Self.translate(error, path, queue)
    }
  }

  /// Performs a statement without rows, which stays compiled.
  private static func perform(_ sql: String, _ db: Database) throws {
    let statement = try RowReader(db, sql)
    _ = try statement.next()
  }

  /// Writes the file anew without its unused pages.
  func vacuum() throws(CacheError) {
    do {
      try queue.vacuum()
    } catch {
      throw Self.translate(error, path, queue)
    }
  }

  /// The error of the cache for one of SQLite's.
  ///
  /// - Parameters:
  ///   - error: What was thrown.
  ///   - path: The file, for the message.
  ///   - queue: The connection, which knows the system's own number; nil where none was made.
  /// - Returns: The error, in the system's words where it was the system that refused.
  static func translate(
    _ error: any Error,
    _ path: String,
    _ queue: DatabaseQueue? = nil
  ) -> CacheError {
    switch error {
    case let error as CacheError:
      error
    case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
      CacheError(
        .diskFull,
        "cannot write \(path): no space left; free some and run again",
        thing: path
      )
    case let error as DatabaseError
    where error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT:
      CacheError(
        .damaged,
        "cannot read \(path): it is damaged",
        remedy: .remake,
        thing: path
      )
    case is RowDecodingError, is DecodingError:
      CacheError(
        .damaged,
        "cannot read \(path): a row holds what larder does not write",
        remedy: .remake,
        thing: path
      )
    case let error as DatabaseError where error.resultCode == .SQLITE_BUSY:
      // SQLite takes a file system without record locks for one whose locks others hold.
      if let code = lockRefusal(beside: path) {
        .system("lock", path, errno: code)
      } else {
        CacheError(
          .locked,
          "cannot use \(path): another process holds it; try again when that has ended",
          thing: path
        )
      }
    case let error as DatabaseError:
      if [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode),
        let code = queue?.unsafeRead({ sqlite3_system_errno($0.sqliteConnection) }), code != 0
      {
        .system("use", path, errno: code)
      } else {
        CacheError(.disk, "cannot use \(path): \(words(of: error))", thing: path)
      }
    default:
      CacheError(.disk, "cannot use \(path): \(error)", thing: path)
    }
  }

  /// SQLite's message for a failure, or that of the code where a later statement has cleared it.
  private static func words(of error: DatabaseError) -> String {
    if let message = error.message, message != "not an error" { return message }
    return String(cString: sqlite3_errstr(error.extendedResultCode.rawValue))
  }
}

extension Index {
  /// Why the system grants no record locks in the folder of a file; nil when it does.
  ///
  /// Asks about the cache's own `lock`: closing the database's file would let go of SQLite's locks.
  /// (fcntl(2), "Record locks")
  private static func lockRefusal(beside path: String) -> Int32? {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let file = Glibc.open("\(folder)/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var lock = flock()
    lock.l_type = Int16(F_RDLCK)
    return fcntl(file, F_GETLK, &lock) == 0 ? nil : errno
  }
}

/// A list of numbers as the index keeps it: 8 bytes each, little-endian.
struct PackedNumbers {
  /// The bytes of `numbers`.
  static func pack(_ numbers: [Int64]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(numbers.count * 8)
    for number in numbers {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// The numbers in `bytes`; a torn last one is left out.
  static func unpack(_ bytes: some Collection<UInt8>) -> [Int64] {
    let bytes = Array(bytes)
    return bytes.withUnsafeBytes { raw in
      (0..<raw.count / 8).map {
        Int64(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self))
      }
    }
  }
}
