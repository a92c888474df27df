import Foundation
import GRDB

@testable import Cache

/// Turns the index of a cache into one that larder 0.2.0 could have written, for tests of the migration.
enum OlderIndex {
  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../CacheTests/Fixtures/v4.sqlite").path

  /// Copies all rows but those of the history, which that version does not have.
  ///
  /// The files of pictures keep their names, as if a migration had renamed them and was killed then.
  ///
  /// - Parameter path: The index file, which no process has open.
  /// - Throws: An error of SQLite or of the file system.
  static func replace(_ path: String) throws {
    let older = path + ".older"
    let (tables, migrations) = try DatabaseQueue(path: fixture).read { db in
      (
        try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"),
        try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
      )
    }
    var configuration = Configuration()
    configuration.prepareDatabase { $0.add(function: number) }
    let queue = try DatabaseQueue(path: older, configuration: configuration)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "ATTACH ? AS present", arguments: [path])
      try db.inTransaction {
        for table in tables { try db.execute(sql: table) }
        for name in migrations {
          try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name])
        }
        try db.execute(sql: rows)
        try copyItems(in: db)
        try db.execute(sql: "PRAGMA user_version = 4")
        return .commit
      }
    }
    try queue.close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: older, toPath: path)
  }

  /// The SQL function `number`: the older key of a key of 128 bits.
  private static let number = DatabaseFunction("number", argumentCount: 1) { values in
    IdentityDigest.fromDatabaseValue(values[0])?.olderNumber
  }

  private static let rows = """
    INSERT INTO meta SELECT * FROM present.meta;
    INSERT INTO catalog SELECT * FROM present.catalog;
    INSERT INTO run SELECT * FROM present.run;
    INSERT INTO run_section SELECT * FROM present.run_section;
    INSERT INTO tombstone SELECT * FROM present.tombstone;
    INSERT INTO picture(row, id, url, sha256, content, bytes, type, inode, modified, response, expiry, fetched, checked,
      failure, failing_since)
    SELECT row, number(id), url, sha256, content, bytes, type, inode, modified, response, expiry, fetched, checked,
      failure, failing_since FROM present.picture;
    INSERT INTO document(id, url, mapping, response, expiry, digest, fetched, next)
    SELECT number(id), url, mapping, response, expiry, digest, fetched, next FROM present.document;
    INSERT INTO decoded(document, position, key, title, subtitle, listing, skipped)
    SELECT number(document), position, key, title, subtitle, listing, skipped FROM present.decoded;
    INSERT INTO picture_change SELECT run, number(picture), before, after FROM present.picture_change;
    INSERT INTO unreferenced SELECT number(picture), since FROM present.unreferenced;
    INSERT INTO square SELECT number(picture), side, path, source, sha256, bytes, inode, modified, failure
    FROM present.square;
    """

  private static func pack(_ keys: [IdentityDigest]) -> DatabaseValue {
    let bytes = keys.flatMap { key in
      withUnsafeBytes(of: key.olderNumber.littleEndian) { Array($0) }
    }
    return Data(bytes).databaseValue
  }

  /// The pictures that an item or detail shows, in their order.
  private static func pictures(
    of table: String,
    _ row: Int64,
    in db: Database
  ) throws -> [IdentityDigest] {
    try IdentityDigest.fetchAll(
      db,
      sql: """
        SELECT p.id FROM present.\(table)_picture s JOIN present.picture p ON p.row = s.picture \
        WHERE s.\(table) = ? ORDER BY s.place
        """,
      arguments: [row]
    )
  }

  private static func copyItems(in db: Database) throws {
    for row in try Row.fetchAll(
      db,
      sql: "SELECT row, key, digest, body FROM present.item"
    ) {
      let pictures = try pictures(of: "item", row["row"], in: db)
      try db.execute(
        sql: "INSERT INTO item(row, id, key, body, pictures) VALUES (?, number(?), ?, ?, ?)",
        arguments: [row["row"], row["digest"], row["key"], row["body"], pack(pictures)]
      )
    }
    for listing in try Int64.fetchAll(db, sql: "SELECT id FROM present.listing") {
      var (items, keys): ([IdentityDigest], [UInt8]) = ([], [])
      let select = """
        SELECT i.key, i.digest FROM present.listing_item l JOIN present.item i ON i.row = l.item WHERE l.listing = ? \
        ORDER BY l.place
        """
      for row in try Row.fetchAll(db, sql: select, arguments: [listing]) {
        items.append(try row.decode(forColumn: "digest"))
        keys += Array((row["key"] as String).utf8) + [0]
      }
      try db.execute(
        sql: "INSERT INTO listing(id, items, keys, pictures) VALUES (?, ?, ?, x'')",
        arguments: [listing, pack(items), keys.databaseValue]
      )
    }
    let details = "SELECT * FROM present.detail"
    for row in try Row.fetchAll(db, sql: details) {
      let pictures = try pictures(of: "detail", row["row"], in: db)
      try db.execute(
        sql: "INSERT INTO detail VALUES (?, ?, number(?), ?, ?, ?, ?)",
        arguments: [
          row["catalog"], row["item"], row["document"], row["state"], row["body"],
          pack(pictures), row["since"],
        ]
      )
    }
  }
}

extension [UInt8] {
  fileprivate var databaseValue: DatabaseValue { Data(self).databaseValue }
}
