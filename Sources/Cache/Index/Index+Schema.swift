import Base
import GRDB
import Glibc
import SQLite

// To change the tables, write the change as a new constant below (`ALTER TABLE … ADD COLUMN`, `CREATE TABLE`). Then
// append a migration with a new name to the end of `tables`. Never edit a released migration, because index files
// record the names of the migrations that were applied to them.
//
// A new column needs a default value or must be allowed to be NULL. Add a new column of `picture` to
// `Index.pictureColumns` too, which is used to read damaged indexes. If a view of `Index+Views.swift` reads a changed
// table, the migration first drops the view, and then creates it again with the same columns.
//
// `user_version` is the number of migrations. `MigrationTests` migrates a file of each earlier version. Before you
// start, add a file of the present version to its fixtures.

extension Index {
  /// The migrations of the tables, in the order in which they are applied.
  static let tables = DatabaseSchema([
    .init("tables") { try $0.execute(sql: schema) },
    .init("sweeps") { try $0.execute(sql: sweepSchema) },
    .init("squares") { try $0.execute(sql: squareSchema) },
    .init("details that are gone") { try $0.execute(sql: goneSchema) },
    .init("keys of 128 bits") { try lengthenKeys(in: $0) },
    .init("history") { try $0.execute(sql: historySchema) },
    .init("views") { try $0.execute(sql: viewSchema) },
  ])

  /// The version of an index file after all migrations of ``tables``.
  ///
  /// It also stands for the version of the JSON of items and details, which does not contain a version. If an older
  /// version of larder can ignore a new member of the JSON, no migration is needed. If an older version of larder would
  /// refuse or misread the JSON, for example because of a new kind of picture, a migration is needed even if no table
  /// changes.
  static let version = tables.version

  /// The tables of the first release, each with a comment about its purpose.
  ///
  /// Times are seconds since 1970. Digests are 63 bits of a SHA-256. Packed lists have 8 bytes for each number, in
  /// little-endian order.
  static let schema = """
    -- Single values: `folders` is when each picture folder last changed, as the last run left it;
    -- `lost` is when the index was made anew beside pictures that it did not know; `selection` is the
    -- digest of the fields that requests for pictures sent. Each may be gone, or anything: that costs a
    -- look into the folders or a question to the origin. Keys of a newer larder are left alone.
    CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

    -- A catalog by its name; several may share a cache.
    CREATE TABLE catalog(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, currency TEXT NOT NULL, source TEXT);

    -- A picture by its URL. sha256 is NULL while no bytes are held. The path is a function of the
    -- URL and so not kept. `expiry` is when the origin's word ends; `response` what it said.
    -- Rows stand in the order of their first commit and only the small index is in the order of
    -- the ids: a group of new pictures then touches a few pages of the table, not one each.
    CREATE TABLE picture(
      row INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, url TEXT NOT NULL,
      sha256 BLOB, content INTEGER, bytes INTEGER, type TEXT, inode INTEGER, modified INTEGER,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, fetched INTEGER, checked INTEGER,
      failure TEXT, failing_since INTEGER);

    -- A section's page or an item's detail by its URL: when to ask again, and what the last body
    -- was. `mapping` tells whether it was read as the catalog file now says.
    CREATE TABLE document(
      id INTEGER PRIMARY KEY, url TEXT NOT NULL, mapping INTEGER NOT NULL,
      response TEXT, expiry INTEGER NOT NULL DEFAULT 0, digest INTEGER, fetched INTEGER,
      next TEXT);

    -- What a section's page was decoded to, in order; one page may hold several sections.
    CREATE TABLE decoded(
      document INTEGER NOT NULL, position INTEGER NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, subtitle TEXT,
      listing INTEGER NOT NULL, skipped TEXT NOT NULL,
      PRIMARY KEY(document, position)) WITHOUT ROWID;

    -- One version of one item, written once and shared by every run that saw it.
    CREATE TABLE item(
      row INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, key TEXT NOT NULL, body BLOB NOT NULL, pictures BLOB NOT NULL);

    -- An ordered list of item versions, written once. `id` is the digest of `items`; `keys` are the
    -- items' ids, each ended by a zero byte, so that lists are compared without reading items.
    CREATE TABLE listing(
      id INTEGER PRIMARY KEY, items BLOB NOT NULL, keys BLOB NOT NULL, pictures BLOB NOT NULL);

    -- What is known beyond the listing of an item: held, missing (the origin has none) or failed.
    CREATE TABLE detail(
      catalog INTEGER NOT NULL, item TEXT NOT NULL, document INTEGER NOT NULL,
      state TEXT NOT NULL, body BLOB, pictures BLOB,
      PRIMARY KEY(catalog, item)) WITHOUT ROWID;

    -- A run; `finished` stays NULL when it was killed.
    CREATE TABLE run(
      id INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, started INTEGER NOT NULL,
      finished INTEGER, outcome TEXT, report BLOB);
    CREATE INDEX run_catalog ON run(catalog, id);

    -- A section as a finished run left it. `listing` is what is shown.
    CREATE TABLE run_section(
      run INTEGER NOT NULL, position INTEGER NOT NULL,
      key TEXT NOT NULL, title TEXT NOT NULL, subtitle TEXT,
      listing INTEGER, source TEXT NOT NULL,
      PRIMARY KEY(run, position)) WITHOUT ROWID;

    -- A picture whose bytes changed in a run.
    CREATE TABLE picture_change(
      run INTEGER NOT NULL, picture INTEGER NOT NULL, before BLOB NOT NULL, after BLOB NOT NULL,
      PRIMARY KEY(run, picture)) WITHOUT ROWID;
    """

  /// The tables for `larder gc`, which removes pictures that no catalog refers to.
  static let sweepSchema = """
    -- A picture that no catalog refers to, and since when.
    CREATE TABLE unreferenced(picture INTEGER PRIMARY KEY, since INTEGER NOT NULL);

    -- A picture that a sweep removed, and why.
    CREATE TABLE tombstone(
      row INTEGER PRIMARY KEY, url TEXT NOT NULL, removed INTEGER NOT NULL, reason TEXT NOT NULL);
    CREATE INDEX tombstone_removed ON tombstone(removed);
    """

  /// The column for the time since which the shop no longer has a detail.
  ///
  /// The row keeps the last version of the detail.
  static let goneSchema = "ALTER TABLE detail ADD COLUMN since INTEGER"

  /// The tables of the history, which has a row for each change of a value.
  ///
  /// The numbers of the fields are those of ``HistoryField``. The rows of an item are adjacent in the table. So the
  /// history of an item is one range of the table, and finding a price at a moment takes one search.
  static let historySchema = """
    -- A run in which something changed, and when it ended. The first of a catalog, in which its history begins, is always
    -- there. It outlives the row of `run`. Prices of this currency are numbers.
    CREATE TABLE history_run(
      run INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, time INTEGER NOT NULL, currency TEXT NOT NULL);
    CREATE INDEX history_run_time ON history_run(catalog, time);

    -- An item in the section that lists it, or listed it last, once something of it has changed. `changed` is the last run
    -- that changed something.
    CREATE TABLE history_item(
      row INTEGER PRIMARY KEY, catalog INTEGER NOT NULL, key TEXT NOT NULL, section TEXT NOT NULL,
      changed INTEGER NOT NULL, UNIQUE(catalog, key, section));

    -- The value that a field of an item has since a run. The first of a field is from before its first change.
    CREATE TABLE history(
      item INTEGER NOT NULL, field INTEGER NOT NULL, run INTEGER NOT NULL, value,
      PRIMARY KEY(item, field, run)) WITHOUT ROWID;
    """

  /// The tables for squares, which are square thumbnails of pictures.
  static let squareSchema = """
    -- A square of a picture, of one size: what it was made of, or why there is none.
    CREATE TABLE square(
      picture INTEGER NOT NULL, side INTEGER NOT NULL, path TEXT NOT NULL, source BLOB NOT NULL,
      sha256 BLOB, bytes INTEGER, inode INTEGER, modified INTEGER, failure TEXT,
      PRIMARY KEY(picture, side)) WITHOUT ROWID;
    """
}

/// Migrates index files of older versions of larder, in which the keys of documents, items, pictures and listings were
/// integers of 63 bits.
///
/// They get keys of 128 bits, and all references to them are updated. File names contained 47 bits of the old key.
/// While a file still has its old name, `picture.older` is its path; see ``Index/takeOver(_:on:)``.
extension Index {
  /// Gives every row a key of 128 bits.
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

  /// The tables that have keys of 128 bits, which are stored as 16 bytes.
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

/// Maps the old keys of 63 bits to the new keys of 128 bits.
private struct LongKeys {
  private var pictures: [Int64: IdentityDigest] = [:]
  private var items: [Int64: IdentityDigest] = [:]
  private var documents: [Int64: IdentityDigest] = [:]

  /// The new key for an old key if no row has the text from which the old key was made.
  private static func unexplained(_ number: Int64) -> IdentityDigest {
    IdentityDigest(high: UInt64(bitPattern: number), low: 0)
  }

  /// Copies the rows of pictures with their new keys, and records the old paths of their files.
  ///
  /// If two URLs had the same file name, both pictures are marked as missing, because it is not known which picture's
  /// bytes the file has.
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
      // Rows with the same file name are adjacent here, because the name contains the first 47 bits of the key.
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

  /// Copies the rows of items.
  ///
  /// Their new keys are the digests of their bodies.
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

  /// Converts a packed list of old picture keys to a packed list of new keys.
  ///
  /// A picture that was never requested has no row, but its URL is in the body of the item.
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
        let url = urls.text(0) ?? ""
        let id = PictureID(url: url)
        guard pictures[id.olderNumber] == nil else { continue }
        pictures[id.olderNumber] = id.digest
        try Index.name([PictureAddress(id: id, url: url, identity: url)], in: db)
      }
    }
    return IdentityDigest.pack(numbers.map { pictures[$0] ?? Self.unexplained($0) })
  }

  /// Copies the rows of listings.
  ///
  /// Their ids stay the same.
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

  /// Copies the rows of documents and of their decoded sections.
  ///
  /// The key of a document depends on its reader, which no row records. But nearly all readers can be derived from the
  /// names of catalogs and sections. If the reader of a document is not found, the document is requested again.
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

  /// Copies the rows of details.
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

  /// Copies the rows of the other tables that refer to pictures.
  func moveMarks(in db: Database) throws {
    // A picture has the same value of `row` in the old and in the new table.
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

extension Index {
  /// Renames the files of pictures and squares that have the names of an older version of larder.
  ///
  /// Nothing is fetched.
  ///
  /// The caller holds the cache's lock. The column `older` has the old path of a file, and is cleared after the new
  /// name is synced. After a crash at any point, the next opening of the index continues. Files that have their new
  /// names already are skipped.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - disk: The file system, which tests replace.
  /// - Throws: ``LarderError`` when a file cannot be renamed, or the index cannot be read or written.
  func takeOver(_ layout: CacheLayout, on disk: any Disk) throws(LarderError) {
    while true {
      let entries = try read { db in
        let rows = try RowReader(
          db,
          Self.select + " WHERE older IS NOT NULL ORDER BY older LIMIT \(Self.takenOverAtOnce)"
        )
        var entries: [PictureEntry] = []
        while try rows.next() { entries.append(PictureEntry(rows)) }
        return entries
      }
      guard !entries.isEmpty else { return }
      let squares = try squares(of: entries)
      if let remote = layout.remote {
        try remote.move(entries.map { ($0.name.path, $0.ownName.path) })
      } else {
        try rename(entries, in: layout, on: disk)
      }
      try rename(squares, in: layout, on: disk)
      try write { db in
        for (square, path) in squares {
          try db.execute(
            sql: "UPDATE square SET path = ? WHERE picture = ? AND side = ?",
            arguments: [path, square.picture, square.side]
          )
        }
        for entry in entries {
          try db.execute(
            sql: "UPDATE picture SET older = NULL WHERE id = ?",
            arguments: [entry.id]
          )
        }
      }
    }
  }

  /// The maximum number of files that are renamed before each transaction.
  private static let takenOverAtOnce = 4096

  private func rename(
    _ entries: [PictureEntry],
    in layout: CacheLayout,
    on disk: any Disk
  ) throws(LarderError) {
    var (left, filled): (Set<UInt8>, Set<UInt8>) = ([], [])
    for entry in entries {
      let (old, new) = (entry.name, entry.ownName)
      guard let source = try layout.existingFolder(old.folder), source.stamp(of: old.file) != nil
      else { continue }
      let folder = try layout.folder(new.folder)
      try disk.rename(old.file, in: source, to: new.file, in: folder)
      left.insert(old.folder)
      filled.insert(new.folder)
    }
    // Sync the folders with the new names first, so that a crash cannot lose both names of a file.
    for number in filled.sorted() { try disk.sync(layout.folder(number)) }
    try layout.syncFolderNames(on: disk)
    for number in left.subtracting(filled).sorted() { try disk.sync(layout.folder(number)) }
  }

  /// The squares of the given pictures, each with its new path.
  private func squares(
    of entries: [PictureEntry]
  ) throws(LarderError) -> [(square: SquareEntry, path: String)] {
    try read { db in
      let select = try db.cachedStatement(sql: "SELECT * FROM square WHERE picture = ?")
      return try entries.flatMap { entry in
        let name = entry.ownName
        let folder = PictureName.folderName(name.folder)
        return try SquareEntry.fetchAll(select, arguments: [entry.id]).map { square in
          let ending = square.path[PictureName.withoutEnding(square.path).endIndex...]
          return (square, "\(folder)/\(PictureName.withoutEnding(name.file))\(ending)")
        }
      }
    }
  }

  private func rename(
    _ squares: [(square: SquareEntry, path: String)],
    in layout: CacheLayout,
    on disk: any Disk
  ) throws(LarderError) {
    var folders: [String: Folder] = [:]
    func folder(_ path: String) throws(LarderError) -> Folder {
      if let folder = folders[path] { return folder }
      let folder = try Folder(path: layout.path(path), creating: true)
      folders[path] = folder
      return folder
    }
    for (square, path) in squares where layout.kind(of: square.name) == S_IFREG {
      let side = "squares/\(square.side)"
      try disk.rename(
        String(square.path.dropFirst(3)),
        in: folder("\(side)/\(square.path.prefix(2))"),
        to: String(path.dropFirst(3)),
        in: folder("\(side)/\(path.prefix(2))")
      )
    }
    for path in folders.keys.sorted() {
      if let folder = folders[path] { try disk.sync(folder) }
    }
    for side in Set(squares.map(\.square.side)).sorted() where !folders.isEmpty {
      try disk.sync(folder("squares/\(side)"))
    }
  }
}
