import Base
import GRDB
import Transport

/// The row of one picture in the index.
///
/// A picture is called held while the cache has its bytes. A row can also describe a picture that is not held, for
/// example because its request failed.
package struct PictureEntry: Sendable, Equatable {
  /// The key of the picture, which is the digest of ``identity``.
  package var id: PictureID
  /// The newest URL of the picture, which is the URL to request.
  package var url: String
  /// The text that identifies the picture: its URL, or the part of the URL that the rule in the catalog file keeps.
  package var identity: String
  /// The SHA-256 of the picture's bytes; nil if the picture is not held.
  package var sha256: [UInt8]?
  /// The size of the picture in bytes; 0 if it is not held.
  package var bytes: ByteCount = 0
  /// The type of the picture; nil if it is not held.
  package var type: PictureType?
  /// The stamp of the file at the time of its commit; nil if the picture is not held.
  package var stamp: FileStamp?
  /// The header fields of the response that brought the bytes, in the text form of `StoredResponse.word`.
  package var response: String?
  /// The time at which the response expires, so that a new request is needed.
  package var expiry = UnixTime(0)
  /// The time at which the bytes were received.
  package var fetched: UnixTime?
  /// The time of the origin's last answer for this picture.
  package var checked: UnixTime?
  /// The reason why the last request failed; nil if it succeeded.
  package var failure: String?
  /// The time since which all requests have failed.
  package var failingSince: UnixTime?

  /// The time in the response's Last-Modified field, which becomes the modification time of the file.
  ///
  /// So the time survives a loss of the index. It is not stored in the row, and is nil in an entry that was read from
  /// the index.
  package var lastModified: UnixTime?

  /// The path that an older version of larder gave the file.
  ///
  /// It is nil once the file is renamed; see ``Index/takeOver(_:on:)``.
  var older: String?

  /// Makes a row of a picture that is not held.
  package init(id: PictureID, url: String, identity: String? = nil) {
    self.id = id
    self.url = url
    self.identity = identity ?? url
  }

  /// Whether the picture is held.
  package var isHeld: Bool { sha256 != nil }
  /// The name that the picture's file has by the present rules.
  var ownName: PictureName { PictureName(url: identity, id: id) }
  /// The present name of the picture's file, which may still be the name that an older version of larder gave it.
  package var name: PictureName {
    older.flatMap { PictureName(path: $0) } ?? ownName
  }
}

/// The URL of a picture that an item or a detail shows.
package struct PictureAddress: Sendable, Equatable {
  /// The key of the picture, which is the digest of ``identity``.
  package var id: PictureID
  /// The URL to request; if the shop's text is not a URL, that text.
  package var url: String
  /// The text that identifies the picture: its URL, or the part of the URL that the rule in the catalog file keeps.
  package var identity: String

  /// Makes an address from its parts.
  package init(id: PictureID, url: String, identity: String) {
    (self.id, self.url, self.identity) = (id, url, identity)
  }

  /// About the number of bytes of memory that the address takes.
  package var byteCount: Int {
    MemoryLayout<PictureAddress>.stride + 2 * 32 + url.utf8.count + identity.utf8.count
  }
}

extension PictureEntry {
  /// The text in ``response`` that only a response with `Vary` has.
  package static let selected = " selected="

  /// Lets the picture expire if its response has `Vary`, as ``Index/noteVary(_:variables:inShadow:)`` does for all rows.
  package mutating func expireIfVaried() {
    if isHeld, response?.contains(Self.selected) ?? false { expiry = 0 }
  }

  /// Whether the origin's last answer, or the waiting time after a failure, is still valid.
  ///
  /// If the last answer seems to be in the future, the clock was set back since. Then it is not valid, because the
  /// picture might otherwise stay fresh for years. ``DueRule`` has the same rule for all pictures of a run.
  package func isCurrent(at now: UnixTime) -> Bool {
    FreshnessPolicy.window(answered: checked ?? 0, expiry: expiry).contains(now)
  }
}

extension Index {
  /// The rows of these pictures.
  ///
  /// Pictures without a row are left out.
  package func pictures(_ ids: [PictureID]) throws(LarderError) -> [PictureID: PictureEntry] {
    try read { db in
      let row = try RowStatement(db, Self.select + " WHERE id = ?")
      var entries = [PictureID: PictureEntry](minimumCapacity: ids.count)
      for id in ids { entries[id] = try row.first(id) { PictureEntry($0) } }
      return entries
    }
  }

  /// The error for a picture of an item or detail that has no row.
  func lostPicture() -> LarderError { damaged("a picture's row is missing") }

  /// Calls `body` with the rows of all pictures, one at a time, in the order of their ids.
  package func forEachPicture(_ body: (PictureEntry) throws -> Void) throws(LarderError) {
    try read { db in try db.forEach(Self.select + " ORDER BY id") { try body(PictureEntry($0)) } }
  }

  /// Gives each of these pictures a row, and returns the numbers of their rows.
  ///
  /// The row has the URL at which the picture is requested. So the URL of every picture of a stored item or detail can
  /// be found by the picture's id. Call it in the transaction that stores the item or detail, before that row is
  /// written. If a picture has a row already, the row gets the new URL.
  ///
  /// If another picture has the same id, its row stays, and its number is returned.
  @discardableResult
  static func name(
    _ pictures: some Sequence<PictureAddress>,
    in db: Database
  ) throws -> [PictureID: Int64] {
    var rows: [PictureID: Int64] = [:]
    let known = try RowStatement(db, "SELECT row, url, identity FROM picture WHERE id = ?")
    let new = try RowStatement(db, "INSERT INTO picture(id, url, identity) VALUES (?,?,?)")
    let renewed = try RowStatement(db, "UPDATE picture SET url = ?, identity = ? WHERE row = ?")
    // In the order of the table's index, so that many new entries share a page.
    for picture in pictures.sorted(by: { $0.id < $1.id }) where rows[picture.id] == nil {
      let identity = picture.identity == picture.url ? nil : picture.identity
      known.restart(picture.id)
      guard try known.next() else {
        try new.run(picture.id, picture.url, identity)
        rows[picture.id] = db.lastInsertedRowID
        continue
      }
      let row = known.number(0)
      rows[picture.id] = row
      guard let url = known.text(1), url != picture.url,
        known.text(2) ?? url == picture.identity
      else { continue }
      try renewed.run(picture.url, identity, row)
    }
    return rows
  }

  /// Copies the rows of all pictures of another index.
  ///
  /// They are written in one transaction, and read in pages. Each page is a read of its own, so other processes can
  /// write to the other index meanwhile. If requests for pictures send other header fields, or other values of variables,
  /// than the ones that the other index recorded, the copied rows expire as with ``noteVary(_:variables:inShadow:)``, which must be called before.
  ///
  /// - Throws: ``LarderError`` when the other index cannot be read, or this one cannot be written.
  package func copyPictures(of other: Index) throws(LarderError) {
    let isKnown = try other.selection() == selection()
    var changed: [String] = []
    let keys = try rows("SELECT key FROM meta WHERE key LIKE 'variable %'") { $0.text(0) ?? "" }
    for key in keys where try other.number(key) != number(key) {
      changed.append("${\(key.dropFirst("variable ".count))}")
    }
    try write { db in
      let writer = try PictureRowWriter(db)
      var last: PictureID?
      while true {
        let page = try other.pictures(after: last, count: 1_000)
        for var entry in page {
          if !isKnown { entry.expireIfVaried() }
          if changed.contains(where: entry.identity.contains) { entry.expiry = 0 }
          try writer.save(entry)
        }
        last = page.last?.id
        if last == nil { return }
      }
    }
  }

  /// Calls `body` with the rows of the pictures of one folder below `images/`, one at a time.
  func forEachPicture(
    inFolder folder: UInt8,
    _ body: (PictureEntry) throws -> Void
  ) throws(LarderError) {
    let ids = PictureID.all(inFolder: folder)
    let sql = Self.select + " WHERE id BETWEEN ?1 AND ?2 ORDER BY id"
    try read { db in
      try db.forEach(sql, ids.lowerBound, ids.upperBound) { try body(PictureEntry($0)) }
    }
  }

  /// The rows of the next pictures in the order of the ids.
  ///
  /// - Parameters:
  ///   - id: The id after which to begin; nil to begin with the first picture.
  ///   - count: The maximum number of pictures.
  ///   - onlyHeld: Whether pictures that are not held are left out.
  /// - Returns: The rows.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func pictures(
    after id: PictureID?,
    count: Int,
    onlyHeld: Bool = false
  ) throws(LarderError) -> [PictureEntry] {
    let last = id?.digest ?? IdentityDigest(high: 0, low: 0)
    return try rows(onlyHeld ? Self.nextHeld : Self.next, last, count) { PictureEntry($0) }
  }

  /// The number of held pictures.
  func heldCount() throws(LarderError) -> Int {
    try row("SELECT count(*) FROM picture WHERE sha256 IS NOT NULL") { Int($0.number(0)) } ?? 0
  }

  /// The held picture at each of these paths in the cache.
  ///
  /// If `anyEnding` is true, the extensions of the paths are ignored.
  func heldPictures(
    at paths: some Sequence<String>,
    anyEnding: Bool = false
  ) throws(LarderError) -> [String: PictureID] {
    try read { db in
      let select = Self.selectName + " WHERE sha256 IS NOT NULL AND "
      let rows = try RowStatement(db, select + "id = ?")
      // Find the rows whose older path begins with the given path without its extension, followed by a dot. The upper
      // bound ends with `/`, because that is the next character after `.`.
      let older = try RowStatement(db, select + "older >= ?1 || '.' AND older < ?1 || '/'")
      var ids: [String: PictureID] = [:]
      for path in paths {
        func add(_ row: borrowing RowStatement) {
          let id = PictureID(row.key(0))
          // A file may be renamed already although its row still has the older path.
          let own = [row.text(2), PictureName(url: row.text(1) ?? "", id: id).path]
          let isIt = own.compactMap(\.self).contains {
            anyEnding
              ? PictureName.withoutEnding($0) == PictureName.withoutEnding(path) : $0 == path
          }
          if isIt { ids[path] = id }
        }
        if let id = PictureName.id(at: path) {
          try rows.forEach(id) { add($0) }
        } else {
          try older.forEach(String(PictureName.withoutEnding(path))) { add($0) }
        }
      }
      return ids
    }
  }

  /// Selects the columns that are needed to find the path of a picture.
  private static let selectName = "SELECT id, coalesce(identity, url), older FROM picture"

  /// The columns that ``PictureEntry/init(_:)`` reads, in the order in which it reads them.
  static let pictureColumns = [
    "id", "url", "sha256", "bytes", "type", "inode", "modified", "response", "expiry", "fetched",
    "checked", "failure", "failing_since", "older", "identity",
  ]

  static let select = "SELECT \(pictureColumns.joined(separator: ", ")) FROM picture"

  /// The next pictures after the id ?1, at most ?2.
  private static let next = select + " WHERE id > ?1 ORDER BY id LIMIT ?2"
  /// The same, without pictures that are not held.
  static let nextHeld = select + " WHERE sha256 IS NOT NULL AND id > ?1 ORDER BY id LIMIT ?2"

  /// Records that a picture's bytes changed in a run, in the caller's transaction.
  static func note(
    _ id: PictureID,
    before: [UInt8],
    after: [UInt8],
    run: RunID,
    in db: Database
  ) throws {
    let sql = "INSERT OR REPLACE INTO picture_change(run, picture, before, after) VALUES (?,?,?,?)"
    try db.run(sql, run, id, before, after)
  }

  /// Writes some rows and marks other pictures as not held, in one transaction.
  ///
  /// - Parameters:
  ///   - entries: The rows to write.
  ///   - ids: The pictures to mark as not held.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func save(
    _ entries: [PictureEntry],
    forgetting ids: [PictureID] = []
  ) throws(LarderError) {
    guard !entries.isEmpty || !ids.isEmpty else { return }
    try write { db in
      let writer = try PictureRowWriter(db)
      for entry in entries { try writer.save(entry) }
      for id in ids { try Self.forget(id, in: db) }
    }
  }

  /// Marks a picture as not held.
  ///
  /// Its row stays.
  static func forget(_ id: PictureID, in db: Database) throws {
    let sql = """
      UPDATE picture SET sha256 = NULL, content = NULL, bytes = NULL, type = NULL, \
      inode = NULL, modified = NULL, response = NULL, expiry = 0, older = NULL WHERE id = ?
      """
    try db.run(sql, id)
  }
}

/// Writes complete rows of pictures, in the caller's transaction.
struct PictureRowWriter: ~Copyable {
  private let row: RowStatement

  init(_ db: Database) throws {
    row = try RowStatement(db, Self.upsert)
  }

  func save(_ entry: PictureEntry) throws {
    try row.run(
      entry.id,
      entry.url,
      entry.sha256,
      entry.bytes.count,
      entry.type?.mediaType,
      entry.stamp?.inode,
      entry.stamp?.modified,
      entry.response,
      entry.expiry,
      entry.fetched,
      entry.checked,
      entry.failure,
      entry.failingSince,
      entry.older,
      entry.identity == entry.url ? nil : entry.identity,
      entry.sha256.map { ContentDigest.prefix($0) }
    )
  }

  /// Saves a row, and records that the picture changed if `before` is the SHA-256 of other bytes, or empty.
  func save(
    _ entry: PictureEntry,
    before: [UInt8]?,
    run: RunID,
    in db: Database
  ) throws {
    try save(entry)
    guard let before, let after = entry.sha256, before != after else { return }
    try Index.note(entry.id, before: before, after: after, run: run, in: db)
  }

  private static let upsert = {
    let columns = Index.pictureColumns + ["content"]
    return """
      INSERT INTO picture(\(columns.joined(separator: ", "))) \
      VALUES (\(columns.map { _ in "?" }.joined(separator: ", "))) ON CONFLICT(id) \
      DO UPDATE SET \(columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      """
  }()
}

extension PictureEntry {
  /// Reads the present row of a query that begins with ``Index/select``.
  init(_ row: borrowing RowStatement) {
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
  /// Copies tables to temporary tables of the same names.
  ///
  /// The statements of this connection then read and change the copies, because SQLite looks for a table among the
  /// temporary ones first. So a dry run can take steps of a run without changing the index.
  func shadowTables(_ tables: [String]) throws(LarderError) {
    try write { db in
      for table in tables {
        let copied = "SELECT 1 FROM temp.sqlite_schema WHERE name = ?"
        let definition = "SELECT sql FROM main.sqlite_schema WHERE name = ?"
        guard try db.first(copied, table, make: { _ in true }) == nil,
          let sql = try db.first(definition, table, make: { $0.text(0) }) ?? nil
        else { continue }
        try db.execute(sql: "CREATE TEMP" + sql.dropFirst("CREATE".count))
        try db.execute(sql: "INSERT INTO temp.\(table) SELECT * FROM main.\(table)")
      }
    }
  }

  /// Records digests of the header fields that requests for pictures send from now on, and of the variables in URLs.
  ///
  /// The fields may change, for example with an update of larder. In that case, every picture whose response has
  /// `Vary` expires at once. If the value of a variable changes, every picture with that variable in its identity
  /// expires. When a run then requests such a picture, the picture's row shows whether the stored response is also valid
  /// for the new values. So runs need not read the stored header fields of fresh pictures. (RFC 9111, section 4.1)
  ///
  /// - Parameters:
  ///   - digest: The digest of the header fields.
  ///   - variables: The digests of the variables' values, by name.
  ///   - inShadow: Whether to make the changes in ``shadowTables(_:)``, for a dry run.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  package func noteVary(
    _ digest: Int64,
    variables: [String: Int64] = [:],
    inShadow: Bool = false
  ) throws(LarderError) {
    var changed: [(name: String, digest: Int64)] = []
    for (name, digest) in variables where try number("variable \(name)") != digest {
      changed.append((name, digest))
    }
    let isVaried = try selection() != digest
    guard isVaried || !changed.isEmpty else { return }
    if inShadow { try shadowTables(["picture", "meta"]) }
    let sql = "UPDATE picture SET expiry = 0 WHERE sha256 IS NOT NULL AND instr"
    try write { db in
      if isVaried { try db.run(sql + "(response, ?) > 0", PictureEntry.selected) }
      try db.setSingleValue("selection", digest)
      for (name, digest) in changed {
        try db.run(sql + "(coalesce(identity, url), ?) > 0", "${\(name)}")
        try db.setSingleValue("variable \(name)", digest)
      }
    }
  }

  /// The digest of header fields that ``noteVary(_:variables:inShadow:)`` recorded last; nil if there is none.
  func selection() throws(LarderError) -> Int64? { try number("selection") }

  private func number(_ key: String) throws(LarderError) -> Int64? {
    try read { db in try db.singleValue(key) { $0.isInteger(0) ? $0.number(0) : nil } ?? nil }
  }
}
