import Base
import GRDB
import Glibc
import SQLite

extension Index {
  /// The maximum number of items that one run checks, with the listings that have them, and of items whose history it
  /// checks.
  ///
  /// In a catalog of 10,000 items, a check of 1,024 items and of all listings took a fifth of the instructions of a run
  /// without changes.
  package static let checkedAtOnce = 1 << 8

  /// Checks that the items of listings, and the rows of their pictures, can be read as `larder list` reads them.
  ///
  /// SQLite notices damage only in the pages that it reads, and never inside a value. So the body of each item is
  /// compared with its digest.
  ///
  /// - Parameters:
  ///   - listings: The listings.
  ///   - slice: The number of the slice to check, if there are more than ``checkedAtOnce`` items; nil to check all
  ///     items. Each run checks another slice, so that all items are checked in turn.
  /// - Throws: ``LarderError``, with code `damaged` if something cannot be read.
  package func checkListings(
    _ listings: [ListingID],
    slice: Int64? = nil
  ) throws(LarderError) {
    let counts = try listings.map { listing throws(LarderError) in
      try itemCount(listing: listing)
    }
    var wanted = 0..<counts.reduce(0, +)
    if let slice, wanted.count > Self.checkedAtOnce {
      let slices = (wanted.count - 1) / Self.checkedAtOnce + 1
      let start = Int(slice % Int64(slices)) * Self.checkedAtOnce
      wanted = wanted[start...].prefix(Self.checkedAtOnce)
    }
    var versions: [ItemVersion] = []
    var passed = 0
    for (listing, count) in zip(listings, counts) {
      let first = passed
      passed += count
      guard wanted.overlaps(first..<passed) || count == 0 else { continue }
      try checkPlaces(of: listing, count: count) { place, version in
        if wanted.contains(first + place) { versions.append(version) }
      }
    }
    // Read the rows in the order of the table, because neighbouring rows share a page.
    versions.sort { $0.rawValue < $1.rawValue }
    var rest = versions[...]
    while !rest.isEmpty {
      let batch = rest.prefix(512)
      rest = rest.dropFirst(batch.count)
      try read { db in try check(batch, db) }
    }
  }

  /// Checks that no listing lacks a row, whether a catalog shows it or it belongs to a page.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if one does.
  package func demandWholeListings() throws(LarderError) {
    let sql = """
      SELECT id FROM listing WHERE digest IS NOT NULL AND items <> (SELECT count(*) FROM listing_item l \
      CROSS JOIN item i ON i.row = l.item WHERE l.listing = listing.id) LIMIT 1
      """
    let torn = try row(sql) { ListingID(rawValue: $0.number(0)) }
    if let torn { throw gone("an item", torn) }
  }

  /// Checks the places and the digest of a listing, and calls `body` with each place and its item.
  private func checkPlaces(
    of listing: ListingID,
    count: Int,
    _ body: (Int, ItemVersion) -> Void
  ) throws(LarderError) {
    try read { db in
      let known = try db.first("SELECT digest FROM listing WHERE id = ?1", listing) { $0.key(0) }
      let places = try RowStatement(db, ListingQuery.places.rawValue)
      places.restart(listing)
      var (digest, place) = (RunningDigest(), 0)
      while try places.next() {
        let version = ItemVersion(rawValue: places.number(1))
        guard places.number(0) == place else { break }
        digest.add(version)
        body(place, version)
        place += 1
      }
      guard place == count, known == digest.identity else {
        throw damaged("listing \(listing.rawValue) is damaged")
      }
    }
  }

  private func check(_ versions: ArraySlice<ItemVersion>, _ db: Database) throws {
    let item = try RowStatement(db, "SELECT body, digest FROM item WHERE row = ?1")
    let shown = try RowStatement(db, "SELECT picture FROM item_picture WHERE item = ?1")
    var pictures: Set<Int64> = []
    for version in versions {
      item.restart(version)
      guard try item.next(), item.withBytes(0, { IdentityDigest(of: $0) }) == item.key(1) else {
        throw damaged("an item is damaged")
      }
      try shown.forEach(version) { pictures.insert($0.number(0)) }
    }
    let picture = try RowStatement(db, "SELECT failing_since FROM picture WHERE row = ?1")
    for row in pictures.sorted() {
      picture.restart(row)
      guard try picture.next() else { throw lostPicture() }
      // To reach this column, SQLite reads nearly the whole row: only `older` and `identity` follow it.
      _ = picture.optionalNumber(0)
    }
  }

  /// Checks that the earlier prices of items can be read from the history, as `larder list` reads them.
  ///
  /// - Parameters:
  ///   - slice: The number of the slice to check, if the history has more than ``checkedAtOnce`` items.
  ///   - now: The present moment.
  /// - Throws: ``LarderError``, with code `damaged` if something cannot be read.
  package func checkHistory(slice: Int64, at now: UnixTime) throws(LarderError) {
    var items: [CatalogID: [(section: String, id: String)]] = [:]
    try read { db in
      try db.forEach("SELECT DISTINCT catalog FROM history_run") {
        items[CatalogID(rawValue: $0.number(0))] = []
      }
      let last = try db.first("SELECT max(row) FROM history_item") { $0.number(0) } ?? 0
      let count = Int64(Self.checkedAtOnce)
      let start = slice % (last / count + 1) * count
      let some = "SELECT catalog, section, key FROM history_item WHERE row >= ? AND row < ?"
      try db.forEach(some, start, start + count) {
        items[CatalogID(rawValue: $0.number(0)), default: []]
          .append(($0.text(1) ?? "", $0.text(2) ?? ""))
      }
    }
    for (catalog, items) in items {
      let last = RunID(rawValue: .max)
      _ = try priceSteps(of: items, catalog: catalog, since: now, through: last)
    }
  }

  /// The error for a row that is missing or damaged.
  func damaged(_ words: String) -> LarderError {
    LarderError(.damaged, "cannot read \(path): \(words)", remedy: .remake, thing: path)
  }

  /// Checks all listings of the last run of each catalog, and the rows of the pictures of all details; see
  /// ``checkListings(_:slice:)``.
  ///
  /// - Throws: ``LarderError``, with code `damaged` when a listing cannot be read, or a picture has no row.
  package func checkCatalogs() throws(LarderError) {
    try checkListings(try shownListings())
    let sql = "SELECT 1 FROM detail_picture WHERE picture NOT IN (SELECT row FROM picture) LIMIT 1"
    if try row(sql, make: { _ in }) != nil { throw lostPicture() }
  }
}

extension Index {
  /// Whether the file passes SQLite's integrity check.
  ///
  /// If `fast` is true, tables are not compared with their indexes.
  ///
  /// - Throws: ``LarderError`` when the file cannot be read. In that case the file may still be whole.
  package func isWhole(fast: Bool) throws(LarderError) -> Bool {
    do {
      let sql = fast ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)"
      return try row(sql) { $0.text(0) } == "ok"
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  /// Reads the rows of pictures from a damaged index.
  ///
  /// The table is read from its beginning to the damage, and then from its end to the damage.
  static func salvage(_ path: String) -> [PictureEntry] {
    guard let database = try? SQLiteDatabase(asFound: path) else { return [] }
    var entries: [PictureID: PictureEntry] = [:]
    for order in ["ASC", "DESC"] {
      _ = try? database.read { db in
        try db.forEach(select + " ORDER BY rowid \(order)") { row in
          let entry = PictureEntry(row)
          // A damaged page can contain anything. A row is valid if its id is the digest of its identity.
          if entry.id == PictureID(url: entry.identity) { entries[entry.id] = entry }
        }
      }
    }
    return entries.values.sorted { $0.id < $1.id }
  }

  /// Copies the history from a damaged index into a new index.
  ///
  /// Each table is read from both ends up to the damage. The rows of the catalogs that have a history are copied too,
  /// so that their next run continues the history.
  private static func salvageHistory(of path: String, into db: Database) throws {
    guard let old = try? SQLiteDatabase(asFound: path) else { return }
    let tables = [
      ("catalog", ["id", "name", "currency", "source"], ["id"]),
      ("history_run", ["run", "catalog", "time", "currency"], ["run"]),
      ("history_item", ["row", "catalog", "key", "section", "changed"], ["row"]),
      ("history", ["item", "field", "run", "value"], ["item", "field", "run"]),
    ]
    for (table, names, keys) in tables {
      let columns = names.joined(separator: ", ")
      let insert = """
        INSERT OR IGNORE INTO \(table)(\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        """
      for order in ["ASC", "DESC"] {
        let sorting = keys.map { "\($0) \(order)" }.joined(separator: ", ")
        // This fails at a damaged page, or if an older version of larder wrote the index without this table.
        _ = try? old.read { from in
          let rows = try Row.fetchCursor(
            from,
            sql: "SELECT \(columns) FROM \(table) ORDER BY \(sorting)"
          )
          while let row = try rows.next() {
            // A row of a damaged page may violate a constraint of the table.
            try? db.cachedStatement(sql: insert).execute(
              arguments: StatementArguments(row.databaseValues)
            )
          }
        }
      }
    }
    try db.execute(
      sql: """
        DELETE FROM history_run WHERE catalog NOT IN (SELECT id FROM catalog);
        DELETE FROM history_item WHERE catalog NOT IN (SELECT id FROM catalog);
        DELETE FROM history WHERE item NOT IN (SELECT row FROM history_item)
        OR run NOT IN (SELECT run FROM history_run);
        DELETE FROM history_item WHERE row NOT IN (SELECT item FROM history);
        DELETE FROM catalog WHERE id NOT IN (SELECT catalog FROM history_item);
        DELETE FROM history_run WHERE catalog NOT IN (SELECT id FROM catalog);
        """
    )
  }

  /// A path at which there is no file: `path`, or `path` with a number at its end, such as `-2`.
  private static func freeName(_ path: String) -> String {
    var (name, number) = (path, 1)
    while access(name, F_OK) == 0 || access(name + "-journal", F_OK) == 0 {
      number += 1
      name = "\(path)-\(number)"
    }
    return name
  }

  /// Replaces a lost or damaged index by a new one.
  ///
  /// The damaged index is renamed to `index.sqlite.damaged-TIME`. Its readable rows of pictures are copied to the new
  /// index if the files match them, and its history is copied. The other files stay without a row. The next run of
  /// their catalog adopts them, which means that it writes their rows.
  ///
  /// - Parameters:
  ///   - layout: The cache. The caller holds its lock.
  ///   - now: The present moment.
  /// - Returns: The new index, and the new path of the damaged index; the path is nil if there was no index.
  /// - Throws: ``LarderError`` when the new index cannot be created.
  package static func rebuilt(
    in layout: CacheLayout,
    at now: UnixTime
  ) throws(LarderError) -> (index: Index, aside: String?) {
    let path = layout.path("index.sqlite")
    let aside = freeName(path + ".damaged-" + now.text("%Y%m%dT%H%M%SZ"))
    let salvaged = salvage(path)
    let wasThere = access(path, F_OK) == 0
    for suffix in ["", "-journal"] where access(path + suffix, F_OK) == 0 {
      guard Glibc.rename(path + suffix, aside + suffix) == 0 else {
        throw .system("move aside", path + suffix, errno: errno)
      }
    }
    let index = try Index(layout)
    try index.noteLost(since: now)
    var found: [PictureEntry] = []
    for entry in salvaged where entry.isHeld {
      // If an object store has the pictures, the next run compares all rows with the store.
      if layout.remote != nil { found.append(entry) }
      let folder = try layout.existingFolder(entry.name.folder)
      if folder?.stamp(of: entry.name.file) == entry.stamp { found.append(entry) }
    }
    try index.save(found)
    if wasThere { try index.write { try salvageHistory(of: aside, into: $0) } }
    return (index, wasThere ? aside : nil)
  }
}
