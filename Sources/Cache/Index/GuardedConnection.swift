import Base
import GRDBSQLite
import SQLite

/// A value in the result of a query that a user wrote.
package enum QueryValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes([UInt8])

  /// The approximate number of bytes of memory that the value takes.
  fileprivate var size: Int {
    switch self {
    case .null, .integer, .real: 16
    case .text(let text): 16 + text.utf8.count
    case .bytes(let bytes): 16 + bytes.count
    }
  }
}

extension QueryValue: Encodable {
  /// Writes a number, a text or null; bytes are written as a text of their hexadecimal digits.
  ///
  /// An infinite number becomes null, because JSON has no infinity.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .integer(let number): try container.encode(number)
    case .real(let number) where number.isFinite: try container.encode(number)
    case .text, .bytes: try container.encode(text)
    case .null, .real: try container.encodeNil()
    }
  }

  /// The value as text: bytes as hexadecimal digits, and NULL as an empty string.
  package var text: String {
    switch self {
    case .null: ""
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .bytes(let bytes): Hexadecimal.text(bytes)
    }
  }
}

/// The result of a query, with all rows in memory.
package struct QueryRows: Sendable, Equatable {
  /// The names of the columns, from left to right.
  package fileprivate(set) var columns: [String] = []
  /// The rows, as arrays that have one value for each column.
  package fileprivate(set) var rows: [[QueryValue]] = []
}

/// A read-only database connection with a time limit, for queries that users write.
///
/// The file is opened read-only, and an SQLite authorizer allows only statements that read. For example, it refuses
/// ATTACH and PRAGMA. A connection is not thread-safe.
package struct GuardedConnection: ~Copyable {
  private let raw: OpaquePointer
  /// The second of the monotonic clock at which the query is interrupted.
  private let end: UnsafeMutablePointer<Int>

  /// The maximum size of one value in bytes.
  private static let longestValue: Int32 = 64 << 20
  /// The maximum size of all rows of a result together, in bytes.
  private static let mostBytes = 256 << 20

  /// Opens a database file.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: ``DatabaseFailure``.
  package init(_ path: String) throws(DatabaseFailure) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let words = String(cString: sqlite3_errstr(code))
      sqlite3_close(opened)
      throw .refused(words, errno: nil)
    }
    sqlite3_busy_timeout(opened, 10_000)
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, Self.longestValue)
    sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0)
    // Let SQLite sort large results in a file in TMPDIR instead of in memory.
    let pragmas = "PRAGMA trusted_schema = OFF; PRAGMA temp_store = FILE"
    guard sqlite3_exec(opened, pragmas, nil, nil, nil) == SQLITE_OK else {
      let failure = Self.failure(of: opened)
      sqlite3_close(opened)
      throw failure
    }
    raw = opened
    end = .allocate(capacity: 1)
    end.initialize(to: .max)
    sqlite3_set_authorizer(
      raw,
      { _, action, _, _, _, _ in
        [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE].contains(action)
          ? SQLITE_OK : SQLITE_DENY
      },
      nil
    )
    sqlite3_progress_handler(
      raw,
      10_000,
      { end in
        let end = end?.assumingMemoryBound(to: Int.self).pointee ?? .max
        return GuardedConnection.seconds() >= end ? 1 : 0
      },
      end
    )
  }

  deinit {
    sqlite3_close_v2(raw)
    end.deallocate()
  }

  private static func seconds() -> Int {
    Int(MonotonicTime.now().nanoseconds / 1_000_000_000)
  }

  /// The error of the last call on this connection.
  private static func failure(of raw: OpaquePointer) -> DatabaseFailure {
    switch sqlite3_errcode(raw) {
    case SQLITE_BUSY: .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    default: .refused(String(cString: sqlite3_errmsg(raw)), errno: nil)
    }
  }

  /// Runs one statement.
  ///
  /// All rows are read before this function returns, because a sync cannot write to the file while rows are being
  /// read. The text of an error is written so that it can follow "cannot run the query: ".
  ///
  /// - Parameters:
  ///   - sql: A single SELECT.
  ///   - seconds: The time limit.
  /// - Returns: The names of the columns, and the rows.
  /// - Throws: ``DatabaseFailure``. If the statement is wrong, the failure has SQLite's message.
  package func rows(_ sql: String, seconds: Int = 8) throws(DatabaseFailure) -> QueryRows {
    end.pointee = Self.seconds() + seconds
    var statement: OpaquePointer?
    var isAlone = true
    let code = sql.withCString { start in
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v2(raw, start, -1, &statement, &tail)
      // Behind the statement, there may be semicolons, white space and comments, of which SQLite makes no statement.
      while isAlone, let next = tail, next.pointee != 0 {
        var other: OpaquePointer?
        isAlone = sqlite3_prepare_v2(raw, next, -1, &other, &tail) == SQLITE_OK && other == nil
        sqlite3_finalize(other)
      }
      return code
    }
    guard code == SQLITE_OK else { throw Self.failure(of: raw) }
    defer { sqlite3_finalize(statement) }
    guard isAlone else { throw .refused("it must be one statement", errno: nil) }
    guard let statement, sqlite3_stmt_readonly(statement) != 0 else {
      throw .refused("only SELECT is allowed", errno: nil)
    }
    var result = QueryRows()
    let count = sqlite3_column_count(statement)
    result.columns = (0..<count).map {
      sqlite3_column_name(statement, $0).map { String(cString: $0) } ?? ""
    }
    var size = 0
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: break
      case SQLITE_DONE: return result
      case SQLITE_INTERRUPT: throw .refused("it takes more than \(seconds) seconds", errno: nil)
      default: throw Self.failure(of: raw)
      }
      let row = (0..<count).map { Self.value(statement, $0) }
      size += row.reduce(24) { $0 + $1.size }
      guard size <= Self.mostBytes else {
        throw .refused("its result is larger than \(Self.mostBytes >> 20) MiB", errno: nil)
      }
      result.rows.append(row)
    }
  }

  private static func value(_ statement: OpaquePointer, _ column: Int32) -> QueryValue {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_NULL: return .null
    case SQLITE_BLOB:
      // SAFETY: SQLite owns the bytes, and they are valid until the next step; for an empty value, the pointer is nil.
      let start = sqlite3_column_blob(statement, column)
      let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
      return .bytes([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    default:
      // SAFETY: SQLite owns the bytes, and they are valid until the next step.
      let start = sqlite3_column_text(statement, column)
      let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
      return .text(
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
      )
    }
  }
}
