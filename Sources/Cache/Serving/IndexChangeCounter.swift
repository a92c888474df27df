import Base
import GRDB
import Glibc
import SQLite
import Synchronization

/// Tells at the cost of two system calls whether an index has changed, without opening a database.
///
/// Each transaction raises a count in the header; a rebuilt index is another file.
package final class IndexChangeCounter: Sendable {
  /// How an index stood at a moment; equal beats mean equal contents.
  package struct Reading: Sendable, Hashable {
    fileprivate var inode: UInt
    fileprivate var changes: UInt32
  }

  private struct LastRead {
    /// The header that is read, of the file with that inode.
    var header: DatabaseHeader?
    var inode: UInt = 0
  }

  private let path: String
  private let state = Mutex(LastRead())

  /// Watches the index of the cache at `root`.
  package init(cache root: String) {
    path = root + "/index.sqlite"
  }

  /// The state of the index now; nil when there is none that can be read.
  ///
  /// Read it before the index: the index is then of that state or newer.
  package func read() -> Reading? {
    guard let inode = inode() else { return nil }
    return state.withLock { state in
      if state.header == nil || state.inode != inode {
        state.header = DatabaseHeader(path)
        // Another file may have taken the name before it was opened.
        guard self.inode() == inode else {
          state.header = nil
          return nil
        }
        state.inode = inode
      }
      return state.header?.changes.map { Reading(inode: inode, changes: $0) }
    }
  }

  /// The number of the file; nil when there is none, or something else.
  private func inode() -> UInt? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt(status.st_ino)
  }
}

extension Index {
  /// The index's entry of the picture at a path in the cache; nil if there is none.
  ///
  /// While its file is at an older larder's place, either path finds it.
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
  /// Looks through the packed identities of every item's pictures: a millisecond for each thousand items, and nothing
  /// is held.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - catalog: The catalog whose details are looked at.
  /// - Returns: At most 64 ids of either kind.
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
