import Base
import GRDB
import Glibc
import SQLite
import Synchronization

/// Detects a changed index with two system calls, without opening the database.
///
/// SQLite increments the change counter in the file's header with each transaction; a rebuilt index has another inode.
package final class IndexChangeCounter: Sendable {
  /// The state of an index at a moment; equal readings mean equal contents.
  package struct Reading: Sendable, Hashable {
    fileprivate var inode: UInt
    fileprivate var changes: UInt32
  }

  private struct LastRead {
    /// The open header of the file with this inode.
    var header: DatabaseHeader?
    var inode: UInt = 0
  }

  private let path: String
  private let state = Mutex(LastRead())

  /// Watches the index of the cache at `root`.
  package init(cache root: String) {
    path = root + "/index.sqlite"
  }

  /// The present state of the index; nil when there is no readable index.
  ///
  /// Call this before reading the index; the index that is read has this state or a newer state.
  package func read() -> Reading? {
    guard let inode = inode() else { return nil }
    return state.withLock { state in
      if state.header == nil || state.inode != inode {
        state.header = DatabaseHeader(path)
        // Another file may have replaced this one before the header was opened.
        guard self.inode() == inode else {
          state.header = nil
          return nil
        }
        state.inode = inode
      }
      return state.header?.changes.map { Reading(inode: inode, changes: $0) }
    }
  }

  /// The inode of the index file; nil when there is no regular file.
  private func inode() -> UInt? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt(status.st_ino)
  }
}

extension Index {
  /// The index's row of the picture at a path in the cache; nil if there is none.
  ///
  /// A picture whose file still has the path of an older larder is found by that path and by its present path.
  package func picture(at path: String) throws(LarderError) -> PictureEntry? {
    try read { db in
      let row: RowReader
      if let id = PictureName.id(at: path) {
        row = try RowReader(db, Self.select + " WHERE id = ?")
        row.restart(id.digest)
      } else {
        row = try RowReader(db, Self.select + " WHERE older = ?")
        row.restart(path)
      }
      guard try row.next() else { return nil }
      let entry = PictureEntry(row)
      return path == entry.older || path == entry.ownName.path
        ? entry : nil
    }
  }

  /// The ids of items that refer, in some version or in their detail, to the picture at a path in the cache.
  ///
  /// Searches the packed picture ids of all items: a millisecond for each thousand items, without an index in memory.
  ///
  /// - Parameters:
  ///   - path: The picture's path, such as `images/3f/….jpg`.
  ///   - catalog: The catalog whose details are searched.
  /// - Returns: At most 64 ids of items from versions, and 64 from details.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func items(
    isPicturePath path: String,
    catalog: CatalogID
  ) throws(LarderError) -> [String] {
    guard let id = PictureName.id(at: path) else { return [] }
    return try read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT * FROM (SELECT DISTINCT key FROM item WHERE instr(pictures, ?1) > 0 LIMIT 64) \
          UNION SELECT * FROM (SELECT item FROM detail \
          WHERE catalog = ?2 AND instr(pictures, ?1) > 0 LIMIT 64)
          """,
        arguments: [id, catalog]
      )
    }
  }
}
