import Base
import CSQLite
import Glibc

/// A database file on the disk.
///
/// No descriptor of it is ever opened here: closing one would drop every lock that SQLite holds on the file for this
/// process. (https://sqlite.org/howtocorrupt.html, section 2.2)
package enum DatabaseFile {
  /// Makes an empty file where there is none.
  ///
  /// Its mode is 0600 regardless of the umask; SQLite gives its journal the same.
  ///
  /// - Throws: ``SystemError``.
  package static func make(_ path: String) throws(SystemError) {
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw SystemError(code: errno)
    }
  }

  /// The first of a database file and its journal that is there and no regular file, with its kind (`S_IFMT`).
  ///
  /// A link may lead elsewhere, and opening a planted pipe would block.
  package static func irregular(_ path: String) -> (path: String, kind: mode_t)? {
    for path in [path, path + "-journal"] {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
      return (path, status.st_mode & S_IFMT)
    }
    return nil
  }
}

/// The header of a database file, read by SQLite's own functions without a lock.
package final class DatabaseHeader {
  private let raw: OpaquePointer

  /// Opens a file; nil when that cannot be done.
  package init?(_ path: String) {
    guard let raw = larder_sqlite_open_header(path) else { return nil }
    self.raw = raw
  }

  deinit { larder_sqlite_close_header(raw) }

  /// A number that each transaction in rollback mode raises; nil when it cannot be read.
  /// (https://sqlite.org/fileformat.html, section 1.3.7)
  package var changes: UInt32? {
    var changes: UInt32 = 0
    return larder_sqlite_read_header(raw, &changes, 4, 24) == 0 ? UInt32(bigEndian: changes) : nil
  }
}
