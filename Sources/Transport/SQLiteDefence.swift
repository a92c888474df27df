import Glibc

/// SQLite's own guard against statements that could damage a database file: none may write the schema, shadow tables
/// or pages directly, whatever a planted schema asks for.
/// (https://sqlite.org/c3ref/c_dbconfig_defensive.html, SQLITE_DBCONFIG_DEFENSIVE)
package struct SQLiteDefence: Sendable {
  /// `sqlite3_db_config` with one switch: connection, option, its new state, and where it says what that is now.
  package typealias Configure =
    @convention(c) (OpaquePointer, Int32, Int32, UnsafeMutablePointer<Int32>) -> Int32

  private static let option: Int32 = 1010
  private let configure: Configure?

  /// The guard as a function sets it; nil for a SQLite that has none.
  package init(_ configure: Configure?) { self.configure = configure }

  /// The guard of the SQLite that this process has loaded.
  package static let loaded = SQLiteDefence(
    // SAFETY: the function is variadic, which Swift cannot call. In the calling conventions of Linux on x86-64 and
    // arm64, numbers and pointers go to it as they go to a function that names them (System V ABI, AMD64, section
    // 3.5.7: what %al holds matters to vector arguments alone, of which there are none; AAPCS64, section 6.4).
    dlsym(nil, "sqlite3_db_config").map { unsafeBitCast($0, to: Configure.self) }
  )

  /// Turns the guard of a connection on.
  ///
  /// - Parameter connection: A `sqlite3 *` that is open.
  /// - Returns: Whether SQLite says that it is on.
  package func turnOn(_ connection: OpaquePointer?) -> Bool {
    guard let configure, let connection else { return false }
    var state: Int32 = 0
    return configure(connection, Self.option, 1, &state) == 0 && state == 1
  }
}
