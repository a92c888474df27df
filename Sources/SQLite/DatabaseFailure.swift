import GRDB
import GRDBSQLite

/// The reason why a database cannot be used.
///
/// It has no remedy for the user. The module that opens the database adds one when it converts this error to its own.
package enum DatabaseFailure: Error, Equatable {
  /// There is no space left.
  case full
  /// The file is damaged, or is not a database.
  case damaged
  /// A row has values that larder never writes.
  case strange
  /// Another process held the database's lock for too long.
  case busy
  /// A newer larder wrote the file.
  ///
  /// The values are the number of migrations that were applied to the file, and the number that this version knows.
  case newer(Int, known: Int)
  /// This SQLite cannot be used, for the given reason.
  case unfit(String)
  /// Any other failure, with the message of SQLite.
  ///
  /// If a system call failed, `errno` is the error number of the system.
  case refused(String, errno: Int32?)

  /// The message about a file, in the form "cannot VERB PATH: REASON".
  package func problem(with path: String) -> String {
    switch self {
    case .full: "cannot write \(path): no space left"
    case .damaged: "cannot read \(path): it is damaged"
    case .strange: "cannot read \(path): a row has a value that larder does not write"
    case .busy: "cannot use \(path): another process has locked it"
    case .newer(let seen, let known):
      "cannot use \(path): it was written by a newer larder (schema \(seen), this one knows \(known))"
    case .unfit(let words), .refused(let words, _): "cannot use \(path): \(words)"
    }
  }

  /// Calls `body`, and converts an error of GRDB to a failure; see ``of(_:_:)``.
  static func translating<Value>(
    _ queue: DatabaseQueue? = nil,
    _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch {
      throw of(error, queue)
    }
  }

  /// Converts an error of GRDB to a failure, and returns any other error unchanged.
  ///
  /// The connection `queue`, if it is given, provides the error number of the system.
  static func of(_ error: any Error, _ queue: DatabaseQueue? = nil) -> any Error {
    if error is RowDecodingError || error is DecodingError { return strange }
    guard let error = error as? DatabaseError else { return error }
    if error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
      return refused(
        "a killed run left a change that has to be undone first; run larder where the cache can be written",
        errno: nil
      )
    }
    switch error.resultCode {
    case .SQLITE_FULL: return full
    case .SQLITE_NOTADB, .SQLITE_CORRUPT: return damaged
    case .SQLITE_BUSY: return busy
    case .SQLITE_IOERR, .SQLITE_CANTOPEN:
      let code = queue?.unsafeRead { sqlite3_system_errno($0.sqliteConnection) } ?? 0
      return refused(words(of: error), errno: code == 0 ? nil : code)
    default: return refused(words(of: error), errno: nil)
    }
  }

  /// The message of SQLite about a failure.
  ///
  /// If a later statement has cleared the message, the general message for the error code is returned instead.
  private static func words(of error: DatabaseError) -> String {
    if let message = error.message, message != "not an error" { return message }
    return String(cString: sqlite3_errstr(error.extendedResultCode.rawValue))
  }
}

extension Database {
  /// The error of the last call that failed on this connection.
  package var lastError: DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
    )
  }
}
