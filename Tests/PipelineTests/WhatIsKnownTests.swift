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
  @Test func `a run that cannot read the states of the pictures fails and requests none`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    let catalog = try shop.catalog(detail: false)
    _ = try shop.sync(folder, catalog)
    shop.clock.advance(7200)
    shop.store.clearRequests()
    let index = try DatabaseQueue(path: folder.path("cache/index.sqlite"))
    try index.write { db in
      try db.execute(sql: "ALTER TABLE picture RENAME COLUMN content TO hidden")
    }

    #expect(throws: LarderError.self) { try shop.sync(folder, catalog) }
    #expect(Set(shop.store.requests.map(\.path)) == ["/shop/A", "/shop/B"])

    try index.write { db in
      try db.execute(sql: "ALTER TABLE picture RENAME COLUMN hidden TO content")
    }
    try index.close()
    #expect(try shop.sync(folder, catalog).outcome == .complete)
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
