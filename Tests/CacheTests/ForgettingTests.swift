import GRDB
import Support
import Testing

@testable import Cache

/// Checks the query plans of the statements that remove old rows from the index.
struct ForgettingTests {
  /// One step of a query plan, as printed by `EXPLAIN QUERY PLAN`.
  private struct Step: Decodable, FetchableRecord {
    let id: Int
    let parent: Int
    let detail: String

    var isScan: Bool { detail.hasPrefix("SCAN ") }
    var isRepeated: Bool { detail.hasPrefix("CORRELATED ") }
  }

  private func plan(_ query: ForgettingQuery, _ index: Index) throws -> [Step] {
    try index.write { db in
      try db.execute(sql: ForgettingQuery.temporaryTables)
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query.rawValue)")
      statement.setUncheckedArguments(StatementArguments())
      return try Step.fetchAll(statement)
    }
  }

  @Test(arguments: ForgettingQuery.allCases)
  func `no statement scans one table for each row of another`(_ query: ForgettingQuery) throws {
    let folder = try TemporaryFolder()
    let plan = try plan(query, Index(CacheLayout(creating: folder.path("cache"))))

    #expect(!plan.isEmpty)
    for step in plan where step.isScan {
      var parent = step.parent
      while let above = plan.first(where: { $0.id == parent }) {
        #expect(!above.isRepeated, "\(query): \(step.detail)")
        parent = above.parent
      }
      let beside = plan.filter { $0.parent == step.parent && $0.isScan }
      #expect(beside.count == 1, "\(query): \(beside.map(\.detail))")
    }
  }

  @Test(arguments: [
    ForgettingQuery.run, .catalog, .addresses, .runsOfCatalog,
    .detailsOfCatalog, .tombstones, .lastHistoryRun, .replacedHistory, .goneHistory,
    .listedHistory,
  ])
  func `rows selected by key are found by an index`(_ query: ForgettingQuery) throws {
    let folder = try TemporaryFolder()
    let plan = try plan(query, Index(CacheLayout(creating: folder.path("cache"))))

    #expect(plan.first?.detail.hasPrefix("SEARCH ") == true, "\(plan.map(\.detail))")
  }
}
