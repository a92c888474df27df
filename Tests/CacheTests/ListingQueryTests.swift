import GRDB
import Support
import Testing

@testable import Cache

/// Checks the query plans of the statements that read and write listings.
struct ListingQueryTests {
  @Test(arguments: ListingQuery.allCases)
  func `no statement scans a table, or sorts a listing`(_ query: ListingQuery) throws {
    let folder = try TemporaryFolder()
    let index = try Index(CacheLayout(creating: folder.path("cache")))
    try index.notePage([], of: 0, isFirst: true)

    let steps = try index.write { db in
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query.rawValue)")
      statement.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(statement).map { $0["detail"] as String }
    }

    for step in steps { #expect(!step.hasPrefix("SCAN "), "\(steps)") }
    // These find a few rows, in another order.
    let few: [ListingQuery] = [.itemsOfKey, .itemsShowing, .detailsShowing]
    #expect(few.contains(query) || !steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
  }
}
