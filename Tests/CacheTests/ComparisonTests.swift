import Base
import GRDB
import Support
import Testing

@testable import Cache

/// Comparisons of two listings, and listings made of two.
struct ComparisonTests {
  private let folder: TemporaryFolder
  private let index: Index

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
  }

  /// A listing with an item for each letter; a capital letter is another version of the item.
  private func listing(_ letters: String) throws -> ListingID {
    try index.keepListing(
      letters.map {
        NewItem(key: $0.lowercased(), body: Array("body \($0)".utf8), pictures: [])
      }
    )
  }

  private func letters(of listing: ListingID) throws -> String {
    try index.items(listing: listing).map { String(decoding: $0.body.suffix(1), as: UTF8.self) }
      .joined()
  }

  @Test(
    arguments: [
      ("", "", "", ""), ("abc", "abc", "", ""), ("abc", "cab", "", ""), ("abc", "", "abc", "abc"),
      ("", "abc", "", ""), ("abcd", "dBx", "abc", "ac"), ("Abc", "abd", "Ac", "c"),
    ]
  )
  func `the items that another listing lacks, or has in another version, are found in order`(
    _ one: String,
    _ other: String,
    _ differences: String,
    _ vanished: String
  ) throws {
    let (first, second) = (try listing(one), try listing(other))
    var found: [ListingDifference] = []

    try index.forEachDifference(of: first, from: second) { found.append($0) }

    #expect(found.map(\.id).joined() == differences.lowercased())
    #expect(try index.vanished(from: first, in: second).joined() == vanished)
    for difference in found {
      let bodies = try [difference.version, difference.other].map { version in
        try version.flatMap { try index.item(version: $0) }.map {
          String(decoding: $0, as: UTF8.self).suffix(1)
        }
      }
      #expect(one.contains(try #require(bodies[0])))
      #expect(bodies[1].map { other.contains($0) } ?? !other.lowercased().contains(difference.id))
    }
  }

  @Test func `without another listing all items differ, and a lost item is damage`() throws {
    let listing = try listing("abc")
    var found: [String] = []

    try index.forEachDifference(of: listing, from: nil) { found.append($0.id) }
    try index.write { try $0.execute(sql: "DELETE FROM item WHERE key = 'b'") }

    #expect(found == ["a", "b", "c"])
    #expect(throws: LarderError.self) {
      try index.forEachDifference(of: listing, from: nil) { _ in }
    }
  }

  @Test(arguments: [("", 0), ("a", 0), ("abz", 1), ("xzyz", 3), ("é", 1)])
  func `ids that no listing has are counted`(_ ids: String, _ count: Int) throws {
    let listings = [try listing("abc"), try listing("dBx"), try listing("")]

    let unlisted = try index.unlistedCount(of: ids.map(String.init), in: listings)

    #expect(unlisted == count)
    #expect(try index.unlistedCount(of: ids.map(String.init), in: []) == ids.count)
  }

  @Test func `long listings are compared in parts`() throws {
    func record(_ number: Int) -> NewItem {
      NewItem(key: "k\(number)", body: Array("body \(number)".utf8), pictures: [])
    }
    let all = try index.keepListing((0..<40_000).map(record))
    let some = try index.keepListing((0..<40_000).filter { $0 % 1000 != 7 }.map(record))

    let vanished = try index.vanished(from: all, in: some)

    #expect(vanished == (0..<40).map { "k\($0 * 1000 + 7)" })
    #expect(try index.vanished(from: some, in: all).isEmpty)
  }

  @Test(
    arguments: [
      // The older listing, the newer one, the kept items (nil for all), and the union.
      ("abcdefghijkl", "lndc", nil, "ablndefghijkc"), ("abcdef", "aCfg", "bde", "abCdefg"),
      ("abc", "", "abc", "abc"), ("abc", "", nil, "abc"), ("", "xy", nil, "xy"),
      ("abc", "xb", "c", "xbc"), ("ab", "ba", nil, "ba"), ("abc", "abc", "b", "abc"),
      ("Abc", "aB", "abc", "aBc"), ("abc", "x", "", "x"),
    ] as [(String, String, String?, String)]
  )
  func `a kept item follows the item that it followed before`(
    _ old: String,
    _ new: String,
    _ kept: String?,
    _ expected: String
  ) throws {
    let (first, second) = (try listing(old), try listing(new))

    let union = try index.union(
      of: second,
      and: first,
      keeping: kept.map { $0.map(String.init) }
    )

    #expect(try letters(of: union) == expected)
    #expect(union == (try listing(expected)))
  }

  @Test func `ids with quotes, brackets and every plane of Unicode are kept`() throws {
    let ids = ["a\"b", "[1]", "\\u0041", "김", "e\u{301}", "é", "😀", "'; DROP TABLE item; --"]
    let records = ids.map { NewItem(key: $0, body: Array($0.utf8), pictures: []) }
    let old = try index.keepListing(records + [NewItem(key: "z", body: [1], pictures: [])])

    let union = try index.union(of: index.keepListing([]), and: old, keeping: ids)

    #expect(try index.items(listing: union) == records.map(\.record))
  }

  @Test(arguments: ComparisonQuery.allCases)
  func `no comparison scans a table`(_ query: ComparisonQuery) throws {
    let steps = try index.read { db in
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query.rawValue)")
      statement.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(statement).map { $0["detail"] as String }
    }

    #expect(!steps.isEmpty)
    let tables = ["item", "listing", "listing_item", "i", "l", "n", "v"]
    for step in steps where step.hasPrefix("SCAN ") {
      #expect(!tables.contains(String(step.split(separator: " ")[1])), "\(steps)")
    }
  }
}
