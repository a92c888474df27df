import GRDB
import Glibc

/// What is known of the files: one SQLite database beside them.
///
/// The files are the truth and this is a hint: a row without its file is forgotten, a file
/// without its row adopted or swept. Rollback journal and `synchronous=FULL`, so that a committed
/// group survives a power cut; no WAL, whose reset defect Debian's SQLite still has.
///
/// Safe to call from any thread; calls wait for each other.
public final class Index: Sendable {
  let queue: DatabaseQueue
  /// The file, for messages.
  let path: String

  /// Opens the index of a cache for writing, making it when there is none.
  ///
  /// - Throws: ``CacheError/Code/tooNew`` when a newer larder wrote it, ``CacheError/Code/damaged``
  ///   when it is no index.
  public convenience init(_ layout: CacheLayout) throws(CacheError) {
    let path = layout.path("index.sqlite")
    try Self.demandFiles(path)
    // Made here, so that its mode is 0600 whatever the umask; SQLite gives its journal the same.
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    let descriptor = openat(layout.root.descriptor, "index.sqlite", flags, 0o600)
    guard descriptor >= 0 else { throw .system("open", path, errno: errno) }
    close(descriptor)
    try self.init(path: path, readOnly: false)
    try write { db in
      let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
      if version == 0 { try db.execute(sql: Self.schema) }
      if version == 1 { try db.execute(sql: Self.sweepSchema) }
      if version != Self.version {
        try db.execute(sql: "PRAGMA user_version = \(Self.version)")
      }
    }
  }

  /// Opens the index of the cache at `root` for reading; a run may change it meanwhile.
  ///
  /// - Throws: ``CacheError/Code/empty`` when there is no cache there.
  public convenience init(reading root: String) throws(CacheError) {
    guard access(root + "/index.sqlite", F_OK) == 0 else {
      throw .unread(root, errno: errno)
    }
    try Self.demandFiles(root + "/index.sqlite")
    try Self.rollBack(root + "/index.sqlite")
    try self.init(path: root + "/index.sqlite", readOnly: true)
  }

  /// Refuses anything else in the place of the index or its journal: a link may lead elsewhere, and a
  /// planted pipe would be waited for.
  private static func demandFiles(_ path: String) throws(CacheError) {
    for path in [path, path + "-journal"] {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
      throw CacheError(.unfit, "cannot use \(path): it is no regular file; remove it")
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
    // A live writer's journal looks the same; SQLite tells the two apart by the writer's locks.
    do {
      _ = try DatabaseQueue(path: path, configuration: configuration)
        .read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
    } catch {
      throw translate(error, path)
    }
  }

  private init(path: String, readOnly: Bool) throws(CacheError) {
    var configuration = Configuration()
    configuration.readonly = readOnly
    configuration.busyMode = .timeout(10)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      if !readOnly {
        // TRUNCATE syncs the emptied journal, so that it cannot come back after a power cut.
        try db.execute(sql: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL")
      }
      try db.execute(sql: "PRAGMA cache_size = -4096; PRAGMA trusted_schema = OFF")
    }
    self.path = path
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      let version = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
      guard version <= Self.version else {
        throw CacheError(
          .tooNew,
          "cannot use \(path): a newer larder wrote it (version \(version)); "
            + "use that larder, or another --cache"
        )
      }
      if readOnly, version == 1 {
        throw CacheError(
          .empty,
          "cannot read \(path): an older larder wrote it; run larder sync, which brings it up to date"
        )
      }
      if readOnly, version == 0, try queue.read({ try !$0.tableExists("catalog") }) {
        throw CacheError(
          .empty,
          "cannot read \(path): the first run ended before it began; run larder sync"
        )
      }
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// The size of the file in bytes.
  public var size: Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Runs `body` in one transaction: all of it is committed, or nothing.
  @discardableResult
  func write<Value>(_ body: (Database) throws -> Value) throws(CacheError) -> Value {
    do {
      return try queue.write(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Runs `body` on one moment's state.
  func read<Value>(_ body: (Database) throws -> Value) throws(CacheError) -> Value {
    do {
      return try queue.read(body)
    } catch {
      throw Self.translate(error, path)
    }
  }

  /// Writes the file anew without its unused pages.
  func vacuum() throws(CacheError) {
    do {
      try queue.vacuum()
    } catch {
      throw Self.translate(error, path)
    }
  }

  static func translate(_ error: any Error, _ path: String) -> CacheError {
    switch error {
    case let error as CacheError:
      error
    case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
      CacheError(.diskFull, "cannot write \(path): no space left; free some and run again")
    case let error as DatabaseError
    where error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT:
      CacheError(
        .damaged,
        "cannot read \(path): it is damaged; run larder verify --repair, "
          + "which makes it anew and keeps the pictures"
      )
    case let error as DatabaseError:
      CacheError(.disk, "cannot use \(path): \(error.message ?? "SQLite error")")
    default:
      CacheError(.disk, "cannot use \(path): \(error)")
    }
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
