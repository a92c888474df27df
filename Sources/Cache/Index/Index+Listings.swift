import Base
import GRDB

/// One version of an item, as the index stores it.
package struct ItemRecord: Sendable, Equatable {
  package var key: String
  package var body: [UInt8]
  /// The pictures that the item refers to, in the item's order.
  ///
  /// A picture that occurs twice is in the list twice.
  package var pictures: [PictureID]

  /// Makes a record from its parts.
  package init(key: String, body: [UInt8], pictures: [PictureID]) {
    self.key = key
    self.body = body
    self.pictures = pictures
  }

  /// About the number of bytes of memory that the record takes.
  package var byteCount: Int {
    MemoryLayout<ItemRecord>.stride + 3 * 32 + key.utf8.count + body.count
      + pictures.count * MemoryLayout<PictureID>.stride
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
    try db.execute(sql: "INSERT INTO listing(items) VALUES (0)")
    id = ListingID(rawValue: db.lastInsertedRowID)
  }
}

/// A listing, which is an ordered list of items, that is to be stored.
///
/// The ids of its items are distinct.
package enum NewListing: Sendable {
  case items([ItemRecord])
  /// The items are stored already.
  case draft(ListingDraft)

  /// Stores the listing and its items, and returns its id.
  ///
  /// If the index has an equal listing, the id of that listing is returned.
  func keep(in db: Database) throws -> ListingID {
    switch self {
    case .items(let records):
      var writer = try ListingWriter(db)
      return try ListingWriter.keep(records.map { try writer.version(of: $0).own }, in: db)
    case .draft(let draft): return try ListingWriter.keep(draft, in: db)
    }
  }
}

/// Writes items and listings, in one transaction.
struct ListingWriter: ~Copyable {
  private let db: Database
  private let known: RowReader
  private let member: RowReader
  private var item: RowWriter
  private var place: RowWriter

  init(_ db: Database) throws {
    let known = try RowReader(db, ListingQuery.versions.rawValue)
    let member = try RowReader(db, ListingQuery.member.rawValue)
    let item = try RowWriter(db, ListingQuery.newItem.rawValue)
    let place = try RowWriter(db, ListingQuery.newPlace.rawValue)
    self.db = db
    self.known = known
    self.member = member
    self.item = item
    self.place = place
  }

  /// Stores a version of an item unless the index has it.
  ///
  /// - Returns: Its id, and the ids of all other versions that have the item's id.
  /// - Throws: `DatabaseError` when the index cannot be written.
  mutating func version(
    of record: ItemRecord
  ) throws -> (own: ItemVersion, others: [ItemVersion]) {
    let digest = IdentityDigest(of: record.body)
    var own: ItemVersion?
    var others: [ItemVersion] = []
    known.restart(record.key)
    while try known.next() {
      let version = ItemVersion(rawValue: known.number(0))
      if known.key(1) == digest { own = version } else { others.append(version) }
    }
    if let own { return (own, others) }
    item.bind(1, record.key)
    item.bind(2, digest)
    item.bind(3, record.body)
    item.bind(4, IdentityDigest.pack(record.pictures.map(\.digest)))
    try item.run()
    return (ItemVersion(rawValue: db.lastInsertedRowID), others)
  }

  /// Adds an item to a listing, unless the listing has an item with the same id.
  mutating func add(_ record: ItemRecord, to draft: inout ListingDraft) throws {
    let (own, others) = try version(of: record)
    defer { draft.added += 1 }
    if try has(own, draft) { return }
    for other in others where try has(other, draft) {
      draft.repeats.append((draft.added, record.key))
      return
    }
    try add(own, to: draft.id, at: draft.count)
    draft.digest.add(own)
    draft.count += 1
  }

  private func has(_ version: ItemVersion, _ draft: ListingDraft) throws -> Bool {
    member.restart(draft.id.rawValue, version.rawValue)
    return try member.next()
  }

  private mutating func add(_ version: ItemVersion, to listing: ListingID, at index: Int) throws {
    place.bind(1, listing.rawValue)
    place.bind(2, Int64(index))
    place.bind(3, version.rawValue)
    try place.run()
  }

  /// Stores the listing of these versions, which are distinct, unless the index has an equal one.
  static func keep(_ versions: [ItemVersion], in db: Database) throws -> ListingID {
    var digest = RunningDigest()
    for version in versions { digest.add(version) }
    if let known = try listing(digest.identity, in: db) { return known }
    let listing = try new(digest.identity, versions.count, in: db)
    var writer = try ListingWriter(db)
    for (index, version) in versions.enumerated() {
      try writer.add(version, to: listing, at: index)
    }
    return listing
  }

  /// Stores the listing whose versions a query selects, in its order, unless the index has an equal one.
  ///
  /// - Parameters:
  ///   - rows: A query with one column of distinct versions. It is run twice if the listing is new.
  ///   - db: The database.
  /// - Returns: The listing.
  /// - Throws: `DatabaseError` when the index cannot be written.
  static func keep(
    selecting rows: borrowing RowReader,
    in db: Database
  ) throws -> ListingID {
    var (digest, count) = (RunningDigest(), 0)
    while try rows.next() {
      digest.add(ItemVersion(rawValue: rows.number(0)))
      count += 1
    }
    if let known = try listing(digest.identity, in: db) { return known }
    let listing = try new(digest.identity, count, in: db)
    var writer = try ListingWriter(db)
    rows.restart()
    for index in 0..<count where try rows.next() {
      try writer.add(ItemVersion(rawValue: rows.number(0)), to: listing, at: index)
    }
    return listing
  }

  /// Stores a listing whose items are stored, and removes its rows if the index has an equal one.
  static func keep(_ draft: ListingDraft, in db: Database) throws -> ListingID {
    let digest = draft.digest.identity
    if let known = try listing(digest, in: db) {
      try db.execute(sql: ListingQuery.dropPlaces.rawValue, arguments: [draft.id])
      try db.execute(sql: "DELETE FROM listing WHERE id = ?", arguments: [draft.id])
      return known
    }
    try db.execute(
      sql: "UPDATE listing SET digest = ?, items = ? WHERE id = ?",
      arguments: [digest, draft.count, draft.id]
    )
    return draft.id
  }

  private static func listing(_ digest: IdentityDigest, in db: Database) throws -> ListingID? {
    try ListingID.fetchOne(
      db.cachedStatement(sql: "SELECT id FROM listing WHERE digest = ?"),
      arguments: [digest]
    )
  }

  private static func new(
    _ digest: IdentityDigest,
    _ count: Int,
    in db: Database
  ) throws -> ListingID {
    try db.execute(
      sql: "INSERT INTO listing(digest, items) VALUES (?, ?)",
      arguments: [digest, count]
    )
    return ListingID(rawValue: db.lastInsertedRowID)
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
  case newItem = "INSERT INTO item(key, digest, body, pictures) VALUES (?1, ?2, ?3, ?4)"
  case newPlace = "INSERT INTO listing_item(listing, place, item) VALUES (?1, ?2, ?3)"
  case dropPlaces = "DELETE FROM listing_item WHERE listing = ?1"
  case unfinishedPlaces =
    "DELETE FROM listing_item WHERE listing IN (SELECT id FROM listing WHERE digest IS NULL)"
  case unfinished = "DELETE FROM listing WHERE digest IS NULL"
  /// The items of a listing between two places.
  case items = """
    SELECT i.key, i.body, i.pictures FROM listing_item l LEFT JOIN item i ON i.row = l.item \
    WHERE l.listing = ?1 AND l.place >= ?2 AND l.place < ?3 ORDER BY l.place
    """
  case itemsOfKey = """
    SELECT i.key, i.body, i.pictures FROM item i CROSS JOIN listing_item l INDEXED BY listing_member \
    ON l.listing = ?1 AND l.item = i.row WHERE i.key = ?2 ORDER BY l.place
    """
  case keys = """
    SELECT i.key, l.item FROM listing_item l CROSS JOIN item i ON i.row = l.item WHERE l.listing = ?1 ORDER BY l.place
    """
  case pictures = """
    SELECT i.pictures FROM listing_item l CROSS JOIN item i ON i.row = l.item \
    WHERE l.listing = ?1 AND l.place >= ?2 AND l.place < ?3 ORDER BY l.place
    """
  /// The pictures of the details of the items that a run of their catalog lists.
  case picturesOfDetails = """
    SELECT d.pictures FROM detail d WHERE d.catalog = ?1 AND d.body IS NOT NULL AND EXISTS (
    SELECT 1 FROM item i CROSS JOIN run_section s ON s.run = ?2 \
    CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = s.listing AND l.item = i.row WHERE i.key = d.item)
    """
  case places = "SELECT place, item FROM listing_item WHERE listing = ?1 ORDER BY place"
  case count = "SELECT items FROM listing WHERE id = ?1"
}

extension Index {
  /// Stores an ordered list of items, and returns its id.
  ///
  /// Lists and items that are already stored are not written again.
  package func keepListing(_ items: [ItemRecord]) throws(LarderError) -> ListingID {
    try write { db in try NewListing.items(items).keep(in: db) }
  }

  /// Stores the next items of each listing.
  ///
  /// - Parameters:
  ///   - parts: The next items, in order, each with the position of its listing in `drafts`.
  ///   - pictures: The pictures of these items.
  ///   - drafts: The listings. The missing ones are begun.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func keep(
    _ parts: [(listing: Int, items: [ItemRecord])],
    showing pictures: [PictureAddress] = [],
    in drafts: inout [ListingDraft]
  ) throws(LarderError) {
    try write { db in
      try Self.name(pictures, in: db)
      var writer = try ListingWriter(db)
      for part in parts {
        while drafts.count <= part.listing { drafts.append(try ListingDraft(in: db)) }
        for record in part.items { try writer.add(record, to: &drafts[part.listing]) }
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
    try db.execute(sql: ListingQuery.unfinishedPlaces.rawValue)
    try db.execute(sql: ListingQuery.unfinished.rawValue)
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
      let rows = try RowReader(db, ListingQuery.items.rawValue)
      rows.restart(listing.rawValue, Int64(first), Int64(end))
      var items: [ItemRecord] = []
      while try rows.next() {
        guard let item = ItemRecord(rows) else { throw gone("an item", listing) }
        items.append(item)
      }
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
      let rows = try RowReader(db, ListingQuery.items.rawValue)
      return try places.map { place in
        rows.restart(listing.rawValue, Int64(place), Int64(place) + 1)
        guard try rows.next(), let item = ItemRecord(rows) else { throw gone("an item", listing) }
        return item
      }
    }
  }

  /// The items of a listing that have an id.
  package func items(
    listing: ListingID,
    id: String
  ) throws(LarderError) -> [ItemRecord] {
    try read { db in
      let rows = try RowReader(db, ListingQuery.itemsOfKey.rawValue)
      rows.restart(listing.rawValue, id)
      var items: [ItemRecord] = []
      while try rows.next() { if let item = ItemRecord(rows) { items.append(item) } }
      return items
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
  private static func count(of listing: ListingID, _ db: Database) throws -> Int? {
    let row = try RowReader(db, ListingQuery.count.rawValue)
    row.restart(listing.rawValue)
    // A damaged row may have any number.
    return try row.next() ? Int(min(max(0, row.number(0)), Int64(Int32.max))) : nil
  }

  /// The error for a missing part of a listing.
  func gone(_ what: String, _ listing: ListingID) -> LarderError {
    LarderError(
      .damaged,
      "cannot read listing \(listing.rawValue) in \(path): \(what) is missing",
      remedy: .repair,
      thing: path
    )
  }

  /// The ids of a listing's items, in order; empty if there is no such listing.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if an item is missing.
  package func itemKeys(listing: ListingID) throws(LarderError) -> [String] {
    var keys: [String] = []
    try read { db in
      try forEachKey(of: listing, db) { rows in keys.append(rows.text(0) ?? "") }
    }
    return keys
  }

  /// Calls `body` with the rows of ``ListingQuery/keys``.
  private func forEachKey(
    of listing: ListingID,
    _ db: Database,
    _ body: (borrowing RowReader) -> Void
  ) throws {
    guard let count = try Self.count(of: listing, db) else { return }
    let rows = try RowReader(db, ListingQuery.keys.rawValue)
    rows.restart(listing.rawValue)
    var found = 0
    while try rows.next() {
      body(rows)
      found += 1
    }
    guard found == count else { throw gone("an item", listing) }
  }

  /// Reads one version of an item as JSON; nil if the index does not have it.
  package func item(version: ItemVersion) throws(LarderError) -> [UInt8]? {
    try read { db in
      let row = try RowReader(db, "SELECT body FROM item WHERE row = ?1")
      row.restart(version.rawValue)
      return try row.next() ? row.bytes(0) : nil
    }
  }

  /// The pictures that the items of a listing refer to, in order.
  ///
  /// A picture that occurs twice is in the list twice.
  package func pictures(listing: ListingID) throws(LarderError) -> [PictureID] {
    try read { db in try pictures(of: listing, 0, Int(Int32.max), db).ids }
  }

  /// Calls `body` with the pictures that the items of a listing refer to, in order and in batches.
  ///
  /// A picture that occurs twice is passed twice.
  package func forEachPictureBatch(
    of listing: ListingID,
    _ body: ([PictureID]) throws(LarderError) -> Void
  ) throws(LarderError) {
    var first = 0
    while true {
      let (ids, items) = try read { db in
        try pictures(of: listing, first, first + Self.pictureBatch, db)
      }
      if !ids.isEmpty { try body(ids) }
      guard items == Self.pictureBatch else { return }
      first += items
    }
  }

  /// The pictures of the items between two places, and the number of these items.
  private func pictures(
    of listing: ListingID,
    _ first: Int,
    _ end: Int,
    _ db: Database
  ) throws -> (ids: [PictureID], items: Int) {
    let rows = try RowReader(db, ListingQuery.pictures.rawValue)
    rows.restart(listing.rawValue, Int64(first), Int64(end))
    var (ids, items) = ([PictureID](), 0)
    while try rows.next() {
      ids += rows.keys(0).map(PictureID.init)
      items += 1
    }
    return (ids, items)
  }

  private static let pictureBatch = 1 << 12

  /// The number of items in a listing; 0 if there is no such listing.
  ///
  /// The items themselves are not read.
  package func itemCount(listing: ListingID) throws(LarderError) -> Int {
    try read { db in try Self.count(of: listing, db) ?? 0 }
  }
}

extension ItemRecord {
  /// Reads the present row of ``ListingQuery/items``; nil if the item is missing.
  fileprivate init?(_ row: borrowing RowReader) {
    guard let key = row.text(0) else { return nil }
    self.init(key: key, body: row.bytes(1) ?? [], pictures: row.keys(2).map(PictureID.init))
  }
}

extension Index {
  /// Joins the listings of several pages to one listing.
  ///
  /// If an item is in several listings, only the first occurrence is kept, because shops move items between pages
  /// while the pages are fetched.
  ///
  /// - Parameter listings: The listings of the pages, in order.
  /// - Returns: The joined listing, and the number of items that were left out as repeats.
  /// - Throws: ``LarderError``, also if one of the listings is not in the index.
  package func joinListings(
    _ listings: [ListingID]
  ) throws(LarderError) -> (listing: ListingID, repeats: Int) {
    if let only = listings.first, listings.count == 1 { return (only, 0) }
    return try write { db in
      try db.execute(
        sql: """
          CREATE TEMP TABLE IF NOT EXISTS page(number INTEGER PRIMARY KEY, listing INTEGER NOT NULL);
          DELETE FROM temp.page;
          """
      )
      var items = 0
      for listing in listings {
        items += try end(of: listing, from: 0, count: .max, db)
        try db.execute(sql: "INSERT INTO temp.page(listing) VALUES (?)", arguments: [listing])
      }
      let joined = try ListingWriter.keep(selecting: RowReader(db, Self.firstOfPages), in: db)
      return (joined, items - (try end(of: joined, from: 0, count: .max, db)))
    }
  }

  /// The items of the listings in `page`, without those that repeat the id of an earlier one.
  private static let firstOfPages = """
    SELECT item FROM (SELECT p.number, l.place, l.item, \
    row_number() OVER (PARTITION BY i.key ORDER BY p.number, l.place) AS copy \
    FROM temp.page p CROSS JOIN listing_item l ON l.listing = p.listing CROSS JOIN item i ON i.row = l.item) \
    WHERE copy = 1 ORDER BY number, place
    """
}
