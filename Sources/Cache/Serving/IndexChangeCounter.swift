import Base
import GRDB
import Glibc
import SQLite
import Synchronization

/// Finds out whether an index has changed, with two system calls and without opening the database.
///
/// With each transaction, SQLite increments the change counter in the header of the file. If the index is rebuilt, the
/// new file has another inode.
package final class IndexChangeCounter: Sendable {
  /// The state of an index at a moment.
  ///
  /// If two readings are equal, the contents are equal.
  package struct Reading: Sendable, Hashable {
    fileprivate var inode: UInt
    fileprivate var changes: UInt32
  }

  private struct LastRead {
    /// The open header of the file that has the inode below.
    var header: DatabaseHeader?
    var inode: UInt = 0
  }

  private let path: String
  private let state = Mutex(LastRead())

  /// Prepares to watch the index of the cache at `root`.
  package init(cache root: String) {
    path = root + "/index.sqlite"
  }

  /// Reads the present state of the index; nil if there is no readable index.
  ///
  /// Call this before you read the index. The index that you read then has this state or a newer state.
  package func read() -> Reading? {
    guard let inode = inode() else { return nil }
    return state.withLock { state in
      if state.header == nil || state.inode != inode {
        state.header = DatabaseHeader(path)
        // Another file may have replaced this one after its inode was read.
        guard self.inode() == inode else {
          state.header = nil
          return nil
        }
        state.inode = inode
      }
      return state.header?.changes.map { Reading(inode: inode, changes: $0) }
    }
  }

  /// The inode of the index file; nil if it is not a regular file.
  private func inode() -> UInt? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt(status.st_ino)
  }
}

extension Index {
  /// The row of the picture that has a path in the cache; nil if there is none.
  ///
  /// If the picture's file still has the path that an older version of larder gave it, the picture is found by both
  /// paths.
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

  /// The ids of the items that refer to the picture at a path in the cache, in any version or in their detail.
  ///
  /// - Parameters:
  ///   - path: The path of the picture, such as `images/3f/….jpg`.
  ///   - catalog: The catalog whose details are searched.
  /// - Returns: At most 64 ids that were found in items, and at most 64 that were found in details.
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
          SELECT * FROM (SELECT DISTINCT key FROM picture CROSS JOIN item_picture s ON s.picture = picture.row \
          CROSS JOIN item ON item.row = s.item WHERE picture.id = ?1 LIMIT 64) \
          UNION SELECT * FROM (SELECT item FROM picture CROSS JOIN detail_picture s ON s.picture = picture.row \
          CROSS JOIN detail ON detail.row = s.detail WHERE picture.id = ?1 AND catalog = ?2 LIMIT 64)
          """,
        arguments: [id, catalog]
      )
    }
  }
}
