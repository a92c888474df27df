import Base
import GRDB
import Glibc
import SQLite

/// Migrates index files of larder 0.2.0.
///
/// There, the keys of documents, items, pictures and listings were integers of 63 bits, and a list of them was packed
/// into one value. File names contained 47 bits of the old key. While a file still has its old name, `picture.older` is
/// its path; see ``Index/takeOver(_:on:)``.
extension Index {
  /// Moves the rows into the present tables.
  ///
  /// Rows of pictures and items keep their numbers, and listings their ids.
  static func migrate(_ db: Database) throws {
    let moved = [
      "picture", "document", "decoded", "item", "listing", "detail", "picture_change",
      "unreferenced", "square",
    ]
    for table in moved { try db.execute(sql: "ALTER TABLE \(table) RENAME TO old_\(table)") }
    try db.execute(sql: schema)
    try movePictures(in: db)
    try moveItems(in: db)
    try moveListings(in: db)
    try moveDocuments(in: db)
    try moveDetails(in: db)
    for table in moved { try db.execute(sql: "DROP TABLE old_\(table)") }
    try db.execute(sql: viewSchema)
    // The list of migrations starts at this version.
    try db.execute(sql: "DELETE FROM grdb_migrations")
  }

  /// Moves the rows of pictures, with the old paths of their files, and the rows that refer to them.
  ///
  /// If two URLs had the same file name, both pictures are marked as missing, because it is not known which picture's
  /// bytes the file has.
  private static func movePictures(in db: Database) throws {
    let new = ["id", "older", "identity"]
    let columns = (pictureColumns.filter { !new.contains($0) } + ["content"])
      .joined(separator: ", ")
    let rows = try RowStatement(db, "SELECT row, url, sha256 IS NOT NULL FROM old_picture")
    let write = try RowStatement(
      db,
      """
      INSERT OR REPLACE INTO picture(row, id, older, \(columns)) \
      SELECT row, ?1, ?2, \(columns) FROM old_picture WHERE row = ?3
      """
    )
    while try rows.next() {
      let url = rows.text(1) ?? ""
      try write.run(
        PictureID(url: url).digest,
        rows.number(2) != 0 ? PictureName(older: url).path : nil,
        rows.number(0)
      )
    }
    let shared = """
      SELECT id FROM picture WHERE older IN \
      (SELECT older FROM picture WHERE older IS NOT NULL GROUP BY older HAVING count(*) > 1)
      """
    for id in try PictureID.fetchAll(db, sql: shared) { try forget(id, in: db) }
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

  /// Moves the rows of items.
  private static func moveItems(in db: Database) throws {
    let rows = try RowStatement(db, "SELECT row, key, body, pictures FROM old_item ORDER BY row")
    let write = try RowStatement(
      db,
      "INSERT OR IGNORE INTO item(row, key, digest, body) VALUES (?,?,?,?)"
    )
    let shown = try RowStatement(db, ListingQuery.newPicture.rawValue)
    while try rows.next() {
      let (row, body) = (rows.number(0), rows.bytes(2) ?? [])
      try write.run(row, rows.text(1) ?? "", IdentityDigest(of: body), body)
      guard db.changesCount > 0 else { continue }
      try movePictures(rows.bytes(3), of: body, to: row, shown, in: db)
    }
  }

  /// Writes a row for each picture of an item or detail.
  ///
  /// A picture that was never requested has no row yet, but its URL is in the body that shows it.
  private static func movePictures(
    _ packed: [UInt8]?,
    of body: [UInt8],
    to owner: Int64,
    _ writer: borrowing RowStatement,
    in db: Database
  ) throws {
    let known = try RowStatement(
      db,
      "SELECT row FROM old_picture JOIN picture USING (row) WHERE old_picture.id = ?1"
    )
    var named: [Int64: Int64]?
    var place = Int64(0)
    for number in PackedNumbers.unpack(packed ?? []) {
      known.restart(number)
      var row = try known.next() ? known.number(0) : nil
      if row == nil {
        if named == nil { named = try pictures(namedBy: body, in: db) }
        row = named?[number]
      }
      guard let row else { continue }
      try writer.run(owner, place, row)
      place += 1
    }
  }

  /// Gives a row to each picture whose URL is in a body, and returns the rows by the old keys of the pictures.
  private static func pictures(namedBy body: [UInt8], in db: Database) throws -> [Int64: Int64] {
    let urls = try RowStatement(
      db,
      "SELECT json_extract(value, '$.url') FROM json_each(CASE WHEN json_valid(?1) THEN ?1 END, '$.images')"
    )
    let pictures = try urls.all(String(decoding: body, as: UTF8.self)) { row in
      let url = row.text(0) ?? ""
      return PictureAddress(id: PictureID(url: url), url: url, identity: url)
    }
    let rows = try name(pictures, in: db).map { ($0.olderNumber, $1) }
    return Dictionary(rows) { first, _ in first }
  }

  /// Moves the listings.
  ///
  /// If a listing repeats an item, the first one stays. If an item is missing, its place gets a number that no item has.
  private static func moveListings(in db: Database) throws {
    let rows = try RowStatement(db, "SELECT id, items FROM old_listing")
    let place = try RowStatement(
      db,
      """
      INSERT OR IGNORE INTO listing_item(listing, place, item) \
      VALUES (?1, ?2, coalesce((SELECT row FROM old_item WHERE id = ?3), -1 - ?2))
      """
    )
    let items = try RowStatement(
      db,
      "SELECT item FROM listing_item WHERE listing = ?1 ORDER BY place"
    )
    let listing = try RowStatement(
      db,
      "INSERT OR IGNORE INTO listing(id, digest, items) VALUES (?,?,?)"
    )
    while try rows.next() {
      var (digest, count) = (RunningDigest(), Int64(0))
      for number in PackedNumbers.unpack(rows.bytes(1) ?? []) {
        try place.run(rows.number(0), count, number)
        count += Int64(db.changesCount)
      }
      items.restart(rows.number(0))
      while try items.next() { digest.add(ItemVersion(rawValue: items.number(0))) }
      try listing.run(rows.number(0), digest.identity, count)
      guard db.changesCount == 0 else { continue }
      // Without the repeats, the listing equals another one, which takes its place.
      let known = try ListingID.fetchOne(
        db,
        sql: "SELECT id FROM listing WHERE digest = ?",
        arguments: [digest.identity]
      )
      for table in ["run_section", "old_decoded"] {
        try db.execute(
          sql: "UPDATE \(table) SET listing = ? WHERE listing = ?",
          arguments: [known, rows.number(0)]
        )
      }
      try db.execute(sql: ListingQuery.dropPlaces.rawValue, arguments: [rows.number(0)])
    }
  }

  /// Moves the rows of documents and of their decoded sections.
  ///
  /// The key of a document depends on its reader, which no row records. But nearly all readers can be derived from the
  /// names of catalogs and sections. If the reader of a document is not found, the document is requested again.
  private static func moveDocuments(in db: Database) throws {
    try db.execute(sql: "ALTER TABLE old_document ADD COLUMN key BLOB")
    var readers = [""]
    for name in try String.fetchAll(db, sql: "SELECT name FROM catalog") {
      readers += ["\(name)\tdetails", "\(name)\tsections"]
      readers += try String.fetchAll(
        db,
        sql: "SELECT key FROM run_section UNION SELECT key FROM old_decoded"
      ).map { "\(name)\tsection\t\($0)" }
    }
    let rows = try RowStatement(db, "SELECT id, url FROM old_document")
    let write = try RowStatement(db, "UPDATE old_document SET key = ? WHERE id = ?")
    while try rows.next() {
      let (number, url) = (rows.number(0), rows.text(1) ?? "")
      let key = readers.lazy.map { DocumentID(url: url, reader: $0).digest }
        .first { $0.olderNumber == number }
      try write.run(key ?? IdentityDigest(high: UInt64(bitPattern: number), low: 0), number)
    }
    try db.execute(
      sql: """
        INSERT OR IGNORE INTO document(id, url, mapping, response, expiry, digest, fetched, next)
        SELECT key, url, mapping, response, expiry, digest, fetched, next FROM old_document;
        INSERT OR IGNORE INTO decoded(document, position, key, title, subtitle, listing, skipped)
        SELECT o.key, d.position, d.key, d.title, d.subtitle, d.listing, d.skipped
        FROM old_decoded d JOIN old_document o ON o.id = d.document;
        """
    )
  }

  /// Moves the rows of details.
  private static func moveDetails(in db: Database) throws {
    let rows = try RowStatement(
      db,
      """
      SELECT d.catalog, d.item, o.key, d.state, d.body, d.pictures, d.since \
      FROM old_detail d LEFT JOIN old_document o ON o.id = d.document
      """
    )
    let write = try RowStatement(
      db,
      "INSERT INTO detail(catalog, item, document, state, body, since) VALUES (?,?,?,?,?,?)"
    )
    let shown = try RowStatement(db, ListingQuery.newDetailPicture.rawValue)
    while try rows.next() {
      let body = rows.bytes(4)
      try write.run(
        rows.number(0),
        rows.text(1) ?? "",
        rows.key(2),
        rows.text(3) ?? "",
        body,
        rows.optionalNumber(6)
      )
      try movePictures(rows.bytes(5), of: body ?? [], to: db.lastInsertedRowID, shown, in: db)
    }
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
        try RowStatement(
          db,
          Self.select + " WHERE older IS NOT NULL ORDER BY older LIMIT \(Self.takenOverAtOnce)"
        ).all { PictureEntry($0) }
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
      let select = try RowStatement(db, SquareEntry.select + "picture = ?")
      return try entries.flatMap { entry in
        let name = entry.ownName
        let folder = PictureName.folderName(name.folder)
        return try select.all(entry.id.digest) { row in
          let square = SquareEntry(row)
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
