import Base
import Support
import Testing

@testable import Cache
@testable import Pipeline

/// `ItemWriter`, which writes the items of listings to the index in batches.
struct ItemWriterTests {
  private let folder: TemporaryFolder
  private let index: Index

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
  }

  private static func window(_ keys: Range<Int>) -> [NewItem] {
    keys.map {
      NewItem(
        key: "\($0)",
        body: Array("body of \($0)".utf8),
        pictures: [PictureAddress("7")]
      )
    }
  }

  @Test(
    "Items keep the order in which they were added, whichever transaction writes them",
    arguments: [1, 500, .max]
  )
  func order(batch: Int) throws {
    let lane = ItemWriter(index, batch: batch)
    for first in stride(from: 0, to: 900, by: 100) {
      try lane.add(Self.window(first..<first + 100))
    }
    let listing = try index.keepListing(lane.finish()[0])

    #expect(try index.items(listing: listing) == Self.window(0..<900).map(\.record))
    #expect(try index.keepListing(Self.window(0..<900)) == listing)
  }

  @Test("Items are written to the listings to which they were added", arguments: [1, 500, .max])
  func listings(batch: Int) throws {
    let lane = ItemWriter(index, batch: batch)
    let parts = [(0, 0..<90), (1, 90..<90), (2, 90..<300), (2, 300..<310), (3, 20..<40)]
    for (listing, keys) in parts { try lane.add(Self.window(keys), to: listing) }

    let listings = try lane.finish().map { try index.keepListing($0) }

    let items = try listings.map { try index.items(listing: $0) }
    #expect(items == [0..<90, 90..<90, 90..<310, 20..<40].map { Self.window($0).map(\.record) })
  }

  @Test("After the index refuses an item nothing more is written, and adding and finishing fail")
  func refused() throws {
    try index.write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER refuse BEFORE INSERT ON item WHEN NEW.key = '150'
          BEGIN SELECT RAISE(FAIL, 'refused here'); END
          """
      )
    }
    let lane = ItemWriter(index, batch: 1)
    try lane.add(Self.window(0..<100))
    var told = 0
    for first in stride(from: 100, to: 2100, by: 100) {
      do throws(LarderError) {
        try lane.add(Self.window(first..<first + 100))
      } catch {
        #expect(error.description.contains("refused here"))
        told += 1
      }
    }

    // The first error is known after as many windows as the writer queues at once, or earlier.
    #expect(told >= 9)
    #expect(throws: LarderError.self) { try lane.finish() }
    let count = try index.read { db in
      let rows = try RowStatement(db, "SELECT count(*) FROM item")
      return try rows.next() ? rows.number(0) : 0
    }
    #expect(count == 100)
  }

  @Test func `a transaction's size counts all that items hold in memory`() {
    let pictures = (0..<100).map { PictureAddress("\($0)") }
    let item = NewItem(
      key: String(repeating: "k", count: 1000),
      body: [1, 2, 3],
      pictures: pictures
    )

    #expect(item.byteCount > 1000 + 3 + 100 * 16)
  }
}
