import Base
import Cache
import Catalog
import SampleStore
import Support
import Testing

@testable import Pipeline

/// New header fields of unchanged documents are written together, and never overwrite newer data.
struct RenewedDocumentsTests {
  @Test func `a second sync of many sections needs hardly more transactions than one of few`()
    throws
  {
    let few = try transactions(sections: 2)
    let many = try transactions(sections: 20)

    #expect(many - few < 10, "\(few), \(many)")
  }

  @Test func `a document that was renewed and then read again is stored in its last form`() throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {parameter: page}"
    )
    try serve([["1", "2"], ["3"]], shop)
    for page in [0, 1] {
      let age = page == 0 ? 600 : 60
      shop.store.faults[page].effects.append(.header("Cache-Control", "max-age=\(age)"))
    }
    var due = SyncOptions()
    due.onlyDue = true
    _ = try shop.sync(folder, catalog, options: due)

    // The first page is fresh and unchanged. The second page, which is stale, shows that an item moved.
    try serve([["0", "1"], ["2", "3"]], shop)
    shop.clock.advance(120)
    _ = try shop.sync(folder, catalog, options: due)
    shop.store.clearRequests()
    _ = try shop.sync(folder, catalog)

    #expect(shop.store.requests.map(\.query) == ["page=1", "page=2", "page=3"])
    #expect(shop.store.requests.map(\.status) == [304, 304, 304])
  }

  @Test func `renewals wait for the end of the run, and do not replace rows of newer bodies`()
    throws
  {
    let folder = try TemporaryFolder()
    let index = try Index(CacheLayout(creating: folder.path("cache")))
    let catalog = try index.catalog(named: "shop", currency: "KRW").id
    let run = try index.beginRun(catalog: catalog, at: 1)
    func document(_ name: String, _ digest: Int64, _ expiry: Int64) -> DocumentEntry {
      var document = DocumentEntry(url: name, mapping: 1)
      (document.expiry, document.digest) = (UnixTime(expiry), digest)
      return document
    }
    for name in ["a", "b"] { _ = try index.store(document(name, 1, 5), new: []) }

    for name in ["a", "b"] { try index.renew(document(name, 1, 9)) }
    _ = try index.store(document("b", 2, 7), new: [])
    #expect(try index.document("a") == document("a", 1, 5))
    try index.endRun(run, at: 2, outcome: "complete", report: [], sections: [])

    #expect(try index.document("a") == document("a", 1, 9))
    #expect(try index.document("b") == document("b", 2, 7))
  }

  /// The number of write transactions in a second sync of unchanged sections.
  private func transactions(sections: Int) throws -> Int {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: sections, items: 1)
    let catalog = try shop.catalog(detail: false)
    _ = try shop.sync(folder, catalog)
    let before = try changes(folder)
    let report = try shop.sync(folder, catalog)
    #expect(report.sections.count == sections)
    #expect(report.sections.allSatisfy { $0.source == .unchanged })
    return try changes(folder) - before
  }

  /// SQLite's transaction counter in the file header. (https://sqlite.org/fileformat.html, section
  /// 1.3.7)
  private func changes(_ folder: TemporaryFolder) throws -> Int {
    try folder.read("cache/index.sqlite")[24..<28].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Serves pages at `A?page=1` and so on.
  ///
  /// All further pages are empty.
  private func serve(_ pages: [[String]], _ shop: SampleShop) throws {
    func list(_ ids: [String]) throws -> String {
      try SampleShop.json(["body": ids.map { ["detail_hash": $0, "title": "Dish \($0)"] }])
    }
    shop.store.faults = try pages.enumerated().map { number, ids in
      FaultRule("/shop/A", query: "page=\(number + 1)", .body(Array(try list(ids).utf8)))
    }
    shop.put(try list([]), at: "/shop/A")
  }
}
