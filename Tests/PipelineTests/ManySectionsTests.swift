import Cache
import Catalog
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Catalog files with several URLs, some of which return many sections in one response.
struct ManySectionsTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 3)
  }

  /// Publishes a response with sections of the given numbers of items, by key.
  private func put(_ sections: KeyValuePairs<String, Int>, at path: String) {
    let texts = sections.map { key, count in
      let items = (0..<count).map { "{\"id\": \"\(key)\($0)\", \"title\": \"dish\"}" }
      return "{\"key\": \"\(key)\", \"name\": \"Menu \(key)\", \"items\": ["
        + items.joined(separator: ",") + "]}"
    }
    shop.put("{\"menus\": [\(texts.joined(separator: ","))]}", at: path)
  }

  private static let menus = "each: \"$.menus[*]\", key: $.key, title: $.name"

  private func catalog(_ more: String = "", _ rest: String = "") throws -> CatalogFile {
    try shop.catalog(
      sections: "[{url: one, \(Self.menus), items: $.items}, {key: A, url: A}\(more)]",
      detail: false,
      rest
    )
  }

  private func lines(_ report: SyncReport) -> [String] {
    report.sections.map { "\($0.key) \($0.items) \($0.source)" }
  }

  @Test func `a listed source may give many sections, at its place among the others`() throws {
    put(["x": 2, "y": 1], at: "/shop/one")
    put(["z": 1], at: "/shop/two")
    let catalog = try catalog(", {url: two, \(Self.menus), items: $.items}")

    let report = try shop.sync(folder, catalog)
    shop.store.clearRequests()
    let again = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete && again.outcome == .complete)
    #expect(lines(report) == ["x 2 network", "y 1 network", "A 3 network", "z 1 network"])
    #expect(report.sections.map(\.title).filter { $0.hasPrefix("Menu") }.count == 3)
    #expect(lines(again) == ["x 2 unchanged", "y 1 unchanged", "A 3 unchanged", "z 1 unchanged"])
    #expect(shop.store.requests.count { $0.status == 304 && $0.path.hasPrefix("/shop") } == 3)
    #expect(again.items.added.isEmpty && again.items.removed.isEmpty)
  }

  @Test func `pages of combined sections are joined section by section`() throws {
    for (page, body) in [
      #"{"menus": [{"key": "x", "items": [{"id": 1, "title": "t"}]}]}"#,
      #"{"menus": [{"key": "x", "items": [{"id": 2, "title": "t"}]}, {"key": "y", "items": []}]}"#,
      #"{"menus": []}"#,
    ].enumerated() {
      let rule = FaultRule("/shop/one", query: "page=\(page + 1)", .body(Array(body.utf8)))
      shop.store.faults.append(rule)
    }
    let paged = "{url: one, \(Self.menus), items: $.items, paging: {page: page}}"
    let catalog = try shop.catalog(sections: "[\(paged), {key: A, url: A}]", detail: false)

    let report = try shop.sync(folder, catalog)

    #expect(lines(report) == ["x 2 network", "y 0 network", "A 3 network"])
  }

  @Test func `a key that is already used by the file or an earlier source is refused and named`()
    throws
  {
    put(["A": 5, "x": 2], at: "/shop/one")
    put(["x": 4, "y": 1], at: "/shop/two")

    let report = try shop.sync(
      folder,
      catalog(", {url: two, \(Self.menus), items: $.items}")
    )

    #expect(report.outcome == .partial)
    #expect(lines(report) == ["x 2 network", "A 3 network", "y 1 network"])
    #expect(Set(report.failures.map(\.id)) == ["A", "x"])
    #expect(
      report.failures.allSatisfy {
        $0.detail?.contains("already has a section with this key") == true
      }
    )
  }

  @Test
  func `sections that share a key in one response are rejected, and the last good one is kept`()
    throws
  {
    put(["x": 2, "y": 1, "z": 3], at: "/shop/one")
    _ = try shop.sync(folder, catalog())
    put(["x": 5, "y": 1, "x": 3], at: "/shop/one")

    let broken = try shop.sync(folder, catalog())
    put(["x": 2, "y": 1, "z": 3], at: "/shop/one")
    let mended = try shop.sync(folder, catalog())

    #expect(broken.outcome == .partial)
    #expect(lines(broken) == ["x 2 stale", "y 1 network", "z 3 withheld", "A 3 unchanged"])
    #expect(broken.failures.map(\.id) == ["x"])
    #expect(broken.failures.first?.detail?.contains("another section has the same key") == true)
    #expect(mended.outcome == .complete && mended.items.removed.isEmpty)
  }

  @Test func `a section that its source suddenly lacks is kept, in every run`() throws {
    put(["x": 2, "y": 12], at: "/shop/one")
    _ = try shop.sync(folder, catalog())
    put(["x": 2], at: "/shop/one")

    for _ in 1...2 {
      let report = try shop.sync(folder, catalog())
      #expect(report.outcome == .withheld)
      #expect(report.sections.map(\.key) == ["x", "y", "A"])
    }
    var options = SyncOptions()
    options.allowRemovals = true
    let report = try shop.sync(folder, catalog(), options: options)
    #expect(report.outcome == .complete && report.sections.map(\.key) == ["x", "A"])
  }

  @Test func `a section that moves to another source is not removed`() throws {
    let catalog = try catalog(", {url: two, \(Self.menus), items: $.items}")
    put(["x": 2, "y": 12], at: "/shop/one")
    put(["z": 1], at: "/shop/two")
    _ = try shop.sync(folder, catalog)
    put(["x": 2], at: "/shop/one")
    put(["z": 1, "y": 12], at: "/shop/two")

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete)
    #expect(report.sections.map(\.key) == ["x", "A", "z", "y"])
  }

  @Test func `when a source fails, its sections are kept and the other sources are read`() throws {
    let catalog = try catalog(", {url: two, \(Self.menus), items: $.items}")
    put(["x": 2, "y": 1], at: "/shop/one")
    put(["z": 1], at: "/shop/two")
    _ = try shop.sync(folder, catalog)
    shop.store.faults = [FaultRule("/shop/one", .status(404))]
    put(["z": 2], at: "/shop/two")

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .partial)
    #expect(lines(report) == ["x 2 stale", "y 1 stale", "A 3 unchanged", "z 2 network"])
  }

  @Test func `a section that no response contains is kept while another response is missing`()
    throws
  {
    let catalog = try catalog(", {url: two, \(Self.menus), items: $.items}")
    put(["x": 2, "y": 1], at: "/shop/one")
    put(["z": 1], at: "/shop/two")
    _ = try shop.sync(folder, catalog)
    // The section may have moved to the second response, which fails.
    put(["x": 2], at: "/shop/one")
    shop.store.faults = [FaultRule("/shop/two", .status(404))]

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .partial)
    #expect(lines(report) == ["x 2 network", "A 3 unchanged", "y 1 stale", "z 1 stale"])
  }

  @Test func `more combined sources than are fetched at once are all read`() throws {
    let keys = (0..<40).map { "s\($0)" }
    for key in keys { put([key: 1], at: "/shop/\(key)") }
    let sources = keys.map { "{url: \($0), \(Self.menus), items: $.items}" }

    let report = try shop.sync(
      folder,
      shop.catalog(sections: "[\(sources.joined(separator: ", "))]", detail: false)
    )

    #expect(report.outcome == .complete && report.sections.map(\.key) == keys)
  }

  @Test func `the same combined source twice is an error of the file`() throws {
    #expect(throws: CatalogError.self) {
      try catalog(", {url: one, \(Self.menus)}")
    }
  }
}
