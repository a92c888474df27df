import Foundation

/// A second process, for locks that apply only between processes.
package enum OtherProcess {
  /// Tries to write a SQLite database without waiting.
  ///
  /// - Parameter path: The database's file.
  /// - Returns: "written", or SQLite's message, "database is locked".
  /// - Throws: When python3 cannot be run.
  package static func write(_ path: String) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
      try:
        database.execute("BEGIN IMMEDIATE")
        database.execute("CREATE TABLE stranger(a)")
        database.execute("COMMIT")
        print("written", end="")
      except sqlite3.OperationalError as error:
        print(error, end="")
      """, path,
    ]
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
