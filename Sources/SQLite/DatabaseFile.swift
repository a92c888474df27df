import Base
import CSQLite
import Glibc

/// Checks and creates database files without opening them.
///
/// This type must never open a descriptor of the file. If that descriptor were closed, the process would lose every
/// lock that SQLite holds on the file. (https://sqlite.org/howtocorrupt.html, section 2.2)
package enum DatabaseFile {
  /// Creates an empty file if there is none.
  ///
  /// The mode of the new file is 0600, or less if the umask takes bits away. SQLite gives the journal the same mode.
  ///
  /// - Throws: ``SystemError``.
  package static func make(_ path: String) throws(SystemError) {
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw SystemError(code: errno)
    }
  }

  /// Checks that a database file and its journal are regular files.
  ///
  /// The result is the path and the kind (`S_IFMT`) of the first file that is not regular; nil if both are regular or
  /// missing.
  ///
  /// The check is needed because a symbolic link could lead to another file, and because opening a pipe that somebody
  /// planted would block.
  package static func irregular(_ path: String) -> (path: String, kind: mode_t)? {
    for path in [path, path + "-journal"] {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
      return (path, status.st_mode & S_IFMT)
    }
    return nil
  }
}

/// Reads the header of a database file.
///
/// It uses SQLite's own functions, and takes no lock.
package final class DatabaseHeader {
  private let raw: OpaquePointer

  /// Opens a file; nil if that fails.
  package init?(_ path: String) {
    guard let raw = larder_sqlite_open_header(path) else { return nil }
    self.raw = raw
  }

  deinit { larder_sqlite_close_header(raw) }

  /// The file change counter; nil if it cannot be read.
  ///
  /// Each transaction in rollback mode increments the counter. (https://sqlite.org/fileformat.html, section 1.3.7)
  package var changes: UInt32? {
    var changes: UInt32 = 0
    return larder_sqlite_read_header(raw, &changes, 4, 24) == 0 ? UInt32(bigEndian: changes) : nil
  }
}
