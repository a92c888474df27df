import Base
import Support
import Testing

@testable import Cache

/// Joins the pages of a listing into one.
struct JoiningTests {
  private let folder: TemporaryFolder
  private let index: Index

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
  }

  private func record(_ key: String, pictures: Int = 2) -> NewItem {
    NewItem(
      key: key,
      body: Array("body of \(key) with \(pictures)".utf8),
      pictures: (0..<pictures).map { PictureAddress("https://h.example/\(key)/\($0)") }
    )
  }

  @Test func `joined pages equal the listing of all their items`() throws {
    let pages = [["a", "b"], ["c"], [], ["d", "e"]].map { $0.map { record($0) } }

    let joined = try index.joinListings(pages.map { try index.keepListing($0) })

    #expect(joined.repeats == 0)
    #expect(joined.listing == (try index.keepListing(pages.flatMap(\.self))))
    #expect(try index.items(listing: joined.listing) == pages.flatMap(\.self).map(\.record))
  }

  @Test
  func `an item of an earlier page is left out with its pictures, even if its content differs`()
    throws
  {
    let pages = [
      [record("a"), record("b")], [record("b", pictures: 5), record("c", pictures: 0)],
      [record("a"), record("d", pictures: 3)],
    ]

    let joined = try index.joinListings(pages.map { try index.keepListing($0) })

    let expected = [
      record("a"), record("b"), record("c", pictures: 0), record("d", pictures: 3),
    ]
    #expect(joined.repeats == 2 && joined.changed == ["b"])
    #expect(try index.items(listing: joined.listing) == expected.map(\.record))
    #expect(try index.itemKeys(listing: joined.listing) == expected.map(\.key))
    #expect(try index.pictures(listing: joined.listing) == expected.flatMap(\.pictures).map(\.id))
  }

  @Test func `a page whose listing is missing is damage, not fewer items`() throws {
    let page = try index.keepListing([record("a")])

    let error = #expect(throws: LarderError.self) {
      try index.joinListings([page, ListingID(rawValue: 17)])
    }

    #expect(error?.code == .damaged)
  }
}
