import Base
import FoundationEssentials
import GRDB
import GRDBSQLite
import SQLite

/// A query whose rows are read one by one, and whose columns are read by their number.
///
/// It replaces the rows of GRDB for two reasons. First, GRDB copies all values and converts them through protocols. For
/// the rows of pictures, this takes ten times as long as SQLite itself. Second, GRDB traps at a value of an unexpected
/// type. Here SQLite converts the values. If a page is damaged, a value may be wrong, but reading it does not trap.
/// (https://sqlite.org/c3ref/column_blob.html)
///
/// Use a reader only within one transaction, on the queue of the database.
struct RowReader: ~Copyable {
  private let db: Database
  private let statement: Statement
  private let raw: OpaquePointer

  /// Prepares `sql`, or reuses the cached statement.
  ///
  /// Two readers of the same SQL share one statement, so use only one of them at a time.
  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
    raw = statement.sqliteStatement
  }

  deinit {
    // If the statement were not reset, the transaction would stay open.
    sqlite3_reset(raw)
    sqlite3_clear_bindings(raw)
  }

  /// Restarts the query with new arguments, which stand for `?1`, `?2` and so on in its SQL.
  func restart(_ arguments: any RowArgument...) {
    sqlite3_reset(raw)
    for (place, argument) in arguments.enumerated() { argument.bind(to: raw, Int32(place) + 1) }
  }

  /// Moves to the next row; returns false after the last row.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and message.
  func next() throws -> Bool {
    switch sqlite3_step(raw) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw db.lastError
    }
  }

  private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_NULL }

  func isInteger(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_INTEGER }

  func isBytes(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_BLOB }

  /// The number in a column; 0 if it is NULL.
  ///
  /// Columns are numbered from 0.
  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }

  /// The number in a column; nil if it is NULL.
  func optionalNumber(_ column: Int32) -> Int64? { isNull(column) ? nil : number(column) }

  /// The key in a column; zero if the value is not a key.
  func key(_ column: Int32) -> IdentityDigest {
    withBytes(column) {
      $0.count == IdentityDigest.size
        ? IdentityDigest(reading: $0) : IdentityDigest(high: 0, low: 0)
    }
  }

  /// The keys in a column that ``IdentityDigest/pack(_:)`` packed; empty if it is NULL.
  func keys(_ column: Int32) -> [IdentityDigest] {
    withBytes(column) { IdentityDigest.unpack($0) }
  }

  /// The time in a column; the beginning of 1970 if it is NULL.
  func time(_ column: Int32) -> UnixTime { UnixTime(number(column)) }

  /// The time in a column; nil if it is NULL.
  func optionalTime(_ column: Int32) -> UnixTime? { optionalNumber(column).map { UnixTime($0) } }

  /// The number in a column as a number of bytes; 0 if it is NULL.
  func byteCount(_ column: Int32) -> ByteCount { ByteCount(number(column)) }

  /// The text in a column; nil if it is NULL.
  func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(raw, column) else { return nil }
    // SAFETY: SQLite owns the bytes, and they are valid until the next step.
    let count = Int(sqlite3_column_bytes(raw, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Calls `body` with the bytes in a column, without copying them.
  ///
  /// If the column is NULL, there are no bytes.
  func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    // SAFETY: SQLite owns the bytes, and they are valid during the call of `body`.
    let start = sqlite3_column_blob(raw, column)
    let count = Int(sqlite3_column_bytes(raw, column))
    return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// The bytes in a column; nil if it is NULL.
  func bytes(_ column: Int32) -> [UInt8]? {
    guard !isNull(column) else { return nil }
    // SAFETY: SQLite owns the bytes, and they are valid until the next step; for an empty value, the pointer is nil.
    let start = sqlite3_column_blob(raw, column)
    let count = Int(sqlite3_column_bytes(raw, column))
    return [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }
}

/// A value that a ``RowReader`` passes to SQLite as an argument of its query.
protocol RowArgument {
  /// Binds the value to the argument with the number `place`, which counts from 1. SQLite copies the value.
  func bind(to statement: OpaquePointer, _ place: Int32)
}

extension Int64: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    sqlite3_bind_int64(statement, place, self)
  }
}

extension String: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    sqlite3_bind_text(statement, place, self, Int32(utf8.count), RowWriter.copied)
  }
}

extension IdentityDigest: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { buffer in
      write(to: buffer)
      let count = Int32(Self.size)
      _ = sqlite3_bind_blob(statement, place, buffer.baseAddress, count, RowWriter.copied)
    }
  }
}

/// A statement that writes one row at a time, and whose values are bound by their number.
///
/// GRDB allocates memory for every argument, and checks the list of arguments at each run. For rows of pictures and
/// items, that takes longer than SQLite itself. Here the caller must bind all arguments before each run.
///
/// Use a writer only within one transaction, on the queue of the database.
struct RowWriter: ~Copyable {
  private let db: Database
  private let statement: Statement
  private let raw: OpaquePointer
  /// A buffer for the bytes of one row, which stay there until the statement has run.
  ///
  /// So SQLite need not allocate memory for each value.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
  private var used = 0

  // SAFETY: This is SQLITE_TRANSIENT, a C macro that Swift does not import. It tells SQLite to copy the bytes at once.
  static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Prepares `sql`, or reuses the cached statement.
  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
    raw = statement.sqliteStatement
  }

  deinit {
    // The cached statement is used again later, and must not point to freed memory.
    sqlite3_clear_bindings(raw)
    buffer.deallocate()
  }

  /// Copies bytes into the buffer, where they stay until the statement has run; returns nil if the buffer is full.
  private mutating func hold(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= buffer.count - used else { return nil }
    let place = UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + bytes.count])
    place.copyMemory(from: bytes)
    used += bytes.count
    return UnsafeRawPointer(place.baseAddress)
  }

  /// Binds a number; nil stands for NULL.
  ///
  /// Arguments are numbered from 1.
  func bind(_ place: Int32, _ value: Int64?) {
    if let value { sqlite3_bind_int64(raw, place, value) } else { sqlite3_bind_null(raw, place) }
  }

  /// Binds a time; nil stands for NULL.
  func bind(_ place: Int32, _ time: UnixTime?) { bind(place, time?.seconds) }

  func bind(_ place: Int32, _ bytes: ByteCount) { bind(place, bytes.count) }

  /// Binds a text; nil stands for NULL.
  mutating func bind(_ place: Int32, _ text: String?) {
    guard var text else { return _ = sqlite3_bind_null(raw, place) }
    text.withUTF8 { bind(place, utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Binds a text, given by its bytes.
  mutating func bind(_ place: Int32, utf8: UnsafeRawBufferPointer) {
    // An empty buffer may have a nil pointer, which SQLite would bind as NULL.
    if utf8.isEmpty { return _ = sqlite3_bind_text(raw, place, "", 0, Self.copied) }
    let held = hold(utf8)
    _ = sqlite3_bind_text(
      raw,
      place,
      (held ?? utf8.baseAddress)?.assumingMemoryBound(to: CChar.self),
      Int32(utf8.count),
      held == nil ? Self.copied : nil
    )
  }

  /// Binds bytes; nil stands for NULL.
  mutating func bind(_ place: Int32, _ bytes: [UInt8]?) {
    guard let bytes else { return _ = sqlite3_bind_null(raw, place) }
    bytes.withUnsafeBytes { bind(place, $0) }
  }

  /// Binds bytes.
  mutating func bind(_ place: Int32, _ bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty { return _ = sqlite3_bind_zeroblob(raw, place, 0) }
    let held = hold(bytes)
    let start = held ?? bytes.baseAddress
    _ = sqlite3_bind_blob(raw, place, start, Int32(bytes.count), held == nil ? Self.copied : nil)
  }

  mutating func bind(_ place: Int32, _ key: IdentityDigest) {
    withUnsafeTemporaryAllocation(byteCount: IdentityDigest.size, alignment: 8) { buffer in
      key.write(to: buffer)
      bind(place, UnsafeRawBufferPointer(buffer))
    }
  }

  /// Runs the statement with the bound values, and resets it for the next row.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and message.
  mutating func run() throws {
    let code = sqlite3_step(raw)
    defer {
      sqlite3_reset(raw)
      used = 0
    }
    guard code == SQLITE_DONE else { throw db.lastError }
  }
}

extension Row {
  /// The bytes in a column; nil if it is NULL.
  func bytes(_ column: String) throws -> [UInt8]? {
    try decode(Data?.self, forColumn: column).map { [UInt8]($0) }
  }
}

extension [UInt8] {
  /// The bytes as a value that GRDB can pass to SQLite.
  var databaseValue: DatabaseValue { Data(self).databaseValue }
}
