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
      let id = PictureName.id(at: path)
      let row = try RowStatement(db, Self.select + " WHERE \(id == nil ? "older" : "id") = ?")
      let entry =
        if let id {
          try row.first(id) { PictureEntry($0) }
        } else {
          try row.first(path) { PictureEntry($0) }
        }
      return path == entry?.older || path == entry?.ownName.path ? entry : nil
    }
  }

  /// Whether a run lists an item that shows a picture, in its listing or in its detail.
  ///
  /// If few versions of items show it, each is looked up in each listing. Otherwise each item of the listings is asked
  /// whether it shows the picture. So the time is at most that of reading the listings.
  ///
  /// - Parameters:
  ///   - picture: The picture.
  ///   - run: The run.
  ///   - catalog: The catalog of the run.
  /// - Returns: Whether there is such an item.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func isShown(
    _ picture: PictureID,
    in run: RunID,
    of catalog: CatalogID
  ) throws(LarderError) -> Bool {
    try read { db in
      let versions = try db.all(Self.showing, picture, catalog) { _ in }.count
      let sql = versions > Self.fewVersions ? Self.lists : Self.isShown
      return try db.first(sql, picture, run, catalog) { _ in } != nil
    }
  }

  /// The number of versions of items to look up in each listing.
  static let fewVersions = 64

  /// The versions of items that show the picture ?1, themselves or in their details of the catalog ?2; not all of them
  /// if there are more than ``fewVersions``.
  static let showing = """
    SELECT s.item FROM picture p CROSS JOIN item_picture s ON s.picture = p.row WHERE p.id = ?1
    UNION ALL SELECT i.row FROM picture p CROSS JOIN detail_picture s ON s.picture = p.row
    CROSS JOIN detail d ON d.row = s.detail AND d.catalog = ?2 CROSS JOIN item i ON i.key = d.item WHERE p.id = ?1
    LIMIT \(fewVersions + 1)
    """

  /// The same items as ``isShown``, beginning with the listings.
  ///
  /// The `+` makes SQLite read the few pictures of an item or detail, and not the many rows of the picture.
  static let lists = """
    SELECT 1 FROM picture p CROSS JOIN run_section r ON r.run = ?2
    CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = r.listing WHERE p.id = ?1 AND (
    EXISTS (SELECT 1 FROM item_picture s WHERE s.item = l.item AND +s.picture = p.row) OR
    EXISTS (SELECT 1 FROM item i CROSS JOIN detail d ON d.catalog = ?3 AND d.item = i.key
    CROSS JOIN detail_picture s ON s.detail = d.row AND +s.picture = p.row WHERE i.row = l.item))
    LIMIT 1
    """

  /// The items of the listings of the run ?2 that show the picture ?1, then those whose details do.
  static let isShown = """
    SELECT 1 FROM picture p CROSS JOIN item_picture s ON s.picture = p.row CROSS JOIN run_section r ON r.run = ?2
    CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = r.listing AND l.item = s.item WHERE p.id = ?1
    UNION ALL SELECT 1 FROM picture p CROSS JOIN detail_picture s ON s.picture = p.row
    CROSS JOIN detail d ON d.row = s.detail AND d.catalog = ?3 CROSS JOIN item i ON i.key = d.item
    CROSS JOIN run_section r ON r.run = ?2
    CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = r.listing AND l.item = i.row WHERE p.id = ?1
    LIMIT 1
    """
}
