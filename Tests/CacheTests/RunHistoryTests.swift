import GRDB
import GRDBSQLite
import Support
import Testing

@testable import Cache

/// The runs that are recorded in the index.
struct RunHistoryTests {
  /// A cache keeps months of runs, each with its report; a cron job may add one every ten minutes.
  @Test func `starting a run reads as much of the index after 400 runs as after 20`() throws {
    let few = try pagesRead(toBeginAfter: 20)
    let many = try pagesRead(toBeginAfter: 400)

    // Allow one more page for each table, because its B-tree may have another level.
    #expect(many <= few + 8, "\(few) pages, then \(many)")
  }

  @Test func `a killed run is reported until the next run has cleaned up`() throws {
    let folder = try TemporaryFolder()
    let killed = try CacheOnDisk(folder)

    #expect(try killed.index.wasKilled())

    let next = try CacheOnDisk(folder)
    try end(next.run, in: next.index)

    #expect(try !next.index.wasKilled())
    #expect(
      try next.index.runs(catalog: try catalog(next.index)).map(\.outcome)
        == ["complete", "interrupted"]
    )
  }

  /// A picture that is permanently gone makes every run partial for months.
  @Test func `the last complete run is found behind many others`() throws {
    let folder = try TemporaryFolder()
    let first = try CacheOnDisk(folder)
    try end(first.run, in: first.index)
    try fill(first.index, with: 300, outcome: "partial")
    let index = try CacheOnDisk(folder).index

    #expect(try index.lastComplete(catalog: try catalog(index)) == 2)
  }

  @Test func `a run is found by its number only if it ended and belongs to the catalog`() throws {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let (index, shop) = (cache.index, try catalog(cache.index))
    let other = try index.catalog(named: "other", currency: "KRW").id

    #expect(try index.finishedRun(cache.run, catalog: shop) == nil)
    try end(cache.run, in: index)
    #expect(try index.finishedRun(cache.run, catalog: shop)?.finished == 2)
    #expect(try index.finishedRun(cache.run, catalog: other) == nil)
  }

  /// The number of pages of the index that the start of a run reads from disk, after `runs` earlier runs.
  private func pagesRead(toBeginAfter runs: Int) throws -> Int32 {
    let folder = try TemporaryFolder()
    let first = try CacheOnDisk(folder)
    try end(first.run, in: first.index)
    try fill(first.index, with: runs)

    let cache = try CacheOnDisk(folder)
    let last = try #require(try cache.index.lastRun(catalog: try catalog(cache.index)))
    #expect(try cache.index.sections(run: last.id).count == 2)

    return try pagesRead(by: cache.index)
  }

  private func pagesRead(by index: Index) throws -> Int32 {
    try index.read { db in
      var (pages, most): (Int32, Int32) = (0, 0)
      sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &pages, &most, 0)
      return pages
    }
  }

  private func fill(_ index: Index, with runs: Int, outcome: String = "complete") throws {
    let shop = try catalog(index)
    for _ in 0..<runs {
      try end(try index.beginRun(catalog: shop, at: 1), in: index, outcome: outcome)
    }
  }

  private func end(_ run: RunID, in index: Index, outcome: String = "complete") throws {
    let sections = ["main", "soup"].map {
      RunSection(key: $0, title: $0, subtitle: nil, listing: nil, source: "unchanged")
    }
    let report = [UInt8](repeating: 0x20, count: 2_300)
    try index.endRun(run, at: 2, outcome: outcome, report: report, sections: sections)
  }

  private func catalog(_ index: Index) throws -> CatalogID {
    try index.catalog(named: "shop", currency: "KRW").id
  }
}
