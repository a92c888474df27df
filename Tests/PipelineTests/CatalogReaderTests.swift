import Base
import Cache
import Foundation
import SampleStore
import Support
import Synchronization
import Testing

@testable import Pipeline

/// Listings, items and the summary, as `CatalogReader` reads them from a cache.
struct CatalogReaderTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 3)
    _ = try shop.sync(folder)
  }

  private func reader() throws -> CatalogReader {
    try CatalogReader(cache: folder.path("cache"), catalog: nil)
  }

  @Test func `a listing has sections and items in the catalog's order, with their pictures`()
    throws
  {
    let all = try reader().list()
    let one = try reader().list(section: "B")

    #expect(all.map(\.item.id) == ["A1", "A2", "A3", "B1", "B2", "B3"])
    #expect(one.map(\.item.id) == ["B1", "B2", "B3"])
    #expect(one.allSatisfy { $0.sections == ["B"] && !$0.isStale })
    #expect(all.allSatisfy { $0.pictures.map(\.role) == [.thumbnail, .top, .gallery, .gallery] })
    #expect(all[0].item.salePrice?.minorUnits == 7000)
    #expect(try reader().sections().map(\.title) == ["Section A", "Section B"])
  }

  @Test func `a catalog of any length is listed in order, and its last item is found`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 1100)
    var options = SyncOptions()
    options.noDetails = true
    _ = try shop.sync(folder, options: options)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    var batches = try reader.batches()
    var ids: [String] = []
    while let batch = try batches.next() {
      #expect(!batch.isEmpty && Set(batch.map(\.sections)).count == 1)
      ids += batch.map(\.item.id)
    }

    #expect(ids == ["A", "B"].flatMap { key in (1...1100).map { "\(key)\($0)" } })
    #expect(try reader.list().map(\.item.id) == ids)
    #expect(try reader.show("B1100") == reader.list(section: "B").last)
  }

  @Test func `an unknown section or item suggests the nearest`() throws {
    let error = #expect(throws: LarderError.self) { _ = try reader().list(section: "C") }

    #expect(error?.code == .empty)
    #expect(error?.description.contains("there are A, B") == true)
    #expect(try reader().show("A9") == nil)
    #expect(try reader().nearestIDs(to: "B9") == ["B1", "B2", "B3"])
  }

  @Test func `an item shows the values of its listing and its detail`() throws {
    let item = try #require(try reader().show("A2"))

    #expect(item.item.title == "Dish A2")
    #expect(item.detail?.description == "More about A2")
    #expect(item.thumbnail?.url == "\(shop.store.baseURL)/pictures/A2-thumb.jpg")
    #expect(item.thumbnail?.path?.hasPrefix("images/") == true)
  }

  @Test func `the last sync can be read while a run is active`() throws {
    shop.items["A"]?[0].price = "1원"
    try shop.publish()
    shop.store.faults = [FaultRule("/shop/B", .hang)]
    let seen = Mutex<Int?>(nil)

    _ = try shop.sync(folder) { run in
      let (store, folder) = (shop.store, folder)
      store.clearRequests()
      Thread.detachNewThread {
        _ = store.waitForRequests(5)
        let reader = try? CatalogReader(cache: folder.path("cache"), catalog: nil)
        let price = (try? reader?.show("A1"))?.item.salePrice?.minorUnits
        seen.withLock { $0 = price }
        run.stop()
      }
    }

    #expect(seen.withLock { $0 } == 7000)
    #expect(try reader().show("A1")?.item.salePrice?.minorUnits == 1)
  }

  @Test func `the summary has the age, the size and the first run`() throws {
    let summary = try CacheSummary(cache: folder.path("cache"))

    #expect(summary.pictures == 19 && summary.bytes == 7_600)
    #expect(summary.catalogs.map(\.name) == ["shop"])
    #expect(summary.catalogs[0].items == 6 && summary.catalogs[0].outcome == "complete")
    #expect(summary.catalogs[0].complete == shop.clock.now)
    #expect(summary.oldestCheck == shop.clock.now)
    #expect(summary.failing.isEmpty && summary.catalogs[0].stale.isEmpty)
  }

  @Test func `reading a cache before its first sync is an error that suggests a sync`() throws {
    let empty = try TemporaryFolder()
    let error = #expect(throws: LarderError.self) {
      _ = try CatalogReader(cache: empty.path("cache"), catalog: nil)
    }

    #expect(error?.code == .empty)
    #expect(error?.remedy == .syncOrOtherFolder)
  }
}
