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
    var document = DocumentEntry(url: item, mapping: 1)
    document.response = "3 \(answered)\n"
    let body = Array(item.utf8)
    let entry = DetailEntry(item: item, document: document.id, state: .held, body: body)
    try index.store([CommittedDetail(entry, of: catalog, from: document)])
  }

  @Test(arguments: DetailQuery.allCases)
  func `no statement scans a table of the index`(_ query: DetailQuery) throws {
    _ = try due()
    let steps = try index.write { db in
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query.rawValue)")
      statement.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(statement).map { $0["detail"] as String }
    }

    // Rows of `waiting` and `aside` are read in the order of their keys, and all rows of `renewed` are wanted.
    let scans = steps.filter { $0.hasPrefix("SCAN ") }
    #expect(scans.allSatisfy { $0.hasPrefix("SCAN q") || $0.hasPrefix("SCAN r") }, "\(steps)")
    #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
  }

  private func due(readsItems: Bool = false) throws -> DueDetails {
    try DueDetails(index, of: catalog, readsItems: readsItems)
  }

  /// The time of the answer for a detail.
  private func answered(_ detail: SeenDetail) -> UnixTime {
    UnixTime(detail.document?.response.flatMap { Int64($0.dropFirst(2).dropLast()) } ?? 0)
  }

  @Test(arguments: [true, false])
  func `an item of several listings is taken once, in the order of the listings`(reads: Bool)
    throws
  {
    let listings = [try listing("c", "a"), try listing("a", "b", "c", "d")]
    try detail("b", answered: 4)
    let due = try due(readsItems: reads)

    var seen: [SeenDetail] = []
    let counts = try listings.map { listing in
      try due.see(listing) {
        seen.append($0)
        return 0
      }
    }
    let first = try due.take(3)
    let rest = try due.take(3)

    #expect(counts.map(\.total) == [2, 2])
    #expect(counts.map(\.due) == [2, 2])
    #expect(seen.map(\.item) == ["c", "a", "b", "d"])
    let bodies = zip(["c", "a", "b"], [2, 2, 4]).map { Array("\($0) in \($1)".utf8) }
    #expect(seen.prefix(3).compactMap(\.record?.body) == (reads ? bodies : []))
    #expect(first.map(\.item) == ["c", "a", "b"])
    #expect(first.compactMap(\.record?.body) == (reads ? bodies : []))
    #expect(first.map { $0.known != nil } == [false, false, true])
    #expect(first.map { $0.row != nil } == [false, false, true])
    #expect(rest.map(\.item) == ["d"])
    #expect(try due.take(3).isEmpty)
    #expect(try due.unwanted(["d", "e", "a"]) == ["e"])
  }

  @Test func `an item that got its first row since it was seen is not seen again`() throws {
    let due = try due()
    _ = try due.see(try listing("a")) { _ in 0 }
    try detail("a", answered: 4)

    let counts = try due.see(try listing("b", "a")) { _ in nil }

    #expect(counts == (1, 0))
  }

  @Test func `a detail that needs nothing does not wait, and is seen once`() throws {
    for item in ["a", "b", "c"] { try detail(item, answered: 4) }
    let due = try due()

    let counts = try [try listing("a", "b", "c"), try listing("b", "d")].map { listing in
      try due.see(listing) { ["a", "b"].contains($0.item) ? nil : 0 }
    }

    #expect(counts.map(\.total) == [3, 1])
    #expect(counts.map(\.due) == [1, 1])
    #expect(try due.take(9).map(\.item) == ["c", "d"])
  }

  @Test func `what decides about a detail is read without its body`() throws {
    let document = DocumentEntry(url: "u", mapping: 1)
    let body = #"{"lost":[{"field":"prices"}]}"#
    let states: [(String, DetailEntry.State, String?, UnixTime?)] = [
      ("a", .held, body, nil), ("b", .held, "{}", 9), ("c", .missing, nil, nil),
    ]
    try index.store(
      states.map { item, state, body, since in
        let body = body.map { Array($0.utf8) }
        let entry = DetailEntry(
          item: item,
          document: document.id,
          state: state,
          body: body,
          since: since
        )
        return CommittedDetail(entry, of: catalog, from: document)
      }
    )

    var seen: [SeenDetail] = []
    _ = try due().see(try listing("a", "b", "c", "d")) {
      seen.append($0)
      return nil
    }

    #expect(seen.map(\.known?.state) == [.held, .held, .missing, nil])
    #expect(seen.map(\.known?.since) == [nil, 9, nil, nil])
    #expect(seen.map(\.known?.hasBody) == [true, true, false, nil])
    #expect(seen.map(\.known?.hasLost) == [true, false, false, nil])
    #expect(seen.map(\.known?.isCurrent) == [true, false, false, nil])
    #expect(seen.map(\.document) == [document, document, document, nil])
  }

  @Test func `details are taken in the order of their last answers, then of their listings`()
    throws
  {
    for (item, time) in [("a", 9), ("b", 5), ("x", 7)] { try detail(item, answered: Int64(time)) }
    let due = try due()

    _ = try due.see(try listing("a", "b", "z", "y"), answered)
    let first = try due.take(3).map(\.item)
    _ = try due.see(try listing("x", "w"), answered)
    let rest = try due.take(9).map(\.item)

    #expect(first == ["z", "y", "b"])
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
    let due = try due()

    _ = try due.see(try listing("c", "b", "a", "d")) { _ in 0 }
    let taken = try due.take(9)
    var last = ""
    let batches = try (0..<3).map { _ in try due.held(after: &last, count: 1) }

    #expect(taken.map(\.document?.url) == ["c", "b", "a", nil])
    #expect(taken.map(\.known?.document) == taken.map(\.document?.id))
    #expect(taken.map(\.known?.since) == [nil, 9, nil, nil])
    #expect(batches == [[Array("a".utf8)], [Array("c".utf8)], []])
  }

  @Test func `details that are set aside keep their rows, and are taken once`() throws {
    for item in ["a", "b", "c"] { try detail(item, answered: 4) }
    let due = try due()
    _ = try due.see(try listing("c", "b", "a")) { _ in nil }
    let document = DocumentEntry(url: "b", mapping: 1).id
    func new(_ item: String) -> DetailEntry {
      DetailEntry(item: item, document: document, state: .held, body: [9], pictures: nil)
    }

    try due.setAside("c", for: new("c"))
    try due.setAside("a")
    try due.setAside("b", for: new("b"))
    var last = ""
    let held = try due.held(after: &last, count: 9)
    let rows = try due.asideRows()
    let taken = try (0..<3).map { _ in try due.takeAside(1) }

    #expect(held.isEmpty && rows.count == 2)
    #expect(taken == [[new("c")], [new("b")], []])
    #expect(try due.asideRows().isEmpty)
    let details = try index.details(catalog: catalog, items: ["a", "b", "c"]).values
    #expect(Set(details.map { $0.body ?? [] }) == [[97], [98], [99]])
    #expect(try self.due().asideRows().isEmpty)
  }

  @Test func `a listing with a missing item is damaged`() throws {
    let listing = try listing("a", "b")
    let due = try due()
    try index.write { try $0.execute(sql: "DELETE FROM item WHERE key = 'b'") }

    let error = #expect(throws: LarderError.self) { _ = try due.see(listing) { _ in 0 } }

    #expect(error?.code == .damaged)
    #expect(try due.take(1).isEmpty)
  }

  @Test func `a new run begins without items of the last one`() throws {
    _ = try due().see(try listing("a")) { _ in 0 }

    let due = try due()

    #expect(try due.take(1).isEmpty)
    #expect(try due.unwanted(["a"]) == ["a"])
  }
}
