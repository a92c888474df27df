import Base
import GRDB
import Glibc
import SQLite

/// The index of a cache: an SQLite database with rows about pictures, lists, items, details and runs.
///
/// If the index and the files of pictures differ, the files are right. If the file of a row is missing, the row is
/// marked as empty. If a file has no row, it gets a row or is removed.
///
/// An index is thread-safe. Its calls wait for each other.
package final class Index: Sendable {
  private let database: SQLiteDatabase
  /// The path of the database, for messages.
  let path: String
  /// The cache; nil if the index is only read or is in memory.
  ///
  /// The cache's claim is checked before each transaction.
  private let layout: CacheLayout?

  /// Opens the index of a cache for writing.
  ///
  /// If there is no index, it is created. If an older version of larder wrote the index, it is migrated. After a crash
  /// during the migration, the next opening completes it. The caller holds the cache's lock.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - disk: The file system, which is used to rename the picture files of an older version of larder.
  /// - Throws: ``LarderError/Code/tooNew`` if a newer version of larder wrote the index; in that case the file is
  ///   unchanged. ``LarderError/Code/damaged`` if the file is not an index.
  package convenience init(
    _ layout: CacheLayout,
    disk: any Disk = SystemDisk()
  ) throws(LarderError) {
    let path = layout.path("index.sqlite")
    try Self.demandFiles(path)
    do throws(SystemError) {
      try DatabaseFile.make(path)
    } catch {
      throw .system("open", path, errno: error.code)
    }
    guard access(path, R_OK | W_OK) == 0 else { throw .system("open", path, errno: errno) }
    try self.init(path: path, readOnly: false, in: layout)
    try takeOver(layout, on: disk)
  }

  /// Makes an empty index in memory, for a shard or a fetch of `larder serve`.
  ///
  /// The results are written to the cache's index later: by the merge of the shards, or by the server.
  ///
  /// - Throws: ``LarderError`` when SQLite cannot be used.
  package convenience init() throws(LarderError) {
    try self.init(path: ":memory:", readOnly: false)
  }

  /// Opens the index of the cache at `root` for reading.
  ///
  /// A run may change the index meanwhile.
  ///
  /// If an older version of larder wrote the index, it is copied into memory and the copy is migrated, because a
  /// reader must not change the file. The copy does not show later changes.
  ///
  /// - Throws: ``LarderError/Code/empty`` if there is no cache; ``LarderError/Code/tooNew`` if a newer version of
  ///   larder wrote the index.
  package convenience init(reading root: String) throws(LarderError) {
    guard access(root + "/index.sqlite", F_OK) == 0 else {
      throw .unread(root, errno: errno)
    }
    try Self.demandFiles(root + "/index.sqlite")
    try Self.rollBack(root + "/index.sqlite")
    try self.init(path: root + "/index.sqlite", readOnly: true)
  }

  /// Opens the index of the cache at `root` as ``init(reading:)`` does; nil if there is no cache.
  package static func existing(in root: String) throws(LarderError) -> Index? {
    do throws(LarderError) {
      return try Index(reading: root)
    } catch {
      guard error.code == .empty else { throw error }
      return nil
    }
  }

  /// Requires that the index and its journal are regular files.
  private static func demandFiles(_ path: String) throws(LarderError) {
    guard let path = DatabaseFile.irregular(path)?.path else { return }
    throw LarderError(
      .unfitFolder,
      "cannot use \(path): it is not a regular file; remove it",
      thing: path
    )
  }

  /// Rolls back the transaction of a writer that was killed, if there is one.
  ///
  /// A read-only connection cannot do that, and would fail. If this process is not allowed to write to the file,
  /// nothing is done here, and the reader reports the error.
  private static func rollBack(_ path: String) throws(LarderError) {
    var journal = stat()
    guard stat(path + "-journal", &journal) == 0, journal.st_size > 0,
      access(path, W_OK) == 0
    else { return }
    try LarderError.translating(path) { try SQLiteDatabase.rollBack(path) }
  }

  private init(path: String, readOnly: Bool, in layout: CacheLayout? = nil) throws(LarderError) {
    (self.path, self.layout) = (path, layout)
    func fault(
      _ code: LarderError.Code,
      _ reason: String,
      _ remedy: LarderError.Remedy
    ) -> LarderError {
      LarderError(code, "cannot read \(path): \(reason)", remedy: remedy, thing: path)
    }
    database = try LarderError.translating(path) {
      try SQLiteDatabase(path, Self.tables, isReadOnly: readOnly) { db, version in
        if 1..<Self.version ~= version, try !db.tableExists("grdb_migrations") {
          throw fault(.damaged, "a larder before 0.2.0 wrote it", .remake)
        }
        if 1..<Self.version ~= version, !Self.released.contains(version) {
          let words = "a larder between two releases wrote it (schema \(version))"
          throw fault(.damaged, words, .remake)
        }
        if readOnly, version == 0,
          try db.first("SELECT 1 FROM sqlite_schema", make: { _ in }) == nil
        {
          throw fault(.empty, "it is empty, because the first run ended early", .sync)
        }
      }
    }
  }

  /// The size of the index file.
  package var size: ByteCount {
    var status = stat()
    return stat(path, &status) == 0 ? ByteCount(status.st_size) : 0
  }

  /// Runs `body` in a transaction, which is rolled back if `body` throws.
  ///
  /// - Throws: ``LarderError/Code/locked`` if another machine has taken over the cache; in that case `body` is not
  ///   called. ``LarderError`` for an error of SQLite.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    try layout?.demandHold()
    return try LarderError.translating(path) { try database.write(body) }
  }

  /// Runs `body`, which only reads.
  ///
  /// All its queries see the same state of the database.
  func read<Value>(_ body: (Database) throws -> Value) throws(LarderError) -> Value {
    try LarderError.translating(path) { try database.read(body) }
  }

  /// Rewrites the file without its unused pages.
  func vacuum() throws(LarderError) {
    try LarderError.translating(path) { try database.vacuum() }
  }
}

extension LarderError {
  /// Calls `body`, and converts its error to the cache's error for the database at `path`; see ``init(_:with:)``.
  static func translating<Value>(
    _ path: String,
    _ body: () throws -> Value
  ) throws(LarderError) -> Value {
    do {
      return try body()
    } catch {
      throw LarderError(error, with: path)
    }
  }

  /// Makes the cache's error for an error that a database threw.
  ///
  /// - Parameters:
  ///   - error: The thrown error.
  ///   - path: The path of the database, for the message.
  init(_ error: any Error, with path: String) {
    switch error {
    case let error as LarderError: self = error
    case let failure as DatabaseFailure: self.init(failure, with: path)
    default: self.init(.disk, "cannot use \(path): \(error)", thing: path)
    }
  }

  private init(_ failure: DatabaseFailure, with path: String) {
    let problem = failure.problem(with: path)
    switch failure {
    case .full: self.init(.diskFull, problem + "; free some and run again", thing: path)
    case .damaged, .strange: self.init(.damaged, problem, remedy: .remake, thing: path)
    case .newer: self.init(.tooNew, problem, remedy: .newerVersion, thing: path)
    case .unfit: self.init(.oldLibrary, problem)
    case .refused(_, let code?): self = .system("use", path, errno: code)
    case .refused: self.init(.disk, problem, thing: path)
    case .busy:
      // SQLite reports a file system without record locks as busy.
      if let code = Self.lockRefusal(beside: path) {
        self = .system("lock", path, errno: code)
      } else {
        self.init(.locked, problem + "; try again when it has ended", thing: path)
      }
    }
  }

  /// The `errno` with which the system refuses record locks in the folder of a file; nil if it grants them.
  ///
  /// This tests the file `lock` of the cache. The database file must not be tested: when that file is closed, the
  /// system releases the locks of SQLite. (fcntl(2), "Record locks")
  private static func lockRefusal(beside path: String) -> Int32? {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let file = Glibc.open("\(folder)/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var lock = flock()
    lock.l_type = Int16(F_RDLCK)
    return fcntl(file, F_GETLK, &lock) == 0 ? nil : Glibc.errno
  }
}
