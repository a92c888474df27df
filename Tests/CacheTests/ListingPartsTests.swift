import Base
import GRDB
import GRDBSQLite
import Support
import Testing

@testable import Cache

/// Parts of a stored listing, which are read without the rest of it.
struct ListingPartsTests {
  private let folder: TemporaryFolder
  private let index: Index

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
  }

  private func record(_ number: Int) -> ItemRecord {
    ItemRecord(key: "k\(number)", body: Array("body \(number)".utf8))
  }

  private func kept(_ count: Int) throws -> ListingID {
    try index.keepListing(
      (0..<count).map { NewItem(key: record($0).key, body: record($0).body, pictures: []) }
    )
  }

  @Test func `a slice of a listing equals the same slice of the whole`() throws {
    let listing = try kept(3000)
    let whole = (0..<3000).map(record)

    #expect(try index.items(listing: listing) == whole)
    for (first, count) in [(0, 0), (0, 1), (0, 512), (511, 2), (2999, 1), (2999, 9), (0, .max)] {
      let part = try index.items(listing: listing, from: first, count: count)
      #expect(part == Array(whole.dropFirst(first).prefix(count)), "\(count) from \(first)")
    }
    #expect(try index.items(listing: listing, from: 3000).isEmpty)
    #expect(try index.items(listing: listing, from: 9000, count: 5).isEmpty)
    #expect(try index.items(listing: kept(0)).isEmpty)
    #expect(
      try index.items(listing: listing, at: [7, 2999, 0]).map(\.key) == ["k7", "k2999", "k0"]
    )
    var batches: [[ItemRecord]] = []
    try index.forEachBatch(of: listing) { batches.append($0) }
    #expect(batches.flatMap(\.self) == whole && batches.count == 6)
  }

  @Test func `the items in the middle of a long listing are found without reading the others`()
    throws
  {
    let listing = try kept(60_000)
    let reader = try Index(reading: folder.path("cache"))
    let before = try pagesRead(reader)

    #expect(try reader.items(listing: listing, from: 30_000, count: 50).first == record(30_000))
    #expect(try reader.items(listing: listing, ids: ["k40000"]) == [record(40_000)])
    #expect(try reader.items(listing: listing, ids: ["k60000"]) == [])

    #expect(try pagesRead(reader) - before < 30)
  }

  @Test func `items come back as they were kept, whatever is empty or long in them`() throws {
    let pictures = (0..<300).map { PictureAddress("p\($0)") }
    let items = [("", 0, 0), ("b\0", 9, 2), (String(repeating: "c", count: 5000), 5000, 300)].map {
      key,
      bytes,
      count in
      let body = [UInt8](repeating: 7, count: bytes)
      return NewItem(key: key, body: body, pictures: Array(pictures.prefix(count)))
    }

    let listing = try index.keepListing(items)

    #expect(try index.items(listing: listing) == items.map(\.record))
    #expect(try index.pictures(listing: listing) == items.flatMap(\.pictures).map(\.id))
    #expect(try index.items(listing: listing, ids: items.map(\.key)) == items.map(\.record))
  }

  @Test func `an item with the id of an earlier one is left out and not stored`() throws {
    let items = ["a1", "b1", "a2", "b1", "a3", "a2"].map {
      NewItem(key: String($0.prefix(1)), body: Array($0.utf8), pictures: [])
    }
    var drafts: [ListingDraft] = []
    try index.keep([(listing: 0, items: Array(items[..<4]))], in: &drafts)
    try index.keep([(listing: 0, items: Array(items[4...]))], in: &drafts)

    let listing = try index.keepListing(drafts[0])

    #expect(try index.items(listing: listing) == items[..<2].map(\.record))
    #expect(drafts[0].repeats.map(\.place) == [2, 4, 5])
    #expect(drafts[0].repeats.map(\.id) == ["a", "a", "a"])
    #expect(try index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 2)
  }

  @Test func `a missing listing is damage, not fewer items`() throws {
    let listing = try kept(3)
    try index.write { try $0.execute(sql: "DELETE FROM listing") }

    let error = #expect(throws: LarderError.self) { _ = try index.items(listing: listing) }

    #expect(error?.code == .damaged)
    #expect(error?.description.contains("it is missing") == true)
  }

  @Test(arguments: [
    "DELETE FROM item WHERE key = 'k1'", "DELETE FROM listing_item WHERE place = 2",
    "UPDATE listing SET items = 9223372036854775807",
  ])
  func `a missing item is damage, not fewer items`(_ sql: String) throws {
    let listing = try kept(3)
    try index.write { try $0.execute(sql: sql) }

    for read in [
      { _ = try index.items(listing: listing) }, { _ = try index.itemKeys(listing: listing) },
      { try index.forEachBatch(of: listing) { _ in } },
    ] as [() throws -> Void] {
      let error = #expect(throws: LarderError.self) { try read() }
      #expect(error?.code == .damaged)
      #expect(error?.description.contains("an item is missing") == true)
    }
  }

  /// The number of pages that the connection has read from its file.
  private func pagesRead(_ index: Index) throws -> Int32 {
    try index.read { db in
      var (now, most) = (Int32(0), Int32(0))
      sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &now, &most, 0)
      return now
    }
  }
}
