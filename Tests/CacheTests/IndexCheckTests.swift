import GRDB
import Support
import Testing

@testable import Cache

/// Damage that SQLite itself does not detect: values that larder cannot have written.
struct IndexCheckTests {
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

  private func isDamaged(_ listing: ListingID, slice: Int64? = nil) throws -> Bool {
    do {
      try index.checkListings([listing], slice: slice)
      return false
    } catch {
      #expect(error.code == .damaged)
      return true
    }
  }

  @Test(arguments: [
    "UPDATE item SET body = 'other' WHERE key = 'k1'", "DELETE FROM item WHERE key = 'k1'",
    "UPDATE item SET digest = randomblob(16)", "UPDATE listing SET items = 2",
    "UPDATE listing SET digest = NULL", "DELETE FROM listing_item WHERE place = 1",
    "UPDATE listing_item SET place = place + 1 WHERE place = 2",
    "UPDATE listing_item SET item = 9 WHERE place = 0", "DELETE FROM listing",
  ])
  func `a value that larder cannot have written is found`(_ sql: String) throws {
    let listing = try kept(3)
    #expect(try !isDamaged(listing))

    try index.write { try $0.execute(sql: sql) }

    #expect(try isDamaged(listing))
  }

  @Test func `each run checks one slice of a long listing, and all slices together cover it`()
    throws
  {
    let listing = try kept(Index.checkedAtOnce + 9)
    let late = "k\(Index.checkedAtOnce + 4)"
    try index.write { try $0.execute(sql: "DELETE FROM item WHERE key = '\(late)'") }

    let found = try (0..<4).map { try isDamaged(listing, slice: $0) }

    #expect(found == [false, true, false, true])
    #expect(try isDamaged(listing))
  }
}
