import Base
import Cache
import Catalog
import GRDB
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The states of stored pictures and details, which a run reads from the index before its
/// requests.
struct WhatIsKnownTests {
  @Test func `a run that cannot read which pictures are due fails and requests none`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    let catalog = try shop.catalog(detail: false)
    _ = try shop.sync(folder, catalog)
    shop.clock.advance(7200)
    shop.store.clearRequests()
    let index = try DatabaseQueue(path: folder.path("cache/index.sqlite"))
    try index.write { db in
      try db.execute(sql: "ALTER TABLE item_picture RENAME COLUMN picture TO hidden")
    }

    #expect(throws: LarderError.self) { try shop.sync(folder, catalog) }
    #expect(Set(shop.store.requests.map(\.path)) == ["/shop/A", "/shop/B"])

    try index.write { db in
      try db.execute(sql: "ALTER TABLE item_picture RENAME COLUMN hidden TO picture")
    }
    try index.close()
    #expect(try shop.sync(folder, catalog).outcome == .complete)
  }

  @Test func `an unchanged document confirms no detail that another URL sent`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    let other = #"{"hash": "A1", "data": {"product_description": "another language"}}"#
    shop.put(other, at: "/shop/other/A1")
    var texts: [String?] = []

    for path in ["detail", "other", "detail"] {
      shop.clock.advance(100_000)
      let catalog = try shop.catalog(detail: false, "detail: {url: \"\(path)/{id}\"}")
      let report = try shop.sync(folder, catalog)
      #expect(report.outcome == .complete && report.details.fetched == 1)
      let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
      texts.append(try reader.show("A1")?.detail?.description)
    }

    #expect(texts == ["More about A1", "another language", "More about A1"])
  }

  @Test func `stale details are requested, even if there are more details than one lookup covers`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 150)
    let due = Set((1...150).filter { $0 % 7 == 0 }.map { "/shop/detail/A\($0)" })
    shop.store.faults = (1...150).filter { $0 % 7 != 0 }.map { number in
      FaultRule("/shop/detail/A\(number)", .header("Cache-Control", "max-age=600"))
    }
    let catalog = try shop.catalog()
    #expect(try shop.sync(folder, catalog).details.fetched == 150)
    shop.store.clearRequests()

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete)
    #expect(report.details.total == 150 && report.details.unchanged == 150)
    #expect(report.pictures.total == report.pictures.fresh && report.pictures.total > 300)
    #expect(Set(shop.store.requests.map(\.path)) == due.union(["/shop/A"]))
  }
}
