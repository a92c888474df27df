/// SQLite's own guard against statements that could damage a database file: none may write the schema, shadow tables
/// or pages directly, whatever a planted schema asks for.
/// (https://sqlite.org/c3ref/c_dbconfig_defensive.html, SQLITE_DBCONFIG_DEFENSIVE)
package struct SQLiteDefence: Sendable {
  /// `sqlite3_db_config` with one switch: connection, option, its new state, and where it says what that is now.
  ///
  /// Swift cannot call the function itself, which is variadic: the caller brings a C function for it.
  package typealias Configure =
    @convention(c) (OpaquePointer, Int32, Int32, UnsafeMutablePointer<Int32>) -> Int32

  private static let option: Int32 = 1010
  private let configure: Configure?

  /// The guard as a function sets it; nil for a SQLite that has none.
  package init(_ configure: Configure?) { self.configure = configure }

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
