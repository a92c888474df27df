import Base
import GRDB
import Support
import Testing

@testable import Cache

/// The items whose details a run brings up to date, which wait in temporary tables.
struct DueDetailTests {
  private let index: Index
  private let catalog: CatalogID
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    index = try Index(CacheLayout(creating: folder.path("cache")))
    catalog = try index.catalog(named: "shop", currency: "KRW").id
    _ = try index.beginRun(catalog: catalog, at: 1)
  }

  private func listing(_ keys: String...) throws -> ListingID {
    try index.keepListing(
      keys.map { NewItem(key: $0, body: Array("\($0) in \(keys.count)".utf8), pictures: []) }
    )
  }

  private func detail(_ item: String, answered: Int64) throws {
    let document = DocumentEntry(url: item, mapping: 1, response: "3 \(answered)\n")
    let entry = DetailEntry(item: item, document: document.id, state: .held, body: [1])
    try index.store([CommittedDetail(entry, of: catalog, from: document)])
  }

  @Test(arguments: DetailQuery.allCases)
  func `no statement scans a table of the index`(_ query: DetailQuery) throws {
    let steps = try index.write { db in
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query.rawValue)")
      statement.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(statement).map { $0["detail"] as String }
    }

    // Rows of `waiting` are read in the order of its key, and all rows of `renewed` are wanted.
    let scans = steps.filter { $0.hasPrefix("SCAN ") }
    #expect(scans.allSatisfy { $0.hasPrefix("SCAN q") || $0.hasPrefix("SCAN r") }, "\(steps)")
    #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
  }

  @Test func `an item of several listings is taken once, in the order of the listings`() throws {
    let listings = [try listing("c", "a"), try listing("a", "b", "c", "d")]
    try detail("b", answered: 4)

    let counts = try listings.map { try index.wantDetails(of: $0, rankedIn: nil) }
    let first = try index.takeDetails(3, of: catalog, withItems: true)
    let rest = try index.takeDetails(3, of: catalog, withItems: false)

    #expect(counts == [2, 2])
    #expect(first.map(\.item) == ["c", "a", "b"])
    #expect(
      first.map { $0.record?.body }
        == [2, 2, 4].enumerated().map {
          Array("\(["c", "a", "b"][$0]) in \($1)".utf8)
        }
    )
    #expect(first.map { $0.known != nil } == [false, false, true])
    #expect(rest.map(\.item) == ["d"])
    #expect(rest.allSatisfy { $0.record == nil })
    #expect(try index.takeDetails(3, of: catalog, withItems: false).isEmpty)
    #expect(try index.unwanted(["d", "e", "a"]) == ["e"])
  }

  @Test func `ranked details are taken in the order of their last answers, then of their ids`()
    throws
  {
    for (item, time) in [("a", 9), ("b", 5), ("x", 7)] { try detail(item, answered: Int64(time)) }

    _ = try index.wantDetails(of: try listing("a", "b", "z", "y"), rankedIn: catalog)
    let first = try index.takeDetails(3, of: catalog, withItems: false).map(\.item)
    _ = try index.wantDetails(of: try listing("x", "w"), rankedIn: catalog)
    let rest = try index.takeDetails(9, of: catalog, withItems: false).map(\.item)

    #expect(first == ["y", "z", "b"])
    #expect(rest == ["w", "x", "a"])
  }

  @Test func `details are taken with their documents, and read again in batches`() throws {
    for item in ["a", "b", "c", "e"] { try detail(item, answered: 4) }
    let missing = DetailEntry(
      item: "b",
      document: DocumentEntry(url: "b", mapping: 1).id,
      state: .held,
      body: [1],
      pictures: nil,
      since: 9
    )
    try index.store([
      CommittedDetail(missing, of: catalog, from: DocumentEntry(url: "b", mapping: 1))
    ])

    _ = try index.wantDetails(of: try listing("c", "b", "a", "d"), rankedIn: nil)
    let taken = try index.takeDetails(9, of: catalog, withItems: false)
    var last: Int64 = 0
    let batches = try (0..<3).map { _ in
      try index.heldDetails(after: &last, of: catalog, count: 1).map(\.item)
    }

    #expect(taken.map(\.document?.url) == ["c", "b", "a", nil])
    #expect(taken.map(\.known?.document) == taken.map(\.document?.id))
    #expect(taken.map(\.known?.since) == [nil, 9, nil, nil])
    #expect(batches == [["c"], ["a"], []])
  }

  @Test func `a listing with a missing item is damaged`() throws {
    let listing = try listing("a", "b")
    try index.write { try $0.execute(sql: "DELETE FROM item WHERE key = 'b'") }

    let error = #expect(throws: LarderError.self) {
      _ = try index.wantDetails(of: listing, rankedIn: nil)
    }

    #expect(error?.code == .damaged)
  }

  @Test func `a new run begins without items of the last one`() throws {
    _ = try index.wantDetails(of: try listing("a"), rankedIn: nil)

    _ = try index.beginRun(catalog: catalog, at: 2)

    #expect(try index.takeDetails(1, of: catalog, withItems: false).isEmpty)
    #expect(try index.unwanted(["a"]) == ["a"])
  }
}
