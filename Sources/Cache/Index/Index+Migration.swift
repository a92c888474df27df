import Base
import FoundationEssentials
import GRDB
import Glibc
import SQLite

/// Migrates index files of larder 0.2.0.
///
/// There, the keys of documents, items, pictures and listings were integers of 63 bits, and a list of them was packed
/// into one value. File names contained 47 bits of the old key. While a file still has its old name, `picture.older` is
/// its path; see ``Index/takeOver(_:on:)``.
extension Index {
  /// Moves the rows into the present tables, except those of squares, which are made again.
  ///
  /// Rows of pictures and items keep their numbers, and listings their ids.
  static func migrate(_ db: Database) throws {
    let moved = [
      "picture", "document", "decoded", "item", "listing", "detail", "picture_change",
      "unreferenced", "square",
    ]
    let functions = try migrationFunctions(in: db)
    for function in functions { db.add(function: function) }
    defer { for function in functions { db.remove(function: function) } }
    for table in moved { try db.execute(sql: "ALTER TABLE \(table) RENAME TO old_\(table)") }
    try db.execute(sql: schema)
    try db.execute(sql: movedPictures)
    try forgetShared(in: db)
    try db.execute(sql: movedRows)
    try moveListings(in: db)
    try db.execute(sql: movedDocuments)
    for table in moved { try db.execute(sql: "DROP TABLE old_\(table)") }
    try db.execute(sql: viewSchema)
    // The list of migrations starts at this version.
    try db.execute(sql: "DELETE FROM grdb_migrations")
  }

  /// The SQL functions that the statements of the migration call.
  private static func migrationFunctions(in db: Database) throws -> [DatabaseFunction] {
    func function(
      _ name: String,
      _ count: Int = 1,
      _ value: @escaping @Sendable ([DatabaseValue]) -> (any DatabaseValueConvertible)?
    ) -> DatabaseFunction {
      DatabaseFunction(name, argumentCount: count, pure: true, function: value)
    }
    // The key of a document depends on its reader, which no row records. But nearly all readers can be derived from the
    // names of catalogs and sections. If the reader of a document is not found, the document is requested again.
    var readers = [""]
    let keys = try db.all("SELECT key FROM run_section UNION SELECT key FROM decoded") {
      $0.text(0) ?? ""
    }
    for name in try db.all("SELECT name FROM catalog", make: { $0.text(0) ?? "" }) {
      readers += ["\(name)\tdetails", "\(name)\tsections"]
      readers += keys.map { "\(name)\tsection\t\($0)" }
    }
    return [
      // The key of a text or of bytes, and the older key of the same text.
      function("identity") {
        IdentityDigest(of: [UInt8](Data.fromDatabaseValue($0[0]) ?? Data()))
      },
      function("older_key") { IdentityDigest.fromDatabaseValue($0[0])?.olderNumber },
      function("older_path") {
        String.fromDatabaseValue($0[0]).map { PictureName(older: $0).path }
      },
      // A packed list of numbers, 8 bytes each in little-endian order, as a JSON array.
      function("unpacked") { values in
        let bytes = Data.fromDatabaseValue(values[0]) ?? Data()
        let numbers = bytes.withUnsafeBytes { raw in
          (0..<raw.count / 8).map {
            Int64(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self))
          }
        }
        return "\(numbers)"
      },
      function("document_key", 2) { [readers] values in
        let url = String.fromDatabaseValue(values[0]) ?? ""
        let number = Int64.fromDatabaseValue(values[1]) ?? 0
        return readers.lazy.map { DocumentID(url: url, reader: $0).digest }
          .first { $0.olderNumber == number }
          ?? IdentityDigest(high: UInt64(bitPattern: number), low: 0)
      },
    ]
  }

  /// Moves the rows of pictures, with the old paths of their files.
  private static let movedPictures = {
    let new = ["id", "older", "identity"]
    let columns = (pictureColumns.filter { !new.contains($0) } + ["content"])
      .joined(separator: ", ")
    return """
      INSERT OR REPLACE INTO picture(row, id, older, \(columns))
      SELECT row, identity(url), CASE WHEN sha256 IS NOT NULL THEN older_path(url) END, \(columns) FROM old_picture;
      """
  }()

  /// If two URLs had the same file name, marks both pictures as missing, because it is not known which picture's bytes
  /// the file has.
  private static func forgetShared(in db: Database) throws {
    let shared = """
      SELECT id FROM picture WHERE older IN \
      (SELECT older FROM picture WHERE older IS NOT NULL GROUP BY older HAVING count(*) > 1)
      """
    for id in try db.all(shared, make: { PictureID($0.key(0)) }) { try forget(id, in: db) }
  }

  /// Moves the rows that refer to pictures, and the rows of items, and unpacks the digest that `meta` has.
  ///
  /// A picture that was never requested has no row yet, but its URL is in the body that shows it. If a listing repeats
  /// an item, the first one stays. If an item is missing, its place gets a number that no item has.
  private static let movedRows = """
    UPDATE meta SET value = json_extract(unpacked(value), '$[0]')
    WHERE key = 'selection' AND typeof(value) = 'blob' AND length(value) >= 8;
    CREATE TEMP TABLE known(number INTEGER PRIMARY KEY, row INTEGER NOT NULL);
    INSERT INTO known SELECT o.id, o.row FROM old_picture o JOIN picture USING (row);
    INSERT INTO picture_change(run, picture, before, after)
    SELECT o.run, p.id, o.before, o.after FROM old_picture_change o JOIN known ON number = o.picture
    JOIN picture p USING (row);
    INSERT INTO unreferenced(picture, since)
    SELECT p.id, o.since FROM old_unreferenced o JOIN known ON number = o.picture JOIN picture p USING (row);

    INSERT OR IGNORE INTO picture(id, url) SELECT identity(url), url FROM (
      SELECT DISTINCT CASE WHEN image.type = 'object' THEN json_extract(image.value, '$.url') END AS url
      FROM (SELECT CAST(body AS TEXT) AS body FROM old_item UNION ALL SELECT CAST(body AS TEXT) FROM old_detail) AS shown
      CROSS JOIN json_each(CASE WHEN json_valid(shown.body) THEN shown.body END, '$.images') AS image)
    WHERE url IS NOT NULL AND older_key(identity(url)) NOT IN (SELECT number FROM known);
    INSERT OR IGNORE INTO known SELECT older_key(id), row FROM picture WHERE row NOT IN (SELECT row FROM known);

    INSERT OR IGNORE INTO item(row, key, digest, body)
    SELECT row, key, identity(body), body FROM old_item ORDER BY row;
    INSERT INTO item_picture(item, place, picture)
    SELECT item.row, row_number() OVER (PARTITION BY item.row ORDER BY shown.key) - 1, known.row
    FROM item JOIN old_item o ON o.row = item.row CROSS JOIN json_each(unpacked(o.pictures)) AS shown
    JOIN known ON number = shown.value;

    INSERT INTO listing_item(listing, place, item)
    SELECT listing, row_number() OVER (PARTITION BY listing ORDER BY first) - 1, item FROM (
      SELECT o.id AS listing, min(place.key) AS first, coalesce(i.row, -1 - place.key) AS item
      FROM old_listing o CROSS JOIN json_each(unpacked(o.items)) AS place LEFT JOIN old_item i ON i.id = place.value
      GROUP BY o.id, coalesce(i.row, -1 - place.key));
    """

  /// Writes the rows of the listings, with the digests of their items.
  private static func moveListings(in db: Database) throws {
    let items = try RowStatement(db, ListingQuery.places.rawValue)
    for id in try db.all("SELECT id FROM old_listing", make: { $0.number(0) }) {
      var (digest, count) = (RunningDigest(), 0)
      try items.forEach(id) {
        digest.add(ItemVersion(rawValue: $0.number(1)))
        count += 1
      }
      let listing = "INSERT OR IGNORE INTO listing(id, digest, items) VALUES (?,?,?)"
      guard try db.run(listing, id, digest.identity, count) == 0 else { continue }
      // Without the repeats, the listing equals another one, which takes its place.
      for table in ["run_section", "old_decoded"] {
        let known = "(SELECT id FROM listing WHERE digest = ?2)"
        try db.run(
          "UPDATE \(table) SET listing = \(known) WHERE listing = ?1",
          id,
          digest.identity
        )
      }
      try db.run(ListingQuery.dropPlaces.rawValue, id)
    }
  }

  /// Moves the rows of documents, of their decoded sections, and of details.
  ///
  /// Larder 0.2.0 wrote the notes about a section without members that have no value, and unreadable items alone as an
  /// array.
  private static let movedDocuments = """
    ALTER TABLE old_document ADD COLUMN key BLOB;
    UPDATE old_document SET key = document_key(url, id);
    INSERT OR IGNORE INTO document(id, url, mapping, response, expiry, digest, fetched, next)
    SELECT key, url, mapping, response, expiry, digest, fetched, next FROM old_document;
    INSERT OR IGNORE INTO decoded(document, position, key, title, subtitle, listing, skipped)
    SELECT o.key, d.position, d.key, d.title, d.subtitle, d.listing, CASE WHEN json_valid(d.skipped) THEN json_patch(
      '{"absent":[],"isGivenUp":false,"omitted":{"items":0,"reasons":{}},"skipped":[]}',
      CASE json_type(d.skipped) WHEN 'array' THEN json_object('skipped', json(d.skipped)) ELSE d.skipped END) ELSE '' END
    FROM old_decoded d JOIN old_document o ON o.id = d.document;
    INSERT INTO detail(catalog, item, document, state, body, since)
    SELECT d.catalog, d.item, coalesce(o.key, zeroblob(16)), d.state, d.body, d.since
    FROM old_detail d LEFT JOIN old_document o ON o.id = d.document;
    INSERT INTO detail_picture(detail, place, picture)
    SELECT d.row, row_number() OVER (PARTITION BY d.row ORDER BY shown.key) - 1, known.row
    FROM old_detail o JOIN detail d ON d.catalog = o.catalog AND d.item = o.item
    CROSS JOIN json_each(unpacked(o.pictures)) AS shown JOIN known ON number = shown.value;
    DROP TABLE temp.known;
    """
}

extension Index {
  /// Renames the files of pictures that have the names of an older version of larder, and removes the squares.
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
      let older = " WHERE older IS NOT NULL ORDER BY older LIMIT \(Self.takenOverAtOnce)"
      let entries = try rows(Self.select + older) { PictureEntry($0) }
      guard !entries.isEmpty else { return }
      // The migration has left out their rows.
      try layout.remove("squares")
      try rename(entries, in: layout, on: disk)
      try write { db in
        for entry in entries {
          try db.run("UPDATE picture SET older = NULL WHERE id = ?", entry.id)
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
}
