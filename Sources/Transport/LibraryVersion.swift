/// A library's version, of three numbers, such as 7.88.1.
package struct LibraryVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let parts: [Int]

  /// A version from its numbers.
  package init(_ major: Int, _ minor: Int, _ patch: Int) {
    parts = [major, minor, patch]
  }

  /// A version as libcurl packs it: eight bits a number. (CURL_VERSION_BITS)
  package init(bits: UInt32) {
    self.init(Int(bits >> 16 & 0xFF), Int(bits >> 8 & 0xFF), Int(bits & 0xFF))
  }

  /// A version as SQLite packs it: three decimal digits a number. (SQLITE_VERSION_NUMBER)
  package init(thousands: Int32) {
    self.init(Int(thousands / 1_000_000), Int(thousands / 1000 % 1000), Int(thousands % 1000))
  }

  /// The version with points between its numbers.
  package var description: String { parts.map(String.init).joined(separator: ".") }

  /// Orders by the first number that differs.
  package static func < (left: LibraryVersion, right: LibraryVersion) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts)
  }

  /// What to say when a library that was found is older than is needed; nil when it is not.
  package func shortcoming(of library: String, needed: LibraryVersion) -> String? {
    guard self < needed else { return nil }
    return
      "\(library) \(self) is too old: larder needs \(needed) or later; update the system's package"
  }
}

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
