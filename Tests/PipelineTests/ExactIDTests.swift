import Base
import Cache
import Foundation
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Two items whose ids Unicode calls equivalent, although they have other bytes.
struct ExactIDTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  private let folder: TemporaryFolder
  private let shop: SampleShop

  /// The shop after two syncs; the second found other prices.
  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 0)
    let (one, other) = (Self.composed, Self.decomposed)
    shop.put(
      """
      [{"hash": "\(one)", "data": {"product_description": "first"}},
       {"hash": "\(other)", "data": {"product_description": "second"}}]
      """,
      at: "/shop/details"
    )
    for prices in [(100, 5000), (90, 4000)] {
      shop.put(
        """
        [{"detail_hash": "\(one)", "title": "One", "s_price": "\(prices.0)원"},
         {"detail_hash": "\(other)", "title": "Other", "s_price": "\(prices.1)원"}]
        """,
        at: "/shop/A"
      )
      _ = try shop.sync(folder, shop.catalog(detail: false, "detail: {url: details}"))
      shop.clock.advance(3601)
    }
  }

  private var reader: CatalogReader {
    get throws { try CatalogReader(cache: folder.path("cache"), catalog: nil) }
  }

  @Test func `each has its own history and lowest price`() throws {
    let changes = try reader.history().map { ($0.id.exact, $0.from, $0.to) }
    let lowest = try [Self.composed, Self.decomposed].map {
      try reader.lowestPrice(of: $0, days: 30)?.price.minorUnits
    }

    #expect(Set(changes.map(\.0)) == [Self.composed.exact, Self.decomposed.exact])
    for (id, from, to) in changes {
      let isFirst = id == Self.composed.exact
      #expect(from == .price(isFirst ? 100 : 5000, currency: "KRW"))
      #expect(to == .price(isFirst ? 90 : 4000, currency: "KRW"))
    }
    #expect(lowest == [90, 4000])
  }

  @Test func `each has its own changes since a run`() throws {
    let net = try reader.netChanges(after: 1)

    let prices = net.map { [$0.price?.minorUnits, $0.newPrice?.minorUnits] }
    #expect(Set(prices) == [[100, 90], [5000, 4000]])
  }

  @Test func `each has its own detail, in the list and in an export`() throws {
    let list = try reader.list().map { [$0.item.title, $0.detail?.description] }
    let report = try CacheExport(cache: folder.path("cache"), catalog: nil)
      .run(into: folder.path("out"))
    let text = String(decoding: try folder.read("out/catalog.json"), as: UTF8.self)

    #expect(list == [["One", "first"], ["Other", "second"]])
    #expect(report.hasDocument)
    let details = try #require(text.split(separator: "\"details\":").last)
    for words in ["first", "second"] { #expect(details.contains(words), "\(text)") }
  }
}
