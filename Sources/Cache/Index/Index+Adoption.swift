import GRDB

/// Index files of larders that had no migrations.
///
/// They hold 0, 1 or 2 in `user_version` and no `grdb_migrations`. Version 1 came in three kinds: with the id as the
/// row's number in `picture` and `item`; then with rows in the order in which they were first committed; then with
/// `keys` in `listing` too. Version 2 added the tables for sweeps; `square` was added with the first square.
extension Index {
  /// Makes the first tables in a file that has none, or brings those of an old file to the same form.
  static func adoptTables(in db: Database) throws {
    guard try db.tableExists("catalog") else { return try db.execute(sql: schema) }
    try numberRows(in: db)
    try addKeys(in: db)
  }

  /// Gives pictures and items a row number beside their id, which used to be the row number.
  private static func numberRows(in db: Database) throws {
    guard try !db.columns(in: "picture").contains(where: { $0.name == "row" }) else { return }
    try db.execute(
      sql: """
        ALTER TABLE picture RENAME TO old_picture;
        CREATE TABLE picture(
          row INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, url TEXT NOT NULL,
          sha256 BLOB, content INTEGER, bytes INTEGER, type TEXT, inode INTEGER, modified INTEGER,
          response TEXT, expiry INTEGER NOT NULL DEFAULT 0, fetched INTEGER, checked INTEGER,
          failure TEXT, failing_since INTEGER);
        INSERT INTO picture(id, url, sha256, content, bytes, type, inode, modified, response, expiry,
          fetched, checked, failure, failing_since)
        SELECT id, url, sha256, content, bytes, type, inode, modified, response, expiry,
          fetched, checked, failure, failing_since FROM old_picture ORDER BY id;
        DROP TABLE old_picture;
        ALTER TABLE item RENAME TO old_item;
        CREATE TABLE item(
          row INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, key TEXT NOT NULL, body BLOB NOT NULL, \
        pictures BLOB NOT NULL);
        INSERT INTO item(id, key, body, pictures)
        SELECT id, key, body, pictures FROM old_item ORDER BY id;
        DROP TABLE old_item;
        """
    )
    for table in ["picture", "document"] { try renewResponses(of: table, in: db) }
  }

  /// Puts what origins said, in `response`, into today's form.
  ///
  /// The first larder kept an entity-tag and a date, a line each. Today the first line has two times, and each field
  /// its name. Both times are set to 0: such a row is asked about in the next run.
  private static func renewResponses(of table: String, in db: Database) throws {
    var words: [(id: Int64, text: String)] = []
    let rows = try RowReader(db, "SELECT id, response FROM \(table)")
    while try rows.next() {
      let lines = (rows.text(1) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      let times = lines.first?.split(separator: " ").compactMap { Int64($0) }
      guard lines.count == 2, times?.count != 2 else { continue }
      let fields = zip(["ETag", "Last-Modified"], lines).filter { !$1.isEmpty }
      words.append((rows.number(0), "0 0\n" + fields.map { "\($0): \($1)\n" }.joined()))
    }
    for word in words {
      try db.execute(
        sql: "UPDATE \(table) SET response = ?, expiry = 0 WHERE id = ?",
        arguments: [word.text, word.id]
      )
    }
  }

  /// Writes the keys of each listing's items beside it.
  private static func addKeys(in db: Database) throws {
    guard try !db.columns(in: "listing").contains(where: { $0.name == "keys" }) else { return }
    try db.execute(
      sql: """
        ALTER TABLE listing RENAME TO old_listing;
        CREATE TABLE listing(
          id INTEGER PRIMARY KEY, items BLOB NOT NULL, keys BLOB NOT NULL, pictures BLOB NOT NULL);
        """
    )
    try writeKeys(in: db)
    try db.execute(sql: "DROP TABLE old_listing")
  }

  /// A function of its own, for a table is dropped only once nobody reads it any more.
  private static func writeKeys(in db: Database) throws {
    let old = try RowReader(db, "SELECT id, items, pictures FROM old_listing")
    let item = try RowReader(db, "SELECT key FROM item WHERE id = ?")
    var new = try RowWriter(db, "INSERT INTO listing(id, items, keys, pictures) VALUES (?,?,?,?)")
    while try old.next() {
      let items = old.bytes(1) ?? []
      var keys: [UInt8] = []
      for version in PackedNumbers.unpack(items) {
        item.restart(version)
        if try item.next() { keys += (item.text(0) ?? "").utf8.filter { $0 != 0 } }
        keys.append(0)
      }
      new.bind(1, old.number(0))
      new.bind(2, items)
      new.bind(3, keys)
      new.bind(4, old.bytes(2) ?? [])
      try new.run()
    }
  }
}
