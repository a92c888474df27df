import Base
import CSQLite
import Glibc

/// Checks and creates database files without opening them.
///
/// This type must never open a descriptor of the file. Closing the descriptor would release every lock that SQLite
/// holds on the file in this process. (https://sqlite.org/howtocorrupt.html, section 2.2)
package enum DatabaseFile {
  /// Creates an empty file if there is none.
  ///
  /// Its mode is 0600, regardless of the umask. SQLite gives the journal the same mode.
  ///
  /// - Throws: ``SystemError``.
  package static func make(_ path: String) throws(SystemError) {
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw SystemError(code: errno)
    }
  }

  /// Checks that a database file and its journal are regular files; returns the path and kind (`S_IFMT`) of the first
  /// that is not, if any.
  ///
  /// A symbolic link could lead elsewhere, and opening a planted pipe would block.
  package static func irregular(_ path: String) -> (path: String, kind: mode_t)? {
    for path in [path, path + "-journal"] {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
      return (path, status.st_mode & S_IFMT)
    }
    return nil
  }
}

/// Reads the header of a database file with SQLite's own functions, without a lock.
package final class DatabaseHeader {
  private let raw: OpaquePointer

  /// Opens a file; nil when that fails.
  package init?(_ path: String) {
    guard let raw = larder_sqlite_open_header(path) else { return nil }
    self.raw = raw
  }

  deinit { larder_sqlite_close_header(raw) }

  /// The file change counter, which each transaction in rollback mode increments; nil when it cannot be read.
  /// (https://sqlite.org/fileformat.html, section 1.3.7)
  package var changes: UInt32? {
    var changes: UInt32 = 0
    return larder_sqlite_read_header(raw, &changes, 4, 24) == 0 ? UInt32(bigEndian: changes) : nil
  }
}
