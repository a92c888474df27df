import GRDB
import GRDBSQLite

/// One value of bytes that is read in parts, without reading the rest of it.
///
/// A query has SQLite read the whole value whatever part of it is asked for: `substr` of a listing of a million
/// items read 8 MB for the first of them. Here only the pages up to the part are read.
/// (https://sqlite.org/c3ref/blob_open.html) For one transaction, on the queue that holds it.
struct BlobReader: ~Copyable {
  private let db: Database
  private let raw: OpaquePointer

  /// Opens the value in one column of one row; nil when there is no such row, or no bytes in it.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  init?(_ db: Database, table: String, column: String, row: Int64) throws {
    var opened: OpaquePointer?
    switch sqlite3_blob_open(db.sqliteConnection, "main", table, column, row, 0, &opened) {
    case SQLITE_OK: break
    case SQLITE_ERROR: return nil
    default: throw db.lastError
    }
    guard let opened else { return nil }
    (self.db, raw) = (db, opened)
  }

  deinit { sqlite3_blob_close(raw) }

  /// Some of the bytes, fewer where the value ends before.
  ///
  /// - Parameters:
  ///   - first: How many bytes to pass over.
  ///   - count: How many bytes to read at most.
  /// - Returns: The bytes.
  /// - Throws: `DatabaseError` when the database cannot be read.
  func bytes(from first: Int, count: Int) throws -> [UInt8] {
    let held = max(0, min(count, Int(sqlite3_blob_bytes(raw)) - first))
    guard held > 0 else { return [] }
    var status = SQLITE_OK
    // SAFETY: the call writes `held` bytes at most; when it fails, the array is not used.
    let bytes = [UInt8](unsafeUninitializedCapacity: held) { buffer, filled in
      status = sqlite3_blob_read(raw, buffer.baseAddress, Int32(held), Int32(first))
      filled = status == SQLITE_OK ? held : 0
    }
    guard status == SQLITE_OK else { throw db.lastError }
    return bytes
  }
}
