import Base
import GRDB
import GRDBSQLite
import SQLite

/// A statement whose arguments and columns are given by their number.
///
/// It replaces the rows and arguments of GRDB for two reasons. First, GRDB copies all values and converts them through
/// protocols. For the rows of pictures, this takes ten times as long as SQLite itself. Second, GRDB traps at a value of
/// an unexpected type. Here SQLite converts the values. If a page is damaged, a value may be wrong, but reading it does
/// not trap. (https://sqlite.org/c3ref/column_blob.html)
///
/// Use a statement only within one transaction, on the queue of the database.
struct RowStatement: ~Copyable {
  private let db: Database
  private let statement: Statement
  private let raw: OpaquePointer

  /// Prepares `sql`, or reuses the cached statement.
  ///
  /// Two values with the same SQL share one statement, so use only one of them at a time.
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
  func restart<each Argument: RowArgument>(_ arguments: repeat each Argument) {
    sqlite3_reset(raw)
    var place: Int32 = 0
    for argument in repeat each arguments {
      place += 1
      argument.bind(to: raw, place)
    }
  }

  /// Runs a statement that writes, with new arguments.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and message.
  func run<each Argument: RowArgument>(_ arguments: repeat each Argument) throws {
    restart(repeat each arguments)
    defer { sqlite3_reset(raw) }
    _ = try next()
  }

  /// Calls `body` with each row of a query with new arguments.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and message; and what `body` throws.
  func forEach<each Argument: RowArgument>(
    _ arguments: repeat each Argument,
    body: (borrowing RowStatement) throws -> Void
  ) throws {
    restart(repeat each arguments)
    while try next() { try body(self) }
  }

  /// The rows of a query with new arguments, as `make` reads them.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and message; and what `make` throws.
  func all<Value, each Argument: RowArgument>(
    _ arguments: repeat each Argument,
    make: (borrowing RowStatement) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try forEach(repeat each arguments) { values.append(try make($0)) }
    return values
  }

  /// The first row of a query with new arguments, as `make` reads it; nil if there is none.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and message; and what `make` throws.
  func first<Value, each Argument: RowArgument>(
    _ arguments: repeat each Argument,
    make: (borrowing RowStatement) throws -> Value
  ) throws -> Value? {
    restart(repeat each arguments)
    return try next() ? try make(self) : nil
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
    isNull(column) ? nil : withBytes(column) { [UInt8]($0) }
  }
}

/// A value that SQLite gets as an argument of a statement.
protocol RowArgument {
  /// Binds the value to the argument with the number `place`, which counts from 1. SQLite copies the value.
  func bind(to statement: OpaquePointer, _ place: Int32)
}

extension Optional: RowArgument where Wrapped: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    if let self { self.bind(to: statement, place) } else { sqlite3_bind_null(statement, place) }
  }
}

extension Int64: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    sqlite3_bind_int64(statement, place, self)
  }
}

extension Int: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) { Int64(self).bind(to: statement, place) }
}

extension RowArgument where Self: RawRepresentable, RawValue: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) { rawValue.bind(to: statement, place) }
}

extension CatalogID: RowArgument {}
extension RunID: RowArgument {}
extension ListingID: RowArgument {}
extension ItemVersion: RowArgument {}
extension HistoryField: RowArgument {}
extension DetailEntry.State: RowArgument {}

extension UnixTime: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) { seconds.bind(to: statement, place) }
}

extension String: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    var text = self
    text.withUTF8 { utf8 in
      // The pointer to an empty text can be NULL, which would stand for NULL.
      guard !utf8.isEmpty else { return _ = sqlite3_bind_text(statement, place, "", 0, copied) }
      let start = UnsafeRawPointer(utf8.baseAddress)?.assumingMemoryBound(to: CChar.self)
      _ = sqlite3_bind_text(statement, place, start, Int32(utf8.count), copied)
    }
  }
}

extension [UInt8]: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    // The pointer to an empty array can be NULL, which would stand for NULL.
    if isEmpty { return _ = sqlite3_bind_zeroblob(statement, place, 0) }
    sqlite3_bind_blob(statement, place, self, Int32(count), copied)
  }
}

extension IdentityDigest: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { buffer in
      write(to: buffer)
      let count = Int32(Self.size)
      _ = sqlite3_bind_blob(statement, place, buffer.baseAddress, count, copied)
    }
  }
}

extension PictureID: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) { digest.bind(to: statement, place) }
}

extension DocumentID: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) { digest.bind(to: statement, place) }
}

extension RowArgument {
  // SAFETY: This is SQLITE_TRANSIENT, a C macro that Swift does not import. It tells SQLite to copy the bytes at once.
  fileprivate var copied: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}

extension Database {
  /// Runs one statement that writes, and returns the number of changed rows.
  @discardableResult
  func run<each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument
  ) throws -> Int {
    try RowStatement(self, sql).run(repeat each arguments)
    return changesCount
  }

  /// Calls `body` with each row of a query.
  func forEach<each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument,
    body: (borrowing RowStatement) throws -> Void
  ) throws {
    try RowStatement(self, sql).forEach(repeat each arguments, body: body)
  }

  /// The rows of a query, as `make` reads them.
  func all<Value, each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument,
    make: (borrowing RowStatement) throws -> Value
  ) throws -> [Value] {
    try RowStatement(self, sql).all(repeat each arguments, make: make)
  }

  /// The first row of a query, as `make` reads it; nil if there is none.
  func first<Value, each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument,
    make: (borrowing RowStatement) throws -> Value
  ) throws -> Value? {
    try RowStatement(self, sql).first(repeat each arguments, make: make)
  }
}

extension Index {
  /// The rows of a query, as `make` reads them.
  func rows<Value, each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument,
    make: (borrowing RowStatement) throws -> Value
  ) throws(LarderError) -> [Value] {
    try read { db in try db.all(sql, repeat each arguments, make: make) }
  }

  /// Runs one statement that writes, in a transaction of its own.
  func run<each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument
  ) throws(LarderError) {
    try write { db in try db.run(sql, repeat each arguments) }
  }

  /// The first row of a query, as `make` reads it; nil if there is none.
  func row<Value, each Argument: RowArgument>(
    _ sql: String,
    _ arguments: repeat each Argument,
    make: (borrowing RowStatement) throws -> Value
  ) throws(LarderError) -> Value? {
    try read { db in try db.first(sql, repeat each arguments, make: make) }
  }
}
