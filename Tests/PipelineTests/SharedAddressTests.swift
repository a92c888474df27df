import Cache
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Sections and catalogs that read the same document with different mappings.
struct SharedAddressTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 3)
  }

  private func listed() throws -> [String: [String]] {
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: "shop")
    return Dictionary(grouping: try reader.list(), by: { $0.sections[0] })
      .mapValues { $0.map(\.item.id) }
  }

  @Test(arguments: ["A", "A#top", "file:"])
  func `two sections with one address stay separate, run after run`(_ second: String) throws {
    try folder.write(
      "{\"body\": [{\"id\": \"A1\", \"title\": \"a\"}, {\"id\": \"A2\", \"title\": \"b\"}]}",
      to: "a.json"
    )
    let urls = second == "file:" ? ["file:a.json", "file:a.json"] : ["A", second]
    let catalog = try shop.catalog(
      sections: "[{key: one, title: One, url: \"\(urls[0])\"}, "
        + "{key: two, title: Two, url: \"\(urls[1])\"}]",
      detail: false
    )

    let reports = try (0..<3).map { _ in try shop.sync(folder, catalog) }

    for report in reports {
      #expect(report.outcome == .complete)
      #expect(report.sections.map(\.key) == ["one", "two"])
      #expect(report.sections.map(\.title) == ["One", "Two"])
      #expect(Set(report.sections.map(\.items)).count == 1)
    }
    #expect(reports[2].sections.map(\.source) == [.unchanged, .unchanged])
    #expect(try listed()["one"] == listed()["two"])
    #expect(try listed()["one"]?.prefix(2) == ["A1", "A2"])
  }

  @Test func `two catalogs of one shop both see a detail's change`() throws {
    let names = ["shop", "other"]
    for name in names { _ = try shop.sync(folder, shop.catalog(name: name)) }
    shop.put(
      "{\"hash\": \"A1\", \"data\": {\"product_description\": \"Changed\"}}",
      at: "/shop/detail/A1"
    )
    for name in names { _ = try shop.sync(folder, shop.catalog(name: name)) }

    for name in names {
      let reader = try CatalogReader(cache: folder.path("cache"), catalog: name)
      #expect(try reader.show("A1")?.detail?.description == "Changed")
    }
  }
}
