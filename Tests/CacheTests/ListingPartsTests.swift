import Base
import GRDB
import GRDBSQLite
import Support
import Testing

@testable import Cache

/// Slices of a stored listing, which are read without the rest of it.
struct ListingPartsTests {
  private let folder: TemporaryFolder
  private let index: Index

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
  }

  private func kept(_ count: Int) throws -> ListingID {
    try index.keepListing(
      (0..<count).map { ItemRecord(key: "k\($0)", body: Array("body \($0)".utf8), pictures: []) }
    )
  }

  @Test func `a slice of a listing equals the same slice of the whole`() throws {
    let listing = try kept(3000)
    let whole = try index.packedItems(listing: listing).versions

    #expect(try index.versions(listing: listing) == whole)
    for (first, count) in [(0, 0), (0, 1), (0, 512), (511, 2), (2999, 1), (2999, 9), (0, .max)] {
      let part = try index.versions(listing: listing, from: first, count: count)
      #expect(part == Array(whole.dropFirst(first).prefix(count)), "\(count) from \(first)")
    }
    #expect(try index.versions(listing: listing, from: 3000).isEmpty)
    #expect(try index.versions(listing: listing, from: 9000, count: 5).isEmpty)
    #expect(try index.versions(listing: kept(0)).isEmpty)
  }

  @Test func `the first items of a million are found without reading the whole listing`() throws {
    let listing = try kept(1)
    try index.write { try $0.execute(sql: "UPDATE listing SET items = randomblob(8000000)") }
    let reader = try Index(reading: folder.path("cache"))
    let before = try pagesRead(reader)

    #expect(try reader.versions(listing: listing, count: 512).count == 512)

    #expect(try pagesRead(reader) - before < 20)
  }

  @Test func `items come back as they were kept, whatever is empty or long in them`() throws {
    let pictures = (0..<300).map { PictureID(IdentityDigest(high: 1, low: $0)) }
    let items = [("a", 0, 0), ("b", 9, 2), (String(repeating: "c", count: 5000), 5000, 300)].map {
      key,
      bytes,
      count in
      let body = [UInt8](repeating: 7, count: bytes)
      return ItemRecord(key: key, body: body, pictures: Array(pictures.prefix(count)))
    }

    #expect(try index.items(listing: index.keepListing(items)) == items)
  }

  @Test func `a missing listing is damage, not fewer items`() throws {
    let listing = try kept(3)
    try index.write { try $0.execute(sql: "DELETE FROM listing") }

    let error = #expect(throws: LarderError.self) { _ = try index.versions(listing: listing) }

    #expect(error?.code == .damaged)
    #expect(error?.description.contains("it is missing") == true)
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
