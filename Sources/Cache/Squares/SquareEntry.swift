import GRDB
import Transport

/// What the index knows of one picture's square of one size.
package struct SquareEntry: Sendable, Equatable {
  /// The picture.
  package var picture: PictureID
  /// Pixels along a side.
  package var side: Int
  /// The path below `squares/<side>/`: the picture's below `images/`, but for its ending.
  var path: String
  /// The SHA-256 of the picture that it was made of.
  package var source: [UInt8]
  /// The SHA-256 of the square; nil when none could be made.
  package var sha256: [UInt8]?
  /// What `stat` said of its file when it was committed.
  package var stamp: FileStamp?
  /// Why none could be made.
  package var failure: String?

  /// Where its file lies, relative to the cache.
  package var name: String { "squares/\(side)/\(path)" }
}

extension Index {
  /// The squares that there are, or that could not be made; all of them, or those of one size.
  package func squares(side: Int? = nil) throws(CacheError) -> [SquareEntry] {
    try read { db in
      try SquareEntry.fetchAll(
        db,
        sql: "SELECT * FROM square WHERE ?1 IS NULL OR side = ?1 ORDER BY picture, side",
        arguments: [side]
      )
    }
  }

  /// What is known of a picture's square of one size.
  package func square(of picture: PictureID, side: Int) throws(CacheError) -> SquareEntry? {
    try read { db in
      try SquareEntry.fetchOne(
        db,
        sql: "SELECT * FROM square WHERE picture = ? AND side = ?",
        arguments: [picture, side]
      )
    }
  }

  /// The squares whose picture is held with the very bytes that they were made of, or, if `inStep`
  /// is false, the others.
  func squares(inStep: Bool) throws(CacheError) -> [SquareEntry] {
    try read { db in
      try SquareEntry.fetchAll(
        db,
        sql: """
          SELECT s.* FROM square s LEFT JOIN picture p ON p.id = s.picture \
          WHERE coalesce(p.sha256 = s.source, 0) = ? ORDER BY s.picture, s.side
          """,
        arguments: [inStep]
      )
    }
  }

  /// Writes entries in one transaction.
  func save(_ entries: [SquareEntry]) throws(CacheError) {
    guard !entries.isEmpty else { return }
    try write { db in for entry in entries { try entry.insert(db) } }
  }

  /// Forgets entries in one transaction.
  func forget(_ entries: [SquareEntry]) throws(CacheError) {
    guard !entries.isEmpty else { return }
    try write { db in
      let statement = try db.cachedStatement(
        sql: "DELETE FROM square WHERE picture = ? AND side = ?"
      )
      for entry in entries {
        try statement.execute(arguments: [entry.picture, entry.side])
      }
    }
  }
}

extension SquareEntry: FetchableRecord, PersistableRecord {
  package static let databaseTableName = "square"
  package static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace)

  /// Reads a row of `square`.
  package init(row: Row) throws {
    picture = try row.decode(forColumn: "picture")
    side = try row.decode(forColumn: "side")
    path = try row.decode(forColumn: "path")
    source = try row.bytes("source") ?? []
    sha256 = try row.bytes("sha256")
    if let bytes = try row.decode(ByteCount?.self, forColumn: "bytes"),
      let inode = try row.decode(Int64?.self, forColumn: "inode"),
      let modified = try row.decode(UnixTime?.self, forColumn: "modified")
    {
      stamp = FileStamp(inode: inode, bytes: bytes, modified: modified)
    }
    failure = try row.decode(forColumn: "failure")
  }

  /// Writes a row of `square`.
  package func encode(to container: inout PersistenceContainer) {
    container["picture"] = picture
    container["side"] = side
    container["path"] = path
    container["source"] = source.databaseValue
    container["sha256"] = sha256?.databaseValue
    container["bytes"] = stamp?.bytes
    container["inode"] = stamp?.inode
    container["modified"] = stamp?.modified
    container["failure"] = failure
  }
}
