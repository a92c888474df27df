import GRDB

/// Index files of larders whose keys had 63 bits, and whose file names 47.
///
/// Those larders kept a key as an integer. Documents, items, pictures and listings get keys of 128 bits, and every
/// reference to one follows. `picture.older` says where the file of a held picture still lies; see
/// ``Index/takeOver(_:on:)``.
extension Index {
  /// Gives every row its key of 128 bits.
  static func lengthenKeys(in db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE picture RENAME TO old_picture;
        ALTER TABLE document RENAME TO old_document;
        ALTER TABLE decoded RENAME TO old_decoded;
        ALTER TABLE item RENAME TO old_item;
        ALTER TABLE listing RENAME TO old_listing;
        ALTER TABLE detail RENAME TO old_detail;
        ALTER TABLE picture_change RENAME TO old_picture_change;
        ALTER TABLE unreferenced RENAME TO old_unreferenced;
        ALTER TABLE square RENAME TO old_square;
        """
    )
    try db.execute(sql: longKeySchema)
    var keys = LongKeys()
    try keys.movePictures(in: db)
    try keys.moveItems(in: db)
    try keys.moveListings(in: db)
    try keys.moveDocuments(in: db)
    try keys.moveDetails(in: db)
    try keys.moveMarks(in: db)
    for table in [
      "picture", "document", "decoded", "item", "listing", "detail", "picture_change",
      "unreferenced", "square",
    ] { try db.execute(sql: "DROP TABLE old_\(table)") }
  }

  /// The tables that have keys of 128 bits, 16 bytes each.
  private static let longKeySchema = """
    -- A picture by its identity, whose key `id` is: `identity`, or `url` where that is NULL. `url` is asked. `older` is the path of its file while that lies where an older larder
    -- put it.
    CREATE TABLE picture(
      row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, url TEXT NOT NULL,
      sha256 BLOB, content INTEGER, bytes INTEGER, type TEXT, inode INTEGER, modified INTEGER,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, fetched INTEGER, checked INTEGER,
      failure TEXT, failing_since INTEGER, older TEXT, identity TEXT);
    CREATE INDEX picture_older ON picture(older) WHERE older IS NOT NULL;

    -- `id` is the key of who reads the document and of its URL.
    CREATE TABLE document(
      id BLOB PRIMARY KEY, url TEXT NOT NULL, mapping INTEGER NOT NULL,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, digest INTEGER, fetched INTEGER,
      next TEXT) WITHOUT ROWID;

    CREATE TABLE decoded(
      document BLOB NOT NULL, position INTEGER NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, subtitle TEXT,
      listing INTEGER NOT NULL, skipped TEXT NOT NULL,
      PRIMARY KEY(document, position)) WITHOUT ROWID;

    -- `id` is the key of `body`; `pictures` are keys, one behind the other.
    CREATE TABLE item(
      row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, key TEXT NOT NULL, body BLOB NOT NULL, pictures BLOB NOT NULL);

    -- `items` and `pictures` are keys, one behind the other; `digest` is the key of `items`.
    CREATE TABLE listing(
      id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, items BLOB NOT NULL, keys BLOB NOT NULL,
      pictures BLOB NOT NULL);

    CREATE TABLE detail(
      catalog INTEGER NOT NULL, item TEXT NOT NULL, document BLOB NOT NULL,
      state TEXT NOT NULL, body BLOB, pictures BLOB, since INTEGER,
      PRIMARY KEY(catalog, item)) WITHOUT ROWID;

    CREATE TABLE picture_change(
      run INTEGER NOT NULL, picture BLOB NOT NULL, before BLOB NOT NULL, after BLOB NOT NULL,
      PRIMARY KEY(run, picture)) WITHOUT ROWID;

    CREATE TABLE unreferenced(picture BLOB PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE square(
      picture BLOB NOT NULL, side INTEGER NOT NULL, path TEXT NOT NULL, source BLOB NOT NULL,
      sha256 BLOB, bytes INTEGER, inode INTEGER, modified INTEGER, failure TEXT,
      PRIMARY KEY(picture, side)) WITHOUT ROWID;
    """
}

/// The keys of 128 bits by the numbers that stood for them.
private struct LongKeys {
  private var pictures: [Int64: IdentityDigest] = [:]
  private var items: [Int64: IdentityDigest] = [:]
  private var documents: [Int64: IdentityDigest] = [:]

  /// The key of a number that no row explains: nothing else has it.
  private static func unexplained(_ number: Int64) -> IdentityDigest {
    IdentityDigest(high: UInt64(bitPattern: number), low: 0)
  }

  /// Moves pictures, and notes where their files are.
  ///
  /// Two URLs whose names were one shared a file, which may hold the bytes of either. Nothing is held of both then.
  mutating func movePictures(in db: Database) throws {
    let new = ["id", "older", "identity"]
    let columns = Index.pictureColumns.filter { !new.contains($0) } + ["content"]
    try db.execute(
      sql: """
        INSERT INTO picture(row, id, \(columns.joined(separator: ", ")))
        SELECT row, CAST(id AS BLOB), \(columns.joined(separator: ", ")) FROM old_picture
        """
    )
    var write = try RowWriter(
      db,
      "UPDATE OR REPLACE picture SET id = ?, older = ? WHERE row = ?"
    )
    let rows = try RowReader(
      db,
      "SELECT id, url, sha256 IS NOT NULL, row FROM old_picture ORDER BY id"
    )
    var last = ""
    var shared: Set<String> = []
    while try rows.next() {
      let url = rows.text(1) ?? ""
      let id = PictureID(url: url)
      pictures[rows.number(0)] = id.digest
      let isHeld = rows.number(2) != 0
      let path = PictureName(older: url).path
      write.bind(1, id.digest)
      write.bind(2, isHeld ? path : nil)
      write.bind(3, rows.number(3))
      try write.run()
      // What has the same name has nearly the same number.
      if isHeld, path == last { shared.insert(path) }
      if isHeld { last = path }
    }
    for path in shared {
      for id in try PictureID.fetchAll(
        db,
        sql: "SELECT id FROM picture WHERE older = ?",
        arguments: [path]
      ) { try Index.forget(id, in: db) }
    }
  }

  /// Moves items, whose keys are those of their bodies.
  mutating func moveItems(in db: Database) throws {
    let rows = try RowReader(db, "SELECT id, row, key, body, pictures FROM old_item ORDER BY row")
    var write = try RowWriter(
      db,
      "INSERT OR IGNORE INTO item(row, id, key, body, pictures) VALUES (?,?,?,?,?)"
    )
    while try rows.next() {
      let body = rows.bytes(3) ?? []
      let key = IdentityDigest(of: body)
      items[rows.number(0)] = key
      write.bind(1, rows.number(1))
      write.bind(2, key)
      write.bind(3, rows.text(2) ?? "")
      write.bind(4, body)
      write.bind(5, try pictures(rows.bytes(4), shownBy: body, in: db))
      try write.run()
    }
  }

  /// Packed pictures with their new keys.
  ///
  /// Those that were never asked for have no row: their URLs stand in the body of the item.
  private mutating func pictures(
    _ packed: [UInt8]?,
    shownBy body: [UInt8]?,
    in db: Database
  ) throws -> [UInt8] {
    let numbers = PackedNumbers.unpack(packed ?? [])
    if let body, numbers.contains(where: { pictures[$0] == nil }) {
      let urls = try RowReader(
        db,
        "SELECT json_extract(value, '$.url') FROM json_each(CASE WHEN json_valid(?1) THEN ?1 END, '$.images')"
      )
      urls.restart(String(decoding: body, as: UTF8.self))
      while try urls.next() {
        let key = PictureID(url: urls.text(0) ?? "").digest
        pictures[key.olderNumber] = pictures[key.olderNumber] ?? key
      }
    }
    return IdentityDigest.pack(numbers.map { pictures[$0] ?? Self.unexplained($0) })
  }

  /// Moves listings, which keep their numbers.
  mutating func moveListings(in db: Database) throws {
    let rows = try RowReader(db, "SELECT id, items, keys, pictures FROM old_listing")
    var write = try RowWriter(
      db,
      "INSERT OR IGNORE INTO listing(id, digest, items, keys, pictures) VALUES (?,?,?,?,?)"
    )
    while try rows.next() {
      let versions = PackedNumbers.unpack(rows.bytes(1) ?? [])
      let packed = IdentityDigest.pack(versions.map { items[$0] ?? Self.unexplained($0) })
      write.bind(1, rows.number(0))
      write.bind(2, IdentityDigest(of: packed))
      write.bind(3, packed)
      write.bind(4, rows.bytes(2) ?? [])
      write.bind(5, try pictures(rows.bytes(3), shownBy: nil, in: db))
      try write.run()
    }
  }

  /// Moves documents and what they were decoded to.
  ///
  /// Who reads a document stands in no row, but nearly all readers follow from the catalogs and their sections. One
  /// whose reader is not found is asked for anew.
  mutating func moveDocuments(in db: Database) throws {
    var readers = [""]
    for name in try String.fetchAll(db, sql: "SELECT name FROM catalog") {
      readers += ["\(name)\tdetails", "\(name)\tsections"]
      readers += try String.fetchAll(
        db,
        sql: "SELECT key FROM run_section UNION SELECT key FROM old_decoded"
      ).map { "\(name)\tsection\t\($0)" }
    }
    let rows = try RowReader(db, "SELECT id, url FROM old_document")
    var write = try RowWriter(
      db,
      """
      INSERT OR IGNORE INTO document(id, url, mapping, response, expiry, digest, fetched, next) \
      SELECT ?1, url, mapping, response, expiry, digest, fetched, next FROM old_document WHERE id = ?2
      """
    )
    while try rows.next() {
      let (number, url) = (rows.number(0), rows.text(1) ?? "")
      let key = readers.lazy.map { DocumentID(url: url, reader: $0).digest }
        .first { $0.olderNumber == number }
      documents[number] = key ?? Self.unexplained(number)
      write.bind(1, documents[number] ?? Self.unexplained(number))
      write.bind(2, number)
      try write.run()
    }
    var decoded = try RowWriter(
      db,
      """
      INSERT INTO decoded(document, position, key, title, subtitle, listing, skipped) \
      SELECT ?1, position, key, title, subtitle, listing, skipped FROM old_decoded WHERE document = ?2
      """
    )
    for number in try Int64.fetchAll(db, sql: "SELECT DISTINCT document FROM old_decoded") {
      decoded.bind(1, documents[number] ?? Self.unexplained(number))
      decoded.bind(2, number)
      try decoded.run()
    }
  }

  /// Moves details.
  mutating func moveDetails(in db: Database) throws {
    let rows = try RowReader(
      db,
      "SELECT catalog, item, document, state, body, pictures, since FROM old_detail"
    )
    var write = try RowWriter(
      db,
      "INSERT INTO detail(catalog, item, document, state, body, pictures, since) VALUES (?,?,?,?,?,?,?)"
    )
    while try rows.next() {
      let body = rows.bytes(4)
      write.bind(1, rows.number(0))
      write.bind(2, rows.text(1) ?? "")
      write.bind(3, documents[rows.number(2)] ?? Self.unexplained(rows.number(2)))
      write.bind(4, rows.text(3) ?? "")
      write.bind(5, body)
      write.bind(6, try pictures(rows.bytes(5), shownBy: body, in: db))
      write.bind(7, rows.optionalNumber(6))
      try write.run()
    }
  }

  /// Moves what is noted of pictures that have rows.
  func moveMarks(in db: Database) throws {
    // Rows kept their numbers.
    let join = "JOIN old_picture ON old_picture.id = o.picture JOIN picture USING (row)"
    try db.execute(
      sql: """
        INSERT INTO picture_change(run, picture, before, after)
        SELECT o.run, picture.id, o.before, o.after FROM old_picture_change o \(join);
        INSERT INTO unreferenced(picture, since)
        SELECT picture.id, o.since FROM old_unreferenced o \(join);
        INSERT INTO square(picture, side, path, source, sha256, bytes, inode, modified, failure)
        SELECT picture.id, o.side, o.path, o.source, o.sha256, o.bytes, o.inode, o.modified, o.failure
        FROM old_square o \(join);
        """
    )
  }
}
