import Support
import Testing

@testable import Pipeline

/// A section whose body is so large that it is read in windows is synced like any other.
struct LargeListingTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  private func serve(_ ids: Range<Int>, titles: [Int: String] = [:], total: Int) {
    let pad = String(repeating: #"[\"x, "#, count: 90)
    let items = ids.map { id in
      let title = titles[id] ?? "\"Dish \(id)\""
      let picture = id % 6000 == 0 ? ", \"image\": \"/pictures/A1-thumb.jpg?\(id)\"" : ""
      return "{\"hash\": \"\(id)\", \"title\": \(title), \"description\": \"\(pad)\"\(picture)}"
    }
    shop.put("{\"total\": \(total), \"body\": [\(items.joined(separator: ","))]}", at: "/shop/A")
  }

  private func sync() throws -> SyncReport { try shop.sync(folder, shop.catalog(detail: false)) }

  @Test func `all of it is kept, what cannot be read is named, and changes are found`() throws {
    serve(0..<18_000, titles: [17_000: "{}"], total: 18_000)
    let first = try sync()
    let second = try sync()
    serve(1..<18_000, titles: [7: "\"Soup\""], total: 20_000)
    let third = try sync()

    #expect(first.outcome == .complete && first.items.added.count == 17_999)
    #expect(first.skipped.map(\.index) == [17_000])
    #expect(first.images.fetched == 3 && first.failures.isEmpty)
    #expect(second.sections[0].source == .unchanged && second.items.total == 17_999)
    #expect(third.items.removed == ["0"] && third.items.added == ["17000"])
    #expect(third.items.changed.map(\.id) == ["7"])
    #expect(third.sections[0].warning?.contains("20000 items, and lists 17999;") == true)
    #expect(try verify(folder).isClean)
  }
}
