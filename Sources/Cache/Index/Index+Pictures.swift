import Base
import FoundationEssentials
import GRDB
import Transport

/// The row of one picture in the index.
///
/// A picture is held while the cache has its bytes.
package struct PictureEntry: Sendable, Equatable {
  /// The key of ``identity``.
  package var id: PictureID
  /// The newest URL, as in the request.
  package var url: String
  /// The identity as text: the URL, or the part of it that the catalog file's rule keeps.
  package var identity: String
  /// The SHA-256 of the held bytes, 32 bytes, or nil while none are held.
  package var sha256: [UInt8]?
  /// The size of the held bytes.
  package var bytes: ByteCount = 0
  /// The type of the held bytes.
  package var type: PictureType?
  /// The `stat` of the file when it was committed.
  package var stamp: FileStamp?
  /// The response headers of the held bytes, in the text form of the transport.
  package var response: String?
  /// The time at which the response expires.
  package var expiry = UnixTime(0)
  /// The time at which the bytes were fetched.
  package var fetched: UnixTime?
  /// The time of the origin's last answer for this picture.
  package var checked: UnixTime?
  /// The reason why the last attempt failed; nil if it succeeded.
  package var failure: String?
  /// The time since which every attempt has failed.
  package var failingSince: UnixTime?

  /// The origin's Last-Modified, which becomes the file's date, so that it survives the loss of the index.
  ///
  /// It is not stored in the row, so it is nil in an entry that was read from the index.
  package var lastModified: UnixTime?

  /// The path that an older larder gave the file, until the file is renamed; see ``Index/takeOver(_:on:)``.
  var older: String?

  /// Makes an entry that holds no bytes.
  package init(id: PictureID, url: String, identity: String? = nil) {
    self.id = id
    self.url = url
    self.identity = identity ?? url
  }

  /// Whether bytes are held.
  package var isHeld: Bool { sha256 != nil }
  /// The file's name in the cache by the present rule.
  var ownName: PictureName { PictureName(url: identity, id: id) }
  /// The file's present name in the cache, which may be an older larder's.
  package var name: PictureName {
    older.flatMap { PictureName(path: $0) } ?? ownName
  }
}

/// The part of a picture's row that a run holds in memory: 32 bytes for each picture.
package struct PictureState: Sendable, Equatable {
  /// The time at which the stored response expires, or at which a failed picture's back-off ends.
  package var expiry: UnixTime
  /// The time of the origin's last answer.
  package var checked: UnixTime
  /// The first 63 bits of the SHA-256 of the held bytes; 0 while none are held.
  package var content: Int64
  /// Whether bytes are held.
  package var isHeld: Bool { content != 0 }

  /// Makes a state from its parts.
  package init(expiry: UnixTime, checked: UnixTime, content: Int64) {
    self.expiry = expiry
    self.checked = checked
    self.content = content
  }

  /// The reason why no request is due: the held bytes are fresh, or a failed picture is in its back-off.
  ///
  /// Nil when a request is due; the rest of the row decides which kind of request to send.
  ///
  /// A check in the future was made before the clock was set back. It is ignored, because the picture might otherwise
  /// stay fresh for years.
  package func freshness(at now: UnixTime) -> Freshness? {
    guard FreshnessPolicy.window(answered: checked, expiry: expiry).contains(now) else {
      return nil
    }
    return isHeld ? .fresh(until: expiry) : .rest(until: expiry)
  }
}

extension Index {
  /// The entries of these pictures; pictures without a row are left out.
  package func pictures(_ ids: [PictureID]) throws(LarderError) -> [PictureID: PictureEntry] {
    try rows(of: ids, Self.select + " WHERE id = ?") { PictureEntry($0) }
  }

  /// The URLs of these pictures; pictures without a row are left out.
  package func pictureURLs(_ ids: [PictureID]) throws(LarderError) -> [PictureID: String] {
    try rows(of: ids, "SELECT url FROM picture WHERE id = ?") { $0.text(0) }
  }

  /// The result of `value` for each of these pictures that has a row.
  func rows<Value>(
    of ids: [PictureID],
    _ sql: String,
    _ value: (borrowing RowReader) -> Value?
  ) throws(LarderError) -> [PictureID: Value] {
    var values = [PictureID: Value](minimumCapacity: ids.count)
    try forEachRow(of: ids, sql) { values[$0] = value($1) }
    return values
  }

  /// Calls `body` with the entry of each of these pictures that has a row, one at a time.
  package func forEachPicture(
    of ids: [PictureID],
    _ body: (PictureEntry) throws -> Void
  ) throws(LarderError) {
    try forEachRow(of: ids, Self.select + " WHERE id = ?") { try body(PictureEntry($1)) }
  }

  /// Calls `body` with the row that `sql` finds for each of these pictures, if there is one.
  private func forEachRow(
    of ids: [PictureID],
    _ sql: String,
    _ body: (PictureID, borrowing RowReader) throws -> Void
  ) throws(LarderError) {
    try read { db in
      let row = try RowReader(db, sql)
      for id in ids {
        row.restart(id.digest)
        if try row.next() { try body(id, row) }
      }
    }
  }

  /// Calls `body` with every entry, one at a time, in the order of ids.
  package func forEachPicture(_ body: (PictureEntry) throws -> Void) throws(LarderError) {
    try read { db in
      let rows = try RowReader(db, Self.select + " ORDER BY id")
      while try rows.next() { try body(PictureEntry(rows)) }
    }
  }

  /// Saves the newest URLs of pictures whose identity is not their URL, in one transaction.
  ///
  /// A caller that knows only the identity finds the URL to request in the row.
  package func note(
    newest: [(id: PictureID, url: String, identity: String)]
  ) throws(LarderError) {
    guard !newest.isEmpty else { return }
    try write { db in
      var row = try RowWriter(
        db,
        """
        INSERT INTO picture(id, url, identity) VALUES (?,?,?) \
        ON CONFLICT(id) DO UPDATE SET url = excluded.url WHERE url <> excluded.url
        """
      )
      for picture in newest {
        row.bind(1, picture.id.digest)
        row.bind(2, picture.url)
        row.bind(3, picture.identity)
        try row.run()
      }
    }
  }

  /// Writes rows, in one transaction.
  func save(_ entries: [PictureEntry]) throws(LarderError) {
    try write { db in
      var writer = try PictureRowWriter(db)
      for entry in entries { try writer.save(entry) }
    }
  }

  /// Calls `body` with the entry of each picture of a folder below `images/`, one at a time.
  func forEachPicture(
    inFolder folder: UInt8,
    _ body: (PictureEntry) throws -> Void
  ) throws(LarderError) {
    try read { db in
      let ids = PictureID.all(inFolder: folder)
      let rows = try RowReader(db, Self.select + " WHERE id BETWEEN ?1 AND ?2 ORDER BY id")
      rows.restart(ids.lowerBound.digest, ids.upperBound.digest)
      while try rows.next() { try body(PictureEntry(rows)) }
    }
  }

  /// The ids of all held pictures, sorted.
  func heldPictures() throws(LarderError) -> [PictureID] {
    try read { db in
      let rows = try RowReader(db, "SELECT id FROM picture WHERE sha256 IS NOT NULL ORDER BY id")
      var ids: [PictureID] = []
      while try rows.next() { ids.append(PictureID(rows.key(0))) }
      return ids
    }
  }

  /// The held picture at each of these paths in the cache; with `anyEnding`, the extension is ignored.
  func heldPictures(
    at paths: some Sequence<String>,
    anyEnding: Bool = false
  ) throws(LarderError) -> [String: PictureID] {
    try read { db in
      let select = Self.selectName + " WHERE sha256 IS NOT NULL AND "
      let rows = try RowReader(db, select + "id = ?")
      // Finds all paths that begin with the given path, without its extension, and a dot: `/` is the character after
      // `.`.
      let older = try RowReader(db, select + "older >= ?1 || '.' AND older < ?1 || '/'")
      var ids: [String: PictureID] = [:]
      for path in paths {
        func add(_ row: borrowing RowReader) {
          let id = PictureID(row.key(0))
          // A renamed file may still have the older path in its row.
          let own = [row.text(2), PictureName(url: row.text(1) ?? "", id: id).path]
          let isIt = own.compactMap(\.self).contains {
            anyEnding
              ? PictureName.withoutEnding($0) == PictureName.withoutEnding(path) : $0 == path
          }
          if isIt { ids[path] = id }
        }
        if let id = PictureName.id(at: path) {
          rows.restart(id.digest)
          if try rows.next() { add(rows) }
        } else {
          older.restart(String(PictureName.withoutEnding(path)))
          while try older.next() { add(older) }
        }
      }
      return ids
    }
  }

  /// Calls `body` with the name of each held picture's file in a folder below `images/`.
  func forEachHeldFile(
    inFolder folder: UInt8,
    _ body: (String) throws -> Void
  ) throws(LarderError) {
    try read { db in
      let select = Self.selectName + " WHERE sha256 IS NOT NULL AND "
      let rows = try RowReader(db, select + "id BETWEEN ?1 AND ?2")
      let ids = PictureID.all(inFolder: folder)
      rows.restart(ids.lowerBound.digest, ids.upperBound.digest)
      while try rows.next() {
        try body(PictureName(url: rows.text(1) ?? "", id: PictureID(rows.key(0))).file)
      }
      let older = try RowReader(db, select + "older >= ?1 || '/' AND older < ?1 || '0'")
      older.restart("images/\(PictureName.folderName(folder))")
      while try older.next() {
        if let name = older.text(2).flatMap({ PictureName(path: $0) }) { try body(name.file) }
      }
    }
  }

  /// Selects the key, identity and older path of pictures.
  private static let selectName = "SELECT id, coalesce(identity, url), older FROM picture"

  /// The columns that ``PictureEntry/init(_:)`` reads, in this order.
  static let pictureColumns = [
    "id", "url", "sha256", "bytes", "type", "inode", "modified", "response", "expiry", "fetched",
    "checked", "failure", "failing_since", "older", "identity",
  ]

  static let select = "SELECT \(pictureColumns.joined(separator: ", ")) FROM picture"

  /// Records that a picture's bytes changed in a run, in the caller's transaction.
  static func note(
    _ id: PictureID,
    before: [UInt8],
    after: [UInt8],
    run: RunID,
    in db: Database
  ) throws {
    try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO picture_change(run, picture, before, after) VALUES (?,?,?,?)"
    ).execute(arguments: [run, id, before.databaseValue, after.databaseValue])
  }

  /// Updates rows to match the files, in one transaction.
  ///
  /// - Parameters:
  ///   - entries: The rows to write.
  ///   - ids: The pictures that are no longer held.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func renew(
    _ entries: [PictureEntry],
    forgetting ids: [PictureID]
  ) throws(LarderError) {
    guard !entries.isEmpty || !ids.isEmpty else { return }
    try write { db in
      var writer = try PictureRowWriter(db)
      for entry in entries { try writer.save(entry) }
      for id in ids { try Self.forget(id, in: db) }
    }
  }

  /// Marks a picture as not held, but keeps its row.
  static func forget(_ id: PictureID, in db: Database) throws {
    try db.execute(
      sql: """
        UPDATE picture SET sha256 = NULL, content = NULL, bytes = NULL, type = NULL, \
        inode = NULL, modified = NULL, response = NULL, expiry = 0, older = NULL WHERE id = ?
        """,
      arguments: [id]
    )
  }
}

/// Writes complete rows of pictures, in the caller's transaction.
struct PictureRowWriter: ~Copyable {
  private var row: RowWriter

  init(_ db: Database) throws {
    row = try RowWriter(db, Self.upsert)
  }

  mutating func save(_ entry: PictureEntry) throws {
    row.bind(1, entry.id.digest)
    row.bind(2, entry.url)
    row.bind(3, entry.sha256)
    row.bind(4, entry.sha256.map { ContentDigest.prefix($0) })
    row.bind(5, entry.bytes)
    row.bind(6, entry.type?.mediaType)
    row.bind(7, entry.stamp?.inode)
    row.bind(8, entry.stamp?.modified)
    row.bind(9, entry.response)
    row.bind(10, entry.expiry)
    row.bind(11, entry.fetched)
    row.bind(12, entry.checked)
    row.bind(13, entry.failure)
    row.bind(14, entry.failingSince)
    row.bind(15, entry.older)
    row.bind(16, entry.identity == entry.url ? nil : entry.identity)
    try row.run()
  }

  /// Saves a row, and records a change if other bytes were held before.
  mutating func save(
    _ entry: PictureEntry,
    before: [UInt8]?,
    run: RunID,
    in db: Database
  ) throws {
    try save(entry)
    guard let before, let after = entry.sha256, before != after else { return }
    try Index.note(entry.id, before: before, after: after, run: run, in: db)
  }

  private static let upsert = """
    INSERT INTO picture(id, url, sha256, content, bytes, type, inode, modified, response, expiry, \
    fetched, checked, failure, failing_since, older, identity) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) \
    ON CONFLICT(id) DO UPDATE SET url = excluded.url, sha256 = excluded.sha256, \
    content = excluded.content, bytes = excluded.bytes, type = excluded.type, \
    inode = excluded.inode, modified = excluded.modified, response = excluded.response, \
    expiry = excluded.expiry, fetched = excluded.fetched, checked = excluded.checked, \
    failure = excluded.failure, failing_since = excluded.failing_since, \
    older = excluded.older, identity = excluded.identity
    """
}

extension PictureEntry {
  /// Reads the present row of a query of ``Index/select``.
  init(_ row: borrowing RowReader) {
    self.init(id: PictureID(row.key(0)), url: row.text(1) ?? "")
    sha256 = row.bytes(2)
    bytes = row.byteCount(3)
    type = row.text(4).flatMap({ PictureType(mediaType: $0) })
    if let inode = row.optionalNumber(5), let modified = row.optionalTime(6) {
      stamp = FileStamp(inode: inode, bytes: bytes, modified: modified)
    }
    response = row.text(7)
    expiry = row.time(8)
    fetched = row.optionalTime(9)
    checked = row.optionalTime(10)
    failure = row.text(11)
    failingSince = row.optionalTime(12)
    older = row.text(13)
    identity = row.text(14) ?? url
  }
}

extension Index {
  /// Records the digest of the header fields that requests for pictures send from now on.
  ///
  /// When the digest has changed, for example after an update of larder, every picture whose response has `Vary`
  /// expires at once. When a run then checks such a picture, its row shows whether the new fields select the stored
  /// response. So runs need not read the stored headers of fresh pictures. (RFC 9111, section 4.1)
  package func noteVary(_ digest: Int64) throws(LarderError) {
    let known = try read { db in
      let noted: Data? = try db.singleValue("selection")
      return noted.flatMap { PackedNumbers.unpack($0).first }
    }
    guard known != digest else { return }
    try write { db in
      try db.execute(
        sql: """
          UPDATE picture SET expiry = 0 \
          WHERE sha256 IS NOT NULL AND instr(response, ' selected=') > 0
          """
      )
      try db.setSingleValue("selection", Data(PackedNumbers.pack([digest])))
    }
  }
}
