import Base
import Cache
import Catalog
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The possible shapes of a catalog: one response, pages, files, other formats, several catalogs.
struct ShapeTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 3)
  }

  @Test func `more sections than are fetched at once are all read, in the catalog's order`() throws
  {
    let shop = try SampleShop(sections: 26, items: 2)
    shop.store.faults = [FaultRule("/shop/B", .status(500))]

    let report = try shop.sync(folder)

    #expect(report.sections.map(\.key) == shop.keys)
    #expect(report.sections.count { $0.source == .network } == 25)
    #expect(report.sections.count { $0.source == .failed } == 1)
  }

  private func reader(_ catalog: String? = nil) throws -> CatalogReader {
    try CatalogReader(cache: folder.path("cache"), catalog: catalog)
  }

  private func list(_ ids: [String], next: String? = nil) throws -> String {
    let items = ids.map { ["detail_hash": $0, "title": $0, "image": "/pictures/\($0).jpg"] }
    return try SampleShop.json(["body": items, "next": next as Any? ?? ""])
  }

  @Test func `one response may hold all sections, in its own order, even when stale`() throws {
    shop.put(
      """
      [{"key": "soup", "name": "국", "items": [{"id": 1, "title": "a", "image": "/pictures/1.jpg"}]},
       {"key": "main", "name": "메인", "items": [{"id": 2, "title": "b"}, {"title": "bad"}]},
       {"key": "a-side", "name": "밑반찬", "items": []}]
      """,
      at: "/shop/all"
    )
    let catalog = try shop.catalog(
      sections: "{url: all, each: \"$[*]\", key: $.key, title: $.name}",
      detail: false
    )

    let report = try shop.sync(folder, catalog)
    let again = try shop.sync(folder, catalog)
    shop.store.stop()
    let stale = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete && again.outcome == .complete)
    #expect(stale.outcome == .partial)
    for report in [report, again, stale] {
      #expect(report.sections.map(\.key) == ["soup", "main", "a-side"])
      #expect(report.sections.map(\.title) == ["국", "메인", "밑반찬"])
      #expect(report.sections.map(\.items) == [1, 1, 0])
    }
    #expect(report.skipped.map(\.section) == ["main"] && report.skipped.map(\.index) == [1])
    #expect(again.skipped == report.skipped)
    #expect(again.sections.allSatisfy { $0.source == .unchanged })
    #expect(report.pictures.fetched == 1)
  }

  @Test func `counted pages are read up to the first empty one`() throws {
    let pages = [["1", "2"], ["3", "4"], ["5"], []]
    for (number, ids) in pages.enumerated() {
      shop.store.faults.append(
        FaultRule(
          "/shop/A",
          query: "size=2&page=\(number + 1)",
          .body(Array(try list(ids).utf8))
        )
      )
    }
    let catalog = try shop.catalog(
      sections: "[{key: A, url: \"A?size=2\"}]",
      detail: false,
      "paging: {parameter: page}"
    )

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete)
    #expect(report.sections.map(\.items) == [5])
    #expect(try reader().list().map(\.item.id) == ["1", "2", "3", "4", "5"])
    #expect(report.pictures.total == 5 && report.pictures.referenced == 5)
    #expect(shop.store.requests.count { $0.path == "/shop/A" } == 4)

    shop.store.clearRequests()
    let again = try shop.sync(folder, catalog)
    #expect(again.sections.map(\.source) == [.unchanged])
    #expect(again.sections.map(\.items) == [5])
    #expect(shop.store.requests.count { $0.status == 304 } == 4)
  }

  @Test func `pages that name their next page are followed, relative to each page`() throws {
    shop.put(try list(["1", "2"], next: "pages/2"), at: "/shop/A")
    shop.put(
      "{\"body\": [{\"title\": \"bad\"}, {\"id\": \"3\", \"title\": \"3\"}], \"next\": \"3\"}",
      at: "/shop/pages/2"
    )
    shop.put(
      "{\"body\": [{\"id\": \"4\", \"title\": \"4\"}, {\"title\": \"bad\"}]}",
      at: "/shop/pages/3"
    )
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {next: $.next}"
    )

    var options = SyncOptions()
    options.maxSkipped = .count(2)
    let report = try shop.sync(folder, catalog, options: options)
    let again = try shop.sync(folder, catalog, options: options)
    shop.put(
      "{\"body\": [{\"id\": \"5\", \"title\": \"5\"}, {\"title\": \"bad\"}]}",
      at: "/shop/pages/3"
    )
    let changed = try shop.sync(folder, catalog, options: options)

    #expect(try reader().list().map(\.item.id) == ["1", "2", "3", "5"])
    #expect(report.items.added == ["1", "2", "3", "4"])
    for report in [report, again, changed] {
      #expect(report.skipped.map(\.index) == [2, 5])
    }
    #expect(again.sections.map(\.source) == [.unchanged])
    #expect(changed.items.added == ["5"] && changed.items.removed == ["4"])
  }

  @Test func `pages that lead in circles are read once`() throws {
    shop.put(try list(["1"], next: "B"), at: "/shop/A")
    shop.put(try list(["2"], next: "A"), at: "/shop/B")
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {next: $.next, limit: 5}"
    )

    let report = try shop.sync(folder, catalog)

    #expect(report.sections.map(\.items) == [2])
    #expect(shop.store.requests.count { $0.path.hasPrefix("/shop/") } == 2)
  }

  @Test func `a page that fails makes its whole section stale`() throws {
    shop.put(try list(["1"], next: "B"), at: "/shop/A")
    shop.put(try list(["2"]), at: "/shop/B")
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {next: $.next}"
    )
    _ = try shop.sync(folder, catalog)
    shop.store.faults = [FaultRule("/shop/B", .status(500))]

    let report = try shop.sync(folder, catalog)

    #expect(report.sections.map(\.source) == [.stale])
    #expect(report.sections.map(\.items) == [2])
    #expect(report.items.removed.isEmpty)
  }

  @Test func `local files can be sections and details, and are never requested`() throws {
    try folder.write(try list(["1", "2"]), to: "lists/main.json")
    try folder.write(
      """
      {"hash": "1", "data": {"top_image": "/pictures/top.jpg", "product_description": "one"}}
      """,
      to: "lists/detail/1.json"
    )
    let catalog = try CatalogFile(
      parsing: Array(
        """
        name: shop
        currency: KRW
        base: \(shop.store.baseURL)/
        sections: [{key: main, url: "file:lists/main.json"}, {key: gone, url: "file:no.json"}]
        detail: {url: "file:lists/detail/{id}.json"}
        """.utf8
      ),
      file: "shop.yaml"
    )

    let report = try shop.sync(folder, catalog)
    let again = try shop.sync(folder, catalog)

    #expect(report.outcome == .partial)
    #expect(report.sections.map(\.source) == [.network, .failed])
    #expect(report.failures.map(\.stage) == [.section])
    #expect(report.failures.first?.url == "file:\(folder.path)/no.json")
    #expect(report.details.fetched == 1 && report.details.missing == 1)
    #expect(report.pictures.fetched == 3)
    #expect(report.requests == 3)
    #expect(again.sections.map(\.source) == [.unchanged, .failed])
    #expect(again.details.unchanged == 1 && again.details.missing == 1)
    #expect(shop.store.requests.count == 3)
  }

  @Test func `one file with all details serves items that are listed later too`() throws {
    let details = ["1", "2"].map { id -> [String: Any] in
      ["hash": id, "data": ["top_image": "/pictures/top-\(id).jpg"]]
    }
    let body = try SampleShop.json(["body": details])
    for isLocal in [true, false] {
      let folder = try TemporaryFolder()
      shop.put(body, at: "/shop/details")
      try folder.write(body, to: "details.json")
      shop.put(try list(["1"]), at: "/shop/A")
      let catalog = try CatalogFile(
        parsing: Array(
          """
          name: shop
          currency: KRW
          base: \(shop.base)
          sections: [{key: A, url: A}]
          detail: {url: "\(isLocal ? "file:details.json" : "details")"}
          """.utf8
        ),
        file: "shop.yaml"
      )
      let first = try shop.sync(folder, catalog)
      shop.put(try list(["1", "2", "3"]), at: "/shop/A")

      let report = try shop.sync(folder, catalog)

      #expect(first.details.total == 1 && first.details.fetched == 1)
      #expect(first.pictures.total == 2)
      #expect(report.outcome == .complete)
      #expect(report.details.missing == 1 && report.details.failed == 0)
      #expect(report.details.fetched + report.details.unchanged == 2)
      #expect(report.pictures.total == 5)
      let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
      #expect(try reader.show("2")?.pictures.map(\.state) == [.held, .held])
    }
  }

  @Test func `another shop format needs no code, and equal file names do not collide`() throws {
    let products = (1...6).map { id -> [String: Any] in
      [
        "id": id, "title": "Product \(id)", "price": 9.99, "tags": ["beauty"],
        "thumbnail": "/pictures/\(id)/thumbnail.webp",
        "images": (1...3).map { "/pictures/\(id)/\($0).webp" },
      ]
    }
    shop.put(try SampleShop.json(["products": products, "total": 6]), at: "/shop/products")
    let catalog = try CatalogFile(
      parsing: Array(
        """
        {name: dummy, currency: USD, base: "\(shop.base)", format: dummyjson,
         sections: [{key: all, url: products}]}
        """.utf8
      ),
      file: "dummy.yaml"
    )

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete)
    #expect(report.items.total == 6)
    #expect(report.pictures.total == 24 && report.pictures.fetched == 24)
    #expect(folder.files(below: "cache/images").count == 24)
    let item = try #require(try reader().show("3"))
    #expect(item.item.salePrice?.minorUnits == 999 && item.item.salePrice?.currency == "USD")
    #expect(item.pictures.map(\.role) == [.thumbnail, .gallery, .gallery, .gallery])
  }

  @Test func `two catalogs share a cache and each keeps its own items`() throws {
    let first = try shop.catalog(name: "first")
    let second = try shop.catalog(name: "second", sections: "[{key: A, url: A}]")

    _ = try shop.sync(folder, first)
    let report = try shop.sync(folder, second)
    let again = try shop.sync(folder, first)

    #expect(report.run == 2 && report.pictures.fetched == 0 && report.pictures.fresh == 10)
    #expect(report.items.added.count == 3)
    #expect(again.items.added.isEmpty && again.items.removed.isEmpty)
    #expect(try reader("first").list().count == 6)
    #expect(try reader("second").list().count == 3)
    let ambiguous = #expect(throws: LarderError.self) { _ = try reader() }
    #expect(ambiguous?.code == .ambiguous)
    #expect(ambiguous?.description.contains("first, second") == true)
    let unknown = #expect(throws: LarderError.self) { _ = try reader("secnd") }
    #expect(unknown?.description.contains("did you mean second?") == true)
    #expect(try CacheSummary(cache: folder.path("cache")).catalogs.map(\.items) == [6, 3])
    #expect(try verify(folder).isClean)
  }

  @Test func `a changed mapping reads an unchanged body again`() throws {
    _ = try shop.sync(folder)
    let changed = try shop.catalog("format: banchan\nitem: {title: $.description}")

    let report = try shop.sync(folder, changed)

    #expect(report.outcome == .complete)
    #expect(report.sections.map(\.source) == [.network, .network])
    #expect(try reader().show("A1")?.item.title == "About A1")
  }
}
