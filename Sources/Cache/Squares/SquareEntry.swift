import Transport
import FoundationEssentials
import GRDB

/// What the index knows of one picture's square of one size.
package struct SquareEntry: Sendable, Equatable {
  /// The picture.
  package var picture: PictureID
  /// Pixels along a side.
  package var side: Int
  /// The path below `squares/<side>/`, as the picture's below `images/`.
  var path: String
  /// The SHA-256 of the picture that it was made of.
  package var source: [UInt8]
  /// The SHA-256 of the square; nil when none could be made.
  package var sha256: [UInt8]?
  /// What `stat` said of its file when it was committed.
  var stamp: FileStamp?
  /// Why none could be made.
  package var failure: String?

  /// Where its file lies, relative to the cache.
  package var name: String { "squares/\(side)/\(path)" }
}

extension Index {
  /// The squares that there are, or that could not be made; all of them, or those of one size.
  package func squares(side: Int? = nil) throws(CacheError) -> [SquareEntry] {
    try read { db in
      let rows = try Row.fetchAll(
        db,
        sql: "\(Self.squareColumns) FROM square s WHERE ?1 IS NULL OR s.side = ?1 ORDER BY 1, 2",
        arguments: [side]
      )
      return rows.map(SquareEntry.init)
    }
  }

  /// The squares whose picture is held with the very bytes that they were made of, or, if `inStep`
  /// is false, the others.
  func squares(inStep: Bool) throws(CacheError) -> [SquareEntry] {
    try read { db in
      let rows = try Row.fetchAll(
        db,
        sql: """
          \(Self.squareColumns) FROM square s LEFT JOIN picture p ON p.id = s.picture \
          WHERE coalesce(p.sha256 = s.source, 0) = ? ORDER BY 1, 2
          """,
        arguments: [inStep]
      )
      return rows.map(SquareEntry.init)
    }
  }

  private static let squareColumns = """
    SELECT s.picture, s.side, s.path, s.source, s.sha256, s.bytes, s.inode, s.modified, s.failure
    """

  /// Writes entries in one transaction.
  func save(_ entries: [SquareEntry]) throws(CacheError) {
    guard !entries.isEmpty else { return }
    try write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO square VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
      )
      for entry in entries {
        try statement.execute(arguments: [
          entry.picture.number, entry.side, entry.path, Data(entry.source),
          entry.sha256.map { Data($0) }, entry.stamp?.bytes, entry.stamp?.inode,
          entry.stamp?.modified, entry.failure,
        ])
      }
    }
  }

  /// Forgets entries in one transaction.
  func forget(_ entries: [SquareEntry]) throws(CacheError) {
    guard !entries.isEmpty else { return }
    try write { db in
      let statement = try db.cachedStatement(
        sql: "DELETE FROM square WHERE picture = ? AND side = ?"
      )
      for entry in entries {
        try statement.execute(arguments: [entry.picture.number, entry.side])
      }
    }
  }
}

extension SquareEntry {
  fileprivate init(_ row: Row) {
    picture = PictureID(number: row[0])
    side = row[1]
    path = row[2]
    source = [UInt8](row[3] as Data)
    sha256 = (row[4] as Data?).map { [UInt8]($0) }
    if let bytes = row[5] as Int64?, let inode = row[6] as Int64?,
      let modified = row[7] as UnixTime?
    {
      stamp = FileStamp(inode: inode, bytes: bytes, modified: modified)
    }
    failure = row[8]
  }
}
