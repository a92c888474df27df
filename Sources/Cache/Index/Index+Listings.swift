import Base
import GRDB

/// One version of an item, as the index stores it.
package struct ItemRecord: Sendable, Equatable {
  package var key: String
  package var body: [UInt8]
}

/// A version of an item that is to be stored.
package struct NewItem: Sendable, Equatable {
  package var key: String
  package var body: [UInt8]
  /// The pictures that the item shows, in the item's order.
  ///
  /// A picture that occurs twice is in the list twice.
  package var pictures: [PictureAddress]

  /// Makes an item from its parts.
  package init(key: String, body: [UInt8], pictures: [PictureAddress]) {
    self.key = key
    self.body = body
    self.pictures = pictures
  }

  /// About the number of bytes of memory that the item takes.
  package var byteCount: Int {
    pictures.reduce(MemoryLayout<NewItem>.stride + 3 * 32 + key.utf8.count + body.count) {
      $0 + $1.byteCount
    }
  }
}

/// A listing whose items are written to the index batch by batch, because whole listings are too large for memory.
///
/// Its rows are in the index already, but it has no digest, and no reader sees it. If the run is killed before the
/// listing is stored, the next run removes these rows.
package struct ListingDraft: Sendable {
  fileprivate let id: ListingID
  /// The items that were left out because an earlier item of the listing has the same id but is different.
  ///
  /// Each has its position among all items that were added. Equal items are left out too, but not noted.
  package fileprivate(set) var repeats: [(place: Int, id: String)] = []
  /// The number of items in the listing, and the number that were added.
  fileprivate var (count, added) = (0, 0)
  fileprivate var digest = RunningDigest()

  fileprivate init(in db: Database) throws {
    try db.run("INSERT INTO listing(items) VALUES (0)")
    id = ListingID(rawValue: db.lastInsertedRowID)
  }
}

/// A listing, which is an ordered list of items, that is to be stored.
///
/// The ids of its items are distinct.
package enum NewListing: Sendable {
  case items([NewItem])
  /// The items are stored already.
  case draft(ListingDraft)

  /// Stores the listing and its items, and returns its id.
  ///
  /// If the index has an equal listing, the id of that listing is returned.
  func keep(in db: Database) throws -> ListingID {
    switch self {
    case .items(let items):
      let writer = try ListingWriter(db, showing: items.flatMap(\.pictures))
      var draft = try ListingDraft(in: db)
      for item in items { try writer.add(item, to: &draft) }
      return try ListingWriter.keep(draft, in: db)
    case .draft(let draft): return try ListingWriter.keep(draft, in: db)
    }
  }
}

/// Writes items and listings, in one transaction.
struct ListingWriter: ~Copyable {
  private let db: Database
  private let known: RowStatement
  private let member: RowStatement
  private let item: RowStatement
  private let place: RowStatement
  private let picture: RowStatement
  /// The rows of the pictures that the items show.
  private let pictures: [PictureID: Int64]

  /// Makes a writer, and gives a row to each picture that its items will show.
  init(_ db: Database, showing pictures: [PictureAddress]) throws {
    let known = try RowStatement(db, ListingQuery.versions.rawValue)
    let member = try RowStatement(db, ListingQuery.member.rawValue)
    let item = try RowStatement(db, ListingQuery.newItem.rawValue)
    let place = try RowStatement(db, ListingQuery.newPlace.rawValue)
    let picture = try RowStatement(db, ListingQuery.newPicture.rawValue)
    self.pictures = try Index.name(pictures, in: db)
    self.db = db
    self.known = known
    self.member = member
    self.item = item
    self.place = place
    self.picture = picture
  }

  /// The stored version of an item that has this digest, and all other versions that have the item's id.
  private func versions(
    of key: String,
    _ digest: IdentityDigest
  ) throws -> (own: ItemVersion?, others: [ItemVersion]) {
    var own: ItemVersion?
    var others: [ItemVersion] = []
    try known.forEach(key) {
      let version = ItemVersion(rawValue: $0.number(0))
      if $0.key(1) == digest { own = version } else { others.append(version) }
    }
    return (own, others)
  }

  private func insert(_ new: NewItem, _ digest: IdentityDigest) throws -> ItemVersion {
    try item.run(new.key, digest, new.body)
    let version = ItemVersion(rawValue: db.lastInsertedRowID)
    for (index, shown) in new.pictures.enumerated() {
      try picture.run(version, index, pictures[shown.id])
    }
    return version
  }

  /// Adds an item to a listing, unless the listing has an item with the same id.
  ///
  /// An item that is left out is not stored. Otherwise each of many items with one id would be compared with all of
  /// them before it.
  func add(_ new: NewItem, to draft: inout ListingDraft) throws {
    let digest = IdentityDigest(of: new.body)
    let (known, others) = try versions(of: new.key, digest)
    defer { draft.added += 1 }
    if let known, try has(known, draft) { return }
    for other in others where try has(other, draft) {
      draft.repeats.append((draft.added, new.key))
      return
    }
    let own = try known ?? insert(new, digest)
    try place.run(draft.id, draft.count, own)
    draft.digest.add(own)
    draft.count += 1
  }

  private func has(_ version: ItemVersion, _ draft: ListingDraft) throws -> Bool {
    try member.first(draft.id, version) { _ in } != nil
  }

  /// Stores the listing whose versions a query selects, in its order, unless the index has an equal one.
  ///
  /// - Parameters:
  ///   - rows: A query with one column of distinct versions. It is run twice if the listing is new.
  ///   - db: The database.
  /// - Returns: The listing.
  /// - Throws: `DatabaseError` when the index cannot be written.
  static func keep(
    selecting rows: borrowing RowStatement,
    in db: Database
  ) throws -> ListingID {
    var (digest, count) = (RunningDigest(), 0)
    while try rows.next() {
      digest.add(ItemVersion(rawValue: rows.number(0)))
      count += 1
    }
    if let known = try listing(digest.identity, in: db) { return known }
    try db.run("INSERT INTO listing(digest, items) VALUES (?, ?)", digest.identity, count)
    let listing = ListingID(rawValue: db.lastInsertedRowID)
    let place = try RowStatement(db, ListingQuery.newPlace.rawValue)
    rows.restart()
    for index in 0..<count where try rows.next() {
      try place.run(listing, index, rows.number(0))
    }
    return listing
  }

  /// Stores a listing whose items are stored, and removes its rows if the index has an equal one.
  static func keep(_ draft: ListingDraft, in db: Database) throws -> ListingID {
    let digest = draft.digest.identity
    if let known = try listing(digest, in: db) {
      try db.run(ListingQuery.dropPlaces.rawValue, draft.id)
      try db.run("DELETE FROM listing WHERE id = ?", draft.id)
      return known
    }
    try db.run(
      "UPDATE listing SET digest = ?, items = ? WHERE id = ?",
      digest,
      draft.count,
      draft.id
    )
    return draft.id
  }

  private static func listing(_ digest: IdentityDigest, in db: Database) throws -> ListingID? {
    try db.first("SELECT id FROM listing WHERE digest = ?", digest) {
      ListingID(rawValue: $0.number(0))
    }
  }
}

extension RunningDigest {
  /// Adds the id of a version, so that the result is the digest of a listing.
  mutating func add(_ version: ItemVersion) {
    withUnsafeBytes(of: version.rawValue.littleEndian) { add($0) }
  }
}

/// The SQL statements that read and write listings.
///
/// The joins begin at the table that is named first. `ListingQueryTests` checks that no statement scans a table.
enum ListingQuery: String, CaseIterable {
  case versions = "SELECT row, digest FROM item WHERE key = ?1"
  case member =
    "SELECT 1 FROM listing_item INDEXED BY listing_member WHERE listing = ?1 AND item = ?2"
  case newItem = "INSERT INTO item(key, digest, body) VALUES (?1, ?2, ?3)"
  case newPicture = "INSERT INTO item_picture(item, place, picture) VALUES (?1, ?2, ?3)"
  case newPlace = "INSERT INTO listing_item(listing, place, item) VALUES (?1, ?2, ?3)"
  case dropPlaces = "DELETE FROM listing_item WHERE listing = ?1"
  case unfinishedPlaces =
    "DELETE FROM listing_item WHERE listing IN (SELECT id FROM listing WHERE digest IS NULL)"
  case unfinished = "DELETE FROM listing WHERE digest IS NULL"
  /// The items of a listing between two places.
  case items = """
    SELECT i.key, i.body FROM listing_item l LEFT JOIN item i ON i.row = l.item \
    WHERE l.listing = ?1 AND l.place >= ?2 AND l.place < ?3 ORDER BY l.place
    """
  case itemsOfKey = """
    SELECT i.key, i.body FROM item i CROSS JOIN listing_item l INDEXED BY listing_member \
    ON l.listing = ?1 AND l.item = i.row WHERE i.key = ?2 ORDER BY l.place
    """
  case keys = """
    SELECT i.key FROM listing_item l CROSS JOIN item i ON i.row = l.item WHERE l.listing = ?1 ORDER BY l.place
    """
  case itemsShowing = """
    SELECT l.place, i.key FROM picture p CROSS JOIN item_picture s ON s.picture = p.row \
    CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = ?1 AND l.item = s.item \
    CROSS JOIN item i ON i.row = s.item WHERE p.id = ?2 ORDER BY l.place
    """
  case detailsShowing = """
    SELECT d.item FROM picture p CROSS JOIN detail_picture s ON s.picture = p.row \
    CROSS JOIN detail d ON d.row = s.detail WHERE p.id = ?2 AND d.catalog = ?1 ORDER BY d.item
    """
  /// The items of a listing that no page in the temporary table `listed` has, at most one.
  case newOnPage = """
    SELECT 1 FROM listing_item l CROSS JOIN item i ON i.row = l.item WHERE l.listing = ?1 \
    AND NOT EXISTS (SELECT 1 FROM temp.listed s WHERE s.source = ?2 AND s.section = ?3 AND s.key = i.key) LIMIT 1
    """
  case notePage = """
    INSERT OR IGNORE INTO temp.listed SELECT ?2, ?3, i.key FROM listing_item l CROSS JOIN item i ON i.row = l.item \
    WHERE l.listing = ?1
    """
  case readable = """
    SELECT count(*) FROM listing_item l CROSS JOIN item i ON i.row = l.item WHERE l.listing = ?1
    """
  case places = "SELECT place, item FROM listing_item WHERE listing = ?1 ORDER BY place"
  case count = "SELECT items FROM listing WHERE id = ?1"
}

extension Index {
  /// Stores an ordered list of items, and returns its id.
  ///
  /// Lists and items that are already stored are not written again.
  package func keepListing(_ items: [NewItem]) throws(LarderError) -> ListingID {
    try write { db in try NewListing.items(items).keep(in: db) }
  }

  /// Stores the next items of each listing.
  ///
  /// - Parameters:
  ///   - parts: The next items, in order, each with the position of its listing in `drafts`.
  ///   - drafts: The listings. The missing ones are begun.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func keep(
    _ parts: [(listing: Int, items: [NewItem])],
    in drafts: inout [ListingDraft]
  ) throws(LarderError) {
    try write { db in
      let pictures = parts.flatMap { $0.items.flatMap(\.pictures) }
      let writer = try ListingWriter(db, showing: pictures)
      for part in parts {
        while drafts.count <= part.listing { drafts.append(try ListingDraft(in: db)) }
        for item in part.items { try writer.add(item, to: &drafts[part.listing]) }
      }
    }
  }

  /// Stores a listing whose items are already stored.
  ///
  /// - Parameter draft: The listing.
  /// - Returns: The id. It is the id that the listing would have if all items had been stored at once.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func keepListing(_ draft: ListingDraft) throws(LarderError) -> ListingID {
    try write { db in try NewListing.draft(draft).keep(in: db) }
  }

  /// Removes the listings that a killed run left unfinished.
  static func removeDrafts(in db: Database) throws {
    try db.run(ListingQuery.unfinishedPlaces.rawValue)
    try db.run(ListingQuery.unfinished.rawValue)
  }

  /// The items of a listing, in order.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - first: The number of items to skip. They are not read.
  ///   - count: The maximum number of items to return.
  /// - Returns: The items.
  /// - Throws: ``LarderError``, with code `damaged` if the listing or an item is missing.
  package func items(
    listing: ListingID,
    from first: Int = 0,
    count: Int = .max
  ) throws(LarderError) -> [ItemRecord] {
    try read { db in
      let end = try end(of: listing, from: first, count: count, db)
      let items = try db.all(ListingQuery.items.rawValue, listing, first, end) { ItemRecord($0) }
        .compactMap(\.self)
      guard items.count == end - first else { throw gone("an item", listing) }
      return items
    }
  }

  /// The items at some places of a listing, in the given order.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if an item is missing.
  package func items(
    listing: ListingID,
    at places: some Sequence<Int>
  ) throws(LarderError) -> [ItemRecord] {
    try read { db in
      let rows = try RowStatement(db, ListingQuery.items.rawValue)
      return try places.map { place in
        let item = try rows.first(listing, place, place + 1) { ItemRecord($0) }
        guard let item = item ?? nil else { throw gone("an item", listing) }
        return item
      }
    }
  }

  /// The items of a listing that have one of these ids, in the order of the ids.
  package func items(
    listing: ListingID,
    ids: some Sequence<String>
  ) throws(LarderError) -> [ItemRecord] {
    try read { db in
      let rows = try RowStatement(db, ListingQuery.itemsOfKey.rawValue)
      return try ids.flatMap { id in try rows.all(listing, id) { ItemRecord($0) } }
        .compactMap(\.self)
    }
  }

  /// Calls `body` with the items of a listing in order, 512 at a time.
  ///
  /// The memory does not grow with the listing. A writer can commit between two calls.
  package func forEachBatch(
    of listing: ListingID,
    _ body: ([ItemRecord]) throws(LarderError) -> Void
  ) throws(LarderError) {
    var first = 0
    while true {
      let items = try items(listing: listing, from: first, count: Self.batch)
      if !items.isEmpty { try body(items) }
      guard items.count == Self.batch else { return }
      first += items.count
    }
  }

  private static let batch = 512

  /// The place behind the last of at most `count` items from the place `first` on.
  private func end(
    of listing: ListingID,
    from first: Int,
    count: Int,
    _ db: Database
  ) throws -> Int {
    guard let all = try Self.count(of: listing, db) else { throw gone("it", listing) }
    return first + min(count, max(0, all - first))
  }

  /// The number of items in a listing; nil if there is no such listing.
  static func count(of listing: ListingID, _ db: Database) throws -> Int? {
    // A damaged row may have any number.
    try db.first(ListingQuery.count.rawValue, listing) {
      Int(min(max(0, $0.number(0)), Int64(Int32.max)))
    }
  }

  /// The error for a missing part of a listing.
  func gone(_ what: String, _ listing: ListingID) -> LarderError {
    damaged("listing \(listing.rawValue): \(what) is missing")
  }

  /// The ids of a listing's items, in order.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if the listing or an item is missing.
  package func itemKeys(listing: ListingID) throws(LarderError) -> [String] {
    try read { db in
      try demandWhole(listing, db)
      return try db.all(ListingQuery.keys.rawValue, listing) { $0.text(0) ?? "" }
    }
  }

  /// Checks that all items of a listing can be read.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if a row is missing.
  package func demandWhole(_ listing: ListingID) throws(LarderError) {
    try read { db in try demandWhole(listing, db) }
  }

  func demandWhole(_ listing: ListingID, _ db: Database) throws {
    guard let count = try Self.count(of: listing, db) else { throw gone("it", listing) }
    let readable = try db.first(ListingQuery.readable.rawValue, listing) { $0.number(0) }
    guard readable == Int64(count) else { throw gone("an item", listing) }
  }

  /// Whether a page lists items that the earlier pages of its source, given to ``notePage(_:of:isFirst:)``, do
  /// not.
  ///
  /// - Parameters:
  ///   - listing: The items of a section on the page.
  ///   - source: The position of the source in the catalog file.
  ///   - section: The key of the section.
  /// - Returns: Whether it lists any.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func lists(
    newItemsIn listing: ListingID,
    of source: Int,
    section: String
  ) throws(LarderError) -> Bool {
    try row(ListingQuery.newOnPage.rawValue, listing, source, section) { _ in } != nil
  }

  /// Notes the ids of a page's items, in a temporary table, so that a page that repeats them is found.
  ///
  /// - Parameters:
  ///   - page: The sections of the page.
  ///   - source: The position of the source in the catalog file.
  ///   - isFirst: Whether it is the source's first page. The ids of former pages are then forgotten.
  /// - Throws: ``LarderError`` when the index cannot be read, or there is no space for temporary files.
  package func notePage(
    _ page: [DecodedSection],
    of source: Int,
    isFirst: Bool
  ) throws(LarderError) {
    try write { db in
      if isFirst {
        try db.execute(
          sql: """
            CREATE TEMP TABLE IF NOT EXISTS listed(source INTEGER, section TEXT, key TEXT,
              PRIMARY KEY(source, section, key)) WITHOUT ROWID
            """
        )
        try db.run("DELETE FROM temp.listed WHERE source = ?", source)
      }
      for section in page {
        try db.run(ListingQuery.notePage.rawValue, section.listing, source, section.key)
      }
    }
  }

  /// Reads one version of an item as JSON; nil if the index does not have it.
  package func item(version: ItemVersion) throws(LarderError) -> [UInt8]? {
    try read { db in try Self.body(version, db) }
  }

  static func body(_ version: ItemVersion, _ db: Database) throws -> [UInt8]? {
    try db.first("SELECT body FROM item WHERE row = ?1", version) { $0.bytes(0) } ?? nil
  }

  /// The items of a listing that show some pictures: for each picture those that show it, in the listing's order.
  package func items(
    of listing: ListingID,
    showing pictures: some Sequence<PictureID>
  ) throws(LarderError) -> [(picture: PictureID, place: Int, id: String)] {
    try read { db in
      let rows = try RowStatement(db, ListingQuery.itemsShowing.rawValue)
      return try pictures.flatMap { picture in
        try rows.all(listing, picture) { (picture, Int($0.number(0)), $0.text(1) ?? "") }
      }
    }
  }

  /// The ids of the items whose details show some pictures: for each picture those of a catalog that show it, sorted.
  package func details(
    of catalog: CatalogID,
    showing pictures: some Sequence<PictureID>
  ) throws(LarderError) -> [(picture: PictureID, id: String)] {
    try read { db in
      let rows = try RowStatement(db, ListingQuery.detailsShowing.rawValue)
      return try pictures.flatMap { picture in
        try rows.all(catalog, picture) { (picture, $0.text(0) ?? "") }
      }
    }
  }

  /// The number of items in a listing; 0 if there is no such listing.
  ///
  /// The items themselves are not read.
  package func itemCount(listing: ListingID) throws(LarderError) -> Int {
    try read { db in try Self.count(of: listing, db) ?? 0 }
  }
}

extension ItemRecord {
  /// Reads the present row of ``ListingQuery/items``; nil if the item is missing.
  fileprivate init?(_ row: borrowing RowStatement) {
    guard let key = row.text(0) else { return nil }
    self.init(key: key, body: row.bytes(1) ?? [])
  }
}

extension Index {
  /// Joins the listings of several pages to one listing.
  ///
  /// If an item is in several listings, only the first occurrence is kept, because shops move items between pages
  /// while the pages are fetched.
  ///
  /// - Parameter listings: The listings of the pages, in order.
  /// - Returns: The joined listing, the number of items that were left out as repeats, and the ids of those that differ
  ///   from the first occurrence.
  /// - Throws: ``LarderError``, also if one of the listings is not in the index.
  package func joinListings(
    _ listings: [ListingID]
  ) throws(LarderError) -> (listing: ListingID, repeats: Int, changed: [String]) {
    if let only = listings.first, listings.count == 1 { return (only, 0, []) }
    return try write { db in
      let items = try listings.reduce(0) { try $0 + end(of: $1, from: 0, count: .max, db) }
      let pages = try Self.json(listings.map(\.rawValue))
      let first = "SELECT item \(Self.copies) WHERE copy = 1 ORDER BY number, place"
      let rows = try RowStatement(db, first)
      rows.restart(pages)
      let joined = try ListingWriter.keep(selecting: rows, in: db)
      let repeats = items - (try end(of: joined, from: 0, count: .max, db))
      guard repeats > 0 else { return (joined, 0, []) }
      let changed = "SELECT key \(Self.copies) WHERE item <> first ORDER BY number, place"
      return (joined, repeats, try db.all(changed, pages) { $0.text(0) ?? "" })
    }
  }

  /// The items of the listings in the JSON array ?1; those with the same id are numbered, and know the first of them.
  private static let copies = """
    FROM (SELECT p.key AS number, l.place, l.item, i.key, row_number() OVER copies AS copy, \
    first_value(l.item) OVER copies AS first \
    FROM json_each(?1) AS p CROSS JOIN listing_item l ON l.listing = p.value CROSS JOIN item i ON i.row = l.item \
    WINDOW copies AS (PARTITION BY i.key ORDER BY p.key, l.place))
    """
}
