import GRDB
import GRDBSQLite

/// The reason why a database cannot be used, without the remedy.
package enum DatabaseFailure: Error, Equatable {
  /// There is no space left.
  case full
  /// It is no database, or a damaged one.
  case damaged
  /// A row holds values that larder does not write.
  case strange
  /// Another process held its lock for too long.
  case busy
  /// A newer larder wrote it: the migrations that it has seen, and how many are known here.
  case newer(Int, known: Int)
  /// SQLite itself is unfit: why.
  case unfit(String)
  /// Anything else: SQLite's words, and the system's error number where the system refused.
  case refused(String, errno: Int32?)

  /// The sentence for a file: "cannot VERB PATH: REASON".
  package func problem(with path: String) -> String {
    switch self {
    case .full: "cannot write \(path): no space left"
    case .damaged: "cannot read \(path): it is damaged"
    case .strange: "cannot read \(path): a row has a value that larder does not write"
    case .busy: "cannot use \(path): another process holds it"
    case .newer(let seen, let known):
      "cannot use \(path): it was written by a newer larder (schema \(seen), this one knows \(known))"
    case .unfit(let words), .refused(let words, _): "cannot use \(path): \(words)"
    }
  }

  /// The failure that an error of GRDB stands for; the error itself where it comes from elsewhere.
  ///
  /// The connection, where there is one, knows the system's own number.
  static func of(_ error: any Error, _ queue: DatabaseQueue? = nil) -> any Error {
    if error is RowDecodingError || error is DecodingError { return strange }
    guard let error = error as? DatabaseError else { return error }
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

  /// SQLite's message for a failure, or that of the code where a later statement has cleared it.
  private static func words(of error: DatabaseError) -> String {
    if let message = error.message, message != "not an error" { return message }
    return String(cString: sqlite3_errstr(error.extendedResultCode.rawValue))
  }
}

extension Database {
  /// The error of the call that failed just now.
  package var lastError: DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
    )
  }
}
