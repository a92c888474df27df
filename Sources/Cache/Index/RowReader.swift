import GRDB
import GRDBSQLite
import Transport

/// A query whose rows are read one by one, each column by its place.
///
/// GRDB copies a row's values out of SQLite and converts them by way of protocols, which for the rows of
/// pictures costs ten times SQLite's own work, and it traps at a value of another kind than is asked for.
/// Here SQLite converts (https://sqlite.org/c3ref/column_blob.html), so that what a damaged page holds is
/// only wrong. For one transaction, on the queue that holds it.
struct RowReader: ~Copyable {
  private let db: Database
  private let statement: Statement
  private let raw: OpaquePointer

  /// Prepares `sql`, or finds it prepared.
  ///
  /// Two readers of the same SQL in one transaction would share one cursor.
  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
    raw = statement.sqliteStatement
  }

  deinit {
    // A statement that is not at its end would keep the transaction open.
    sqlite3_reset(raw)
    sqlite3_clear_bindings(raw)
  }

  /// Starts anew, with a number in the query's first place.
  func restart(_ number: Int64) {
    sqlite3_reset(raw)
    sqlite3_bind_int64(raw, 1, number)
  }

  /// Starts anew, with keys in the query's first places.
  func restart(_ keys: IdentityDigest...) {
    sqlite3_reset(raw)
    for (place, key) in keys.enumerated() { bind(Int32(place) + 1, key) }
  }

  /// Starts anew, with a text in the query's first place.
  func restart(_ text: String) {
    sqlite3_reset(raw)
    sqlite3_bind_text(raw, 1, text, Int32(text.utf8.count), RowWriter.copied)
  }

  private func bind(_ place: Int32, _ key: IdentityDigest) {
    withUnsafeTemporaryAllocation(byteCount: IdentityDigest.size, alignment: 8) { buffer in
      key.write(to: buffer)
      let count = Int32(IdentityDigest.size)
      _ = sqlite3_bind_blob(raw, place, buffer.baseAddress, count, RowWriter.copied)
    }
  }

  /// Starts anew, with a number in the query's first place and a text in its second.
  func restart(_ number: Int64, _ text: String) {
    restart(number)
    sqlite3_bind_text(raw, 2, text, Int32(text.utf8.count), RowWriter.copied)
  }

  /// Steps to the next row; false behind the last.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and words.
  func next() throws -> Bool {
    switch sqlite3_step(raw) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw db.lastError
    }
  }

  private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_NULL }

  /// Whether a column holds a number.
  func isInteger(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_INTEGER }

  /// The number in a column, 0 for NULL; columns count from 0.
  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }

  /// The number in a column, or nil for NULL.
  func optionalNumber(_ column: Int32) -> Int64? { isNull(column) ? nil : number(column) }

  /// The key in a column; zeros where there is none.
  func key(_ column: Int32) -> IdentityDigest {
    withBytes(column) {
      $0.count == IdentityDigest.size
        ? IdentityDigest(reading: $0) : IdentityDigest(high: 0, low: 0)
    }
  }

  /// The keys in a column, as ``IdentityDigest/pack(_:)`` wrote them; none for NULL.
  func keys(_ column: Int32) -> [IdentityDigest] {
    withBytes(column) { IdentityDigest.unpack($0) }
  }

  /// The moment in a column, the first of 1970 for NULL.
  func time(_ column: Int32) -> UnixTime { UnixTime(number(column)) }

  /// The moment in a column, or nil for NULL.
  func optionalTime(_ column: Int32) -> UnixTime? { optionalNumber(column).map { UnixTime($0) } }

  /// The number of bytes in a column, 0 for NULL.
  func byteCount(_ column: Int32) -> ByteCount { ByteCount(number(column)) }

  /// The text in a column, or nil for NULL.
  func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(raw, column) else { return nil }
    // SAFETY: SQLite's own bytes, as many as it says, valid until the next step.
    let count = Int(sqlite3_column_bytes(raw, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Calls `body` with SQLite's own bytes of a column, none for NULL.
  func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    // SAFETY: as above; valid for the call.
    let start = sqlite3_column_blob(raw, column)
    let count = Int(sqlite3_column_bytes(raw, column))
    return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// The bytes in a column, or nil for NULL.
  func bytes(_ column: Int32) -> [UInt8]? {
    guard !isNull(column) else { return nil }
    // SAFETY: as above; no bytes have no address.
    let start = sqlite3_column_blob(raw, column)
    let count = Int(sqlite3_column_bytes(raw, column))
    return [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }
}

extension Database {
  /// What SQLite says of the call that failed just now.
  var lastError: DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
    )
  }
}
