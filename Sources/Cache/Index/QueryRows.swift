import Base
import GRDB
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
  package let columns: [String]
  /// The rows, as arrays that have one value for each column.
  package fileprivate(set) var rows: [[QueryValue]] = []
}

extension Database {
  /// The maximum size of one value in bytes.
  private static let longestValue: Int32 = 64 << 20
  /// The maximum size of all rows of a result together, in bytes.
  private static let mostBytes = 256 << 20

  /// Runs one statement that a user wrote, on a connection that is used for nothing else.
  ///
  /// An SQLite authorizer allows only statements that read. For example, it refuses ATTACH and PRAGMA. All rows are read
  /// before this function returns, because a sync cannot write to the file while rows are being read. The text of an
  /// error is written so that it can follow "cannot run the query: ".
  ///
  /// - Parameters:
  ///   - sql: A single SELECT.
  ///   - seconds: The time limit.
  /// - Returns: The names of the columns, and the rows.
  /// - Throws: `DatabaseError`, with SQLite's message if the statement is wrong; ``DatabaseFailure``.
  func rows(ofQuery sql: String, seconds: Int) throws -> QueryRows {
    sqlite3_limit(sqliteConnection, SQLITE_LIMIT_LENGTH, Self.longestValue)
    sqlite3_limit(sqliteConnection, SQLITE_LIMIT_ATTACHED, 0)
    // Let SQLite sort large results in a file in TMPDIR instead of in memory.
    try execute(sql: "PRAGMA temp_store = FILE")
    sqlite3_set_authorizer(
      sqliteConnection,
      { _, action, _, _, _, _ in
        [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE].contains(action)
          ? SQLITE_OK : SQLITE_DENY
      },
      nil
    )
    defer { sqlite3_set_authorizer(sqliteConnection, nil, nil) }
    var end = MonotonicTime.now().nanoseconds + Int64(seconds) * 1_000_000_000
    return try withUnsafeMutablePointer(to: &end) { end in
      sqlite3_progress_handler(
        sqliteConnection,
        10_000,
        { end in
          let end = end?.assumingMemoryBound(to: Int64.self).pointee ?? .max
          return MonotonicTime.now().nanoseconds >= end ? 1 : 0
        },
        end
      )
      defer { sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
      do {
        return try rows(of: makeStatement(sql: sql))
      } catch DatabaseError.SQLITE_INTERRUPT {
        throw DatabaseFailure.refused("it takes more than \(seconds) seconds", errno: nil)
      } catch DatabaseError.SQLITE_MISUSE {
        throw DatabaseFailure.refused("it must be one statement", errno: nil)
      }
    }
  }

  private func rows(of statement: Statement) throws -> QueryRows {
    guard statement.isReadonly else {
      throw DatabaseFailure.refused("only SELECT is allowed", errno: nil)
    }
    var result = QueryRows(columns: statement.columnNames)
    var size = 0
    let rows = try Row.fetchCursor(statement)
    while let row = try rows.next() {
      let values: [QueryValue] = row.databaseValues.map { QueryValue($0) }
      size += values.reduce(24) { $0 + $1.size }
      guard size <= Self.mostBytes else {
        let words = "its result is larger than \(Self.mostBytes >> 20) MiB"
        throw DatabaseFailure.refused(words, errno: nil)
      }
      result.rows.append(values)
    }
    return result
  }
}

extension QueryValue {
  fileprivate init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .blob(let bytes): self = .bytes([UInt8](bytes))
    }
  }
}
