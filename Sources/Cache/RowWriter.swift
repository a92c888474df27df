import GRDB
import GRDBSQLite

/// A statement that is run once a row, its values bound one by one.
///
/// GRDB boxes every argument and checks the list against the statement at each run, which for the
/// rows of a picture and of an item costs more than SQLite's own work. Here the places are fixed
/// by the code beside the SQL. For one transaction, on the queue that holds it.
struct RowWriter {
  private let db: Database
  private let statement: Statement
  private let raw: OpaquePointer

  // SAFETY: SQLite's own SQLITE_TRANSIENT, which Swift does not import: copy the bytes at once.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Prepares `sql`, or finds it prepared.
  init(_ db: Database, _ sql: String) throws {
    self.db = db
    statement = try db.cachedStatement(sql: sql)
    raw = statement.sqliteStatement
  }

  /// Binds a number, or NULL; places count from 1.
  func bind(_ place: Int32, _ value: Int64?) {
    if let value { sqlite3_bind_int64(raw, place, value) } else { sqlite3_bind_null(raw, place) }
  }

  /// Binds a text, or NULL.
  func bind(_ place: Int32, _ text: String?) {
    guard var text else { return _ = sqlite3_bind_null(raw, place) }
    // An empty buffer may have no address, and SQLite takes that for NULL.
    if text.isEmpty { return _ = sqlite3_bind_text(raw, place, "", 0, Self.copied) }
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(raw, place, $0.baseAddress, Int32($0.count), Self.copied)
      }
    }
  }

  /// Binds bytes, or NULL.
  func bind(_ place: Int32, _ bytes: [UInt8]?) {
    guard let bytes else { return _ = sqlite3_bind_null(raw, place) }
    if bytes.isEmpty { return _ = sqlite3_bind_zeroblob(raw, place, 0) }
    bytes.withUnsafeBytes {
      _ = sqlite3_bind_blob(raw, place, $0.baseAddress, Int32($0.count), Self.copied)
    }
  }

  /// Runs the statement for the row that is bound, and readies it for the next.
  ///
  /// - Throws: `DatabaseError` with SQLite's code and words.
  func run() throws {
    let code = sqlite3_step(raw)
    defer {
      sqlite3_reset(raw)
      sqlite3_clear_bindings(raw)
    }
    guard code == SQLITE_DONE else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: sqlite3_extended_errcode(db.sqliteConnection)),
        message: db.sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
      )
    }
  }
}
