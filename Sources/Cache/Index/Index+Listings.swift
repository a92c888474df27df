import Base
import FoundationEssentials
import GRDB
import Glibc

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
}

/// A batch of consecutive items of one listing, which is an ordered list of items.
///
/// Several listings are read at the same time, so a batch says which listing it belongs to.
///
/// The bytes of all items share one allocation. Separate arrays for thousands of small items would take twice the
/// memory, and the heap would keep the memory of the arrays after another thread freed them.
package struct ListedRecords: Sendable {
  struct Item {
    let key: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer
    /// The keys of the pictures, 16 bytes each.
    let pictures: UnsafeRawBufferPointer
  }

  private struct Place {
    var start: Int
    var key: UInt32
    var body: UInt32
  }

  /// The position of the listing among the listings that are read at the same time, from 0.
  package let listing: Int
  /// The key, the body and the pictures of the first item, then those of the second item, and so on.
  private var bytes: [UInt8] = []
  private var places: [Place] = []

  /// Copies items into a batch.
  package init(listing: Int, items: [ItemRecord]) {
    self.listing = listing
    // Access the records by index, because copying a record costs more than reading it.
    let count = items.indices.reduce(0) { sum, place in
      sum + items[place].key.utf8.count + items[place].body.count
        + items[place].pictures.count * IdentityDigest.size
    }
    bytes.reserveCapacity(count)
    places.reserveCapacity(items.count)
    for place in items.indices {
      let start = bytes.count
      bytes += items[place].key.utf8
      let end = bytes.count
      bytes += items[place].body
      let body = UInt32(bytes.count - end)
      places.append(Place(start: start, key: UInt32(end - start), body: body))
      guard !items[place].pictures.isEmpty else { continue }
      bytes += IdentityDigest.pack(items[place].pictures.map(\.digest))
    }
  }

  /// The number of bytes of memory that the items take.
  package var byteCount: Int { bytes.count + places.count * MemoryLayout<Place>.stride }

  var indices: Range<Int> { places.indices }

  /// Calls `body` with the item at a position.
  ///
  /// The item's pointers are valid only during the call.
  func withItem<Result>(at place: Int, _ body: (Item) throws -> Result) rethrows -> Result {
    let own = places[place]
    let (key, end) = (own.start + Int(own.key), own.start + Int(own.key) + Int(own.body))
    let next = place + 1 < places.count ? places[place + 1].start : bytes.count
    return try bytes.withUnsafeBytes { bytes in
      try body(
        Item(
          key: UnsafeRawBufferPointer(rebasing: bytes[own.start..<key]),
          body: UnsafeRawBufferPointer(rebasing: bytes[key..<end]),
          pictures: UnsafeRawBufferPointer(rebasing: bytes[end..<next])
        )
      )
    }
  }
}

/// A row of the table `listing`, which is an ordered list of items.
///
/// The row has packed lists of the items' versions, ids and pictures, so that most queries need not read the items
/// themselves. A version is the digest of an item's JSON.
struct ListingRow {
  let digest: IdentityDigest
  /// The versions of the items, 16 bytes each.
  let items: [UInt8]
  /// The ids of the items, each followed by a zero byte.
  let keys: [UInt8]
  /// The keys of the pictures of all items, 16 bytes each.
  let pictures: [UInt8]

  /// Makes a row from packed lists.
  ///
  /// Its key is the digest of `items`.
  init(items: [UInt8], keys: [UInt8], pictures: [UInt8]) {
    digest = IdentityDigest(of: items)
    (self.items, self.keys, self.pictures) = (items, keys, pictures)
  }

  /// The id of the listing in the index that has the same items in the same order; nil if there is none.
  func number(in db: Database) throws -> ListingID? {
    try ListingID.fetchOne(
      db.cachedStatement(sql: "SELECT id FROM listing WHERE digest = ?"),
      arguments: [digest]
    )
  }

  /// Stores the listing unless the index has an equal listing, and returns its id.
  func keep(in db: Database) throws -> ListingID {
    if let known = try number(in: db) { return known }
    try db.execute(
      sql: "INSERT INTO listing(digest, items, keys, pictures) VALUES (?,?,?,?)",
      arguments: [digest, items.databaseValue, keys.databaseValue, pictures.databaseValue]
    )
    return ListingID(rawValue: db.lastInsertedRowID)
  }

  var separateKeys: [ArraySlice<UInt8>] {
    keys.split(separator: 0, omittingEmptySubsequences: false).dropLast()
  }
}

/// A listing that is being built; it takes about 40 bytes of memory for each item.
package struct ListingDraft: Sendable {
  private var items: [UInt8] = []
  private var keys: [UInt8] = []
  private var pictures: [UInt8] = []

  /// Makes an empty listing.
  package init() {}

  /// Adds items, and returns their versions.
  mutating func add(_ records: ListedRecords) -> [ItemVersion] {
    let versions = records.indices.map { place in
      records.withItem(at: place) { ItemVersion(IdentityDigest(of: $0.body)) }
    }
    items += IdentityDigest.pack(versions.map(\.digest))
    for place in records.indices {
      records.withItem(at: place) { item in
        if item.key.contains(0) { keys += item.key.filter { $0 != 0 } } else { keys += item.key }
        keys.append(0)
        pictures += item.pictures
      }
    }
    return versions
  }

  var row: ListingRow { ListingRow(items: items, keys: keys, pictures: pictures) }

  /// The ids of the items, each followed by a zero byte.
  package var ids: [UInt8] { keys }

  /// Whether the items at two positions have the same version.
  package func isSame(_ first: Int, _ second: Int) -> Bool { version(first) == version(second) }

  private func version(_ place: Int) -> ArraySlice<UInt8> {
    items[IdentityDigest.size * place..<IdentityDigest.size * (place + 1)]
  }

  /// Adds the items of another listing, except the items at the given positions.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - places: The positions of the items to leave out.
  ///   - db: The database. The pictures of the added items are read from it.
  /// - Throws: `DatabaseError` when an item cannot be read.
  mutating func append(
    _ listing: ListingRow,
    leavingOut places: Set<Int>,
    _ db: Database
  ) throws {
    guard !places.isEmpty else {
      items += listing.items
      keys += listing.keys
      pictures += listing.pictures
      return
    }
    let item = try RowReader(db, "SELECT pictures FROM item WHERE id = ?")
    let versions = listing.items.withUnsafeBytes { IdentityDigest.unpack($0) }
    for (place, key) in listing.separateKeys.enumerated() where !places.contains(place) {
      items += versions[place].bytes
      keys += key + [0]
      item.restart(versions[place])
      if try item.next() { pictures += item.bytes(0) ?? [] }
    }
  }
}

/// A listing, with its items, that is to be stored.
package struct NewListing: Sendable {
  private let row: ListingRow
  private let items: ListedRecords
  private let versions: [ItemVersion]

  /// Makes a listing of these items, in this order.
  package init(_ items: [ItemRecord]) {
    var draft = ListingDraft()
    self.items = ListedRecords(listing: 0, items: items)
    versions = draft.add(self.items)
    row = draft.row
  }

  /// Makes a listing whose items are already stored.
  package init(_ draft: ListingDraft) {
    (row, items, versions) = (draft.row, ListedRecords(listing: 0, items: []), [])
  }

  /// Stores the listing and its items, and returns its id.
  ///
  /// If the index has an equal listing, nothing is stored and the id of that listing is returned.
  func keep(in db: Database) throws -> ListingID {
    if let known = try row.number(in: db) { return known }
    try Index.insert([items], versions, db)
    return try row.keep(in: db)
  }
}

extension Index {
  /// Stores an ordered list of items, and returns its id.
  ///
  /// Lists and items that are already stored are not written again.
  package func keepListing(_ items: [ItemRecord]) throws(LarderError) -> ListingID {
    let listing = NewListing(items)
    return try write { db in try listing.keep(in: db) }
  }

  /// Stores the next items of each listing, because whole listings are too large for memory.
  ///
  /// Until a listing is stored, no listing refers to its items. If the run is killed before that, the next clean-up
  /// removes the items.
  ///
  /// - Parameters:
  ///   - parts: The next items of each listing, in order.
  ///   - pictures: The pictures of these items.
  ///   - drafts: The listings that are being built. The items are added to them.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func keep(
    _ parts: [ListedRecords],
    showing pictures: [PictureAddress] = [],
    in drafts: inout [ListingDraft]
  ) throws(LarderError) {
    var versions: [ItemVersion] = []
    for part in parts { versions += drafts[part.listing].add(part) }
    try write { db in
      try Self.name(pictures, in: db)
      try Self.insert(parts, versions, db)
    }
  }

  /// Stores a listing whose items are already stored.
  ///
  /// - Parameter draft: The listing.
  /// - Returns: The id. It is the id that the listing would have if all items had been stored at once.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func keepListing(_ draft: ListingDraft) throws(LarderError) -> ListingID {
    let listing = NewListing(draft)
    return try write { db in try listing.keep(in: db) }
  }

  /// Copies a listing without the items at some positions.
  ///
  /// All its items are already stored.
  ///
  /// - Parameters:
  ///   - draft: The listing.
  ///   - places: The positions of the items to leave out.
  /// - Returns: The shorter listing.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func draft(
    _ draft: ListingDraft,
    leavingOut places: Set<Int>
  ) throws(LarderError) -> ListingDraft {
    try read { db in
      var rest = ListingDraft()
      try rest.append(draft.row, leavingOut: places, db)
      return rest
    }
  }

  /// Inserts the given items, except the items that are in the index already.
  ///
  /// - Parameters:
  ///   - parts: The items.
  ///   - versions: The versions of the items of all parts, in the same order.
  ///   - db: The database.
  /// - Throws: `DatabaseError` when a row cannot be written.
  fileprivate static func insert(
    _ parts: [ListedRecords],
    _ versions: [ItemVersion],
    _ db: Database
  )
    throws
  {
    var row = try RowWriter(
      db,
      "INSERT OR IGNORE INTO item(id, key, body, pictures) VALUES (?,?,?,?)"
    )
    var order: [(version: IdentityDigest, part: Int32, place: Int32)] = []
    order.reserveCapacity(versions.count)
    for (part, records) in parts.enumerated() {
      for place in records.indices {
        order.append((versions[order.count].digest, Int32(part), Int32(place)))
      }
    }
    // Insert in the order of the table's index, so that many new entries share a page. Otherwise each entry would
    // touch another page, because digests are random.
    order.sort { $0.version < $1.version }
    for (version, part, place) in order {
      try parts[Int(part)].withItem(at: Int(place)) { item in
        row.bind(1, version)
        row.bind(2, utf8: item.key)
        row.bind(3, item.body)
        row.bind(4, item.pictures)
        try row.run()
      }
    }
  }

  /// The items of a listing, in order.
  package func items(listing: ListingID) throws(LarderError) -> [ItemRecord] {
    try read { db in try items(versions(of: listing, db), of: listing, db) }
  }

  /// Calls `body` with the items of a listing in order, 512 at a time.
  ///
  /// The memory does not grow with the listing. A writer can commit between two calls.
  package func forEachBatch(
    of listing: ListingID,
    _ body: ([ItemRecord]) throws(LarderError) -> Void
  ) throws(LarderError) {
    var rest = try versions(listing: listing)[...]
    while !rest.isEmpty {
      try body(items(rest.prefix(Self.batch), of: listing))
      rest = rest.dropFirst(Self.batch)
    }
  }

  private static let batch = 512

  /// Reads items of a listing by their versions, in the given order.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if an item is missing.
  package func items(
    _ versions: some Sequence<ItemVersion>,
    of listing: ListingID
  ) throws(LarderError) -> [ItemRecord] {
    try read { db in try items(versions, of: listing, db) }
  }

  private func items(
    _ versions: some Sequence<ItemVersion>,
    of listing: ListingID,
    _ db: Database
  ) throws -> [ItemRecord] {
    let row = try RowReader(db, "SELECT key, body, pictures FROM item WHERE id = ?")
    return try versions.map { version in
      row.restart(version.digest)
      guard try row.next() else {
        throw gone("an item", listing)
      }
      return ItemRecord(
        key: row.text(0) ?? "",
        body: row.bytes(1) ?? [],
        pictures: row.keys(2).map(PictureID.init)
      )
    }
  }

  /// The error for a missing part of a listing.
  private func gone(_ what: String, _ listing: ListingID) -> LarderError {
    LarderError(
      .damaged,
      "cannot read listing \(listing.rawValue) in \(path): \(what) is missing",
      remedy: .repair,
      thing: path
    )
  }

  /// Reads the versions of a listing's items, in order, without reading the items.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - first: The number of items to skip.
  ///   - count: The maximum number of versions to return.
  /// - Returns: The versions.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func versions(
    listing: ListingID,
    from first: Int = 0,
    count: Int = .max
  ) throws(LarderError) -> [ItemVersion] {
    try read { db in try versions(of: listing, from: first, count: count, db) }
  }

  private func versions(
    of listing: ListingID,
    from first: Int = 0,
    count: Int = .max,
    _ db: Database
  ) throws -> [ItemVersion] {
    guard
      let packed = try BlobReader(db, table: "listing", column: "items", row: listing.rawValue)
    else { throw gone("it", listing) }
    let size = IdentityDigest.size
    let bytes = try packed.bytes(
      from: size * first,
      count: size * min(count, Int(Int32.max) / size)
    )
    return bytes.withUnsafeBytes { IdentityDigest.unpack($0) }.map(ItemVersion.init)
  }

  /// Finds the versions of one item in a listing, without reading any item.
  ///
  /// - Parameters:
  ///   - key: The item's id.
  ///   - listing: The listing. The id can occur in it more than once.
  /// - Returns: The versions in the order of the listing; empty if the listing does not have the item.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func versions(
    of key: String,
    listing: ListingID
  ) throws(LarderError) -> [ItemVersion] {
    let wanted = key.utf8.filter { $0 != 0 } + [0]
    return try read { db in
      let row = try RowReader(db, "SELECT keys FROM listing WHERE id = ?")
      row.restart(listing.rawValue)
      guard try row.next() else { return [] }
      let places = row.withBytes(0) { PackedKeys.places(of: wanted, in: $0) }
      return try places.flatMap { try versions(of: listing, from: $0, count: 1, db) }
    }
  }

  /// The ids of a listing's items, in order, without reading the items.
  package func itemKeys(listing: ListingID) throws(LarderError) -> [String] {
    let (versions, keys) = try packedItems(listing: listing)
    return keys.split(separator: 0, omittingEmptySubsequences: false).prefix(versions.count)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The versions and ids of a listing's items, in order, without reading the items.
  ///
  /// Items with the same version are equal. Each id ends with a zero byte. Both results are empty if there is no such
  /// listing.
  package func packedItems(
    listing: ListingID
  ) throws(LarderError) -> (versions: [ItemVersion], keys: [UInt8]) {
    try read { db in
      let row = try RowReader(db, "SELECT items, keys FROM listing WHERE id = ?")
      row.restart(listing.rawValue)
      guard try row.next() else { return ([], []) }
      let versions = row.keys(0).map(ItemVersion.init)
      return (versions, row.bytes(1) ?? [])
    }
  }

  /// Reads one version of an item as JSON; nil if the index does not have it.
  package func item(version: ItemVersion) throws(LarderError) -> [UInt8]? {
    try read { db in
      try Data.fetchOne(
        db.cachedStatement(sql: "SELECT body FROM item WHERE id = ?"),
        arguments: [version]
      ).map { [UInt8]($0) }
    }
  }

  /// The pictures that the items of a listing refer to, in order.
  ///
  /// A picture that occurs twice is in the list twice.
  package func pictures(listing: ListingID) throws(LarderError) -> [PictureID] {
    try read { db in
      let row = try RowReader(db, "SELECT pictures FROM listing WHERE id = ?")
      row.restart(listing.rawValue)
      return try row.next() ? row.keys(0).map(PictureID.init) : []
    }
  }

  /// Calls `body` with the pictures that the items of a listing refer to, in order and in batches.
  ///
  /// A picture that occurs twice is passed twice.
  package func forEachPictureBatch(
    of listing: ListingID,
    _ body: ([PictureID]) throws(LarderError) -> Void
  ) throws(LarderError) {
    var start = 0
    while true {
      let (first, count) = (IdentityDigest.size * start, IdentityDigest.size * Self.pictureBatch)
      let ids = try read { db -> [PictureID] in
        guard
          let packed = try BlobReader(
            db,
            table: "listing",
            column: "pictures",
            row: listing.rawValue
          )
        else { return [] }
        return try packed.bytes(from: first, count: count)
          .withUnsafeBytes { IdentityDigest.unpack($0) }.map(PictureID.init)
      }
      if !ids.isEmpty { try body(ids) }
      guard ids.count == Self.pictureBatch else { return }
      start += ids.count
    }
  }

  private static let pictureBatch = 1 << 14

  /// The number of items in a listing.
  ///
  /// The items themselves are not read.
  package func itemCount(listing: ListingID) throws(LarderError) -> Int {
    try read { db in
      let row = try RowReader(
        db,
        "SELECT length(items) / \(IdentityDigest.size) FROM listing WHERE id = ?"
      )
      row.restart(listing.rawValue)
      return try row.next() ? Int(row.number(0)) : 0
    }
  }
}

extension Index {
  /// Joins the listings of several pages to one listing.
  ///
  /// If an item is in several listings, only the first occurrence is kept, because shops move items between pages
  /// while the pages are fetched. Each listing is read once. Items are only read if there are such repeats.
  ///
  /// - Parameter listings: The listings of the pages, in order.
  /// - Returns: The joined listing, and the number of items that were left out as repeats.
  /// - Throws: ``LarderError``, also if one of the listings is not in the index.
  package func joinListings(
    _ listings: [ListingID]
  ) throws(LarderError) -> (listing: ListingID, repeats: Int) {
    if let only = listings.first, listings.count == 1 { return (only, 0) }
    return try write { db in
      var draft = ListingDraft()
      var seen: Set<ArraySlice<UInt8>> = []
      var repeats = 0
      for listing in listings {
        let page = try row(of: listing, db)
        let keys = page.separateKeys
        let repeated = Set(keys.indices.filter { seen.contains(keys[$0]) })
        try draft.append(page, leavingOut: repeated, db)
        repeats += repeated.count
        seen.formUnion(keys)
      }
      return (try draft.row.keep(in: db), repeats)
    }
  }

  private func row(of listing: ListingID, _ db: Database) throws -> ListingRow {
    let row = try RowReader(db, "SELECT items, keys, pictures FROM listing WHERE id = ?")
    row.restart(listing.rawValue)
    guard try row.next() else { throw gone("it", listing) }
    return ListingRow(
      items: row.bytes(0) ?? [],
      keys: row.bytes(1) ?? [],
      pictures: row.bytes(2) ?? []
    )
  }
}

/// Searches a packed list of items' ids, where a zero byte follows each id.
enum PackedKeys {
  /// Finds the positions of an id in the list, from 0.
  ///
  /// This is a linear search with `memchr`, which copies nothing.
  ///
  /// - Parameters:
  ///   - wanted: The id, followed by a zero byte.
  ///   - keys: The packed list.
  /// - Returns: The positions in ascending order; empty if the list does not have the id.
  static func places(of wanted: [UInt8], in keys: UnsafeRawBufferPointer) -> [Int] {
    guard let start = keys.baseAddress else { return [] }
    var places: [Int] = []
    var (offset, place) = (0, 0)
    while offset < keys.count, let end = memchr(start + offset, 0, keys.count - offset) {
      let next = start.distance(to: UnsafeRawPointer(end)) + 1
      if next - offset == wanted.count, memcmp(start + offset, wanted, wanted.count) == 0 {
        places.append(place)
      }
      (offset, place) = (next, place + 1)
    }
    return places
  }
}
