import Foundation
import Pipeline
import SampleStore
import Support
import Testing

@testable import Cache
@testable import Sharding

/// Compares a merge with a plain sync of the same shop.
struct MergeTests {
  private let shop: SampleShop
  private let plain: TemporaryFolder
  private let sharded: ShardedShop

  init() throws {
    shop = try SampleShop(sections: 3, items: 4)
    plain = try TemporaryFolder()
    sharded = try ShardedShop(shop)
  }

  private func expectEqual(_ merged: SyncReport, _ synced: SyncReport) throws {
    #expect(merged.comparable == synced.comparable)
    #expect(try rows(sharded.folder) == rows(plain))
    let items = try CatalogReader(cache: sharded.folder.path("cache"), catalog: nil).list()
    let expected = try CatalogReader(cache: plain.path("cache"), catalog: nil).list()
    // A shown picture contains its cache's folder, which differs.
    let moved = String(describing: items)
      .replacing(sharded.folder.path("cache"), with: plain.path("cache"))
    #expect(moved == String(describing: expected))
    #expect(try verify(sharded.folder).isClean)
  }

  @Test(arguments: [1, 3, 8])
  func `a merge equals a plain sync, row for row`(_ shards: Int) throws {
    let synced = try shop.sync(plain)
    shop.store.clearRequests()

    let merged = try sharded.sync(shards)

    #expect(merged.outcome == .complete && merged.pictures.fetched == 37)
    #expect(merged.requests == 3 + 12 + 37)
    // The plan and the merge request each section and each detail, and the shards each picture.
    #expect(shop.store.requests.count == 2 * (3 + 12) + 37)
    #expect(shop.store.requestCounts.values.allSatisfy { $0 <= 2 })
    try expectEqual(merged, synced)
    #expect(sharded.folder.files(below: "cache/shards").isEmpty)
    #expect(sharded.folder.files(below: "plan/planning").isEmpty)
  }

  @Test func `the files of shards do not count as strays, and all other files without a row do`()
    throws
  {
    try sharded.plan(2)
    for shard in 0..<2 { try sharded.run(shard) }
    let cache = sharded.folder.path("cache")
    let url = "https://nobody.example/x.jpg"
    let stranger = PictureName(url: url, id: PictureID(url: url)).path
    let path = URL(filePath: "\(cache)/\(stranger)")
    try FileManager.default.createDirectory(
      at: path.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data([1]).write(to: path)
    let layout = try CacheLayout(creating: cache)
    #expect(try Recovery(layout, try Index()).strays.paths.count == 38)

    #expect(try sharded.merge().outcome == .complete)

    #expect(try Recovery(layout, try Index(layout)).strays.paths == [stranger])
  }

  @Test(arguments: [Partition.url, .host])
  func `a merge equals a plain sync when pictures, details and references fail`(
    _ partition: Partition
  ) throws {
    shop.items["A"]?[0].thumbnail = "ftp://old.example/a.jpg"
    shop.items["B"]?[1].hasDetail = false
    try shop.publish()
    shop.store.faults = [
      FaultRule("/pictures/C1-thumb.jpg", .status(404)), FaultRule("/shop/C", .status(500)),
      FaultRule("/pictures/B1-top.jpg", .status(410)),
    ]
    let synced = try shop.sync(plain)

    let merged = try sharded.sync(3, by: partition)

    #expect(merged.outcome == .partial)
    #expect(Set(merged.failures.map(\.reason)) == ["scheme-refused", "http-500", "http-410"])
    // The merge requests the picture that failed (410) once more.
    var expected = synced
    expected.requests += 1
    try expectEqual(merged, expected)
  }

  @Test
  func `a merge equals a plain sync over a cache whose pictures changed, expired and vanished`()
    throws
  {
    _ = try shop.sync(plain)
    _ = try shop.sync(sharded.folder)
    shop.clock.advance(3601)
    shop.items["A"]?.removeLast()
    shop.items["B"]?[0].price = "6,500원"
    try shop.publish()
    let bytes = try Picture(SampleShop.base).distinct("new", byteCount: 700)
    shop.store.content["/pictures/A1-thumb.jpg"] = Resource(bytes, type: "image/jpeg")
    let synced = try shop.sync(plain)

    let merged = try sharded.sync(3)

    #expect(merged.pictures.changed == 1 && merged.pictures.revalidated > 30)
    #expect(merged.items.changed.count == 1 && merged.items.removed == ["A4"])
    #expect(merged.pictures == synced.pictures && merged.items == synced.items)
    let urls = Set(try rows(plain).map(\.url))
    #expect(Set(try rows(sharded.folder).map(\.url)) == urls)
    #expect(try rows(sharded.folder).map(\.sha256) == rows(plain).map(\.sha256))
    #expect(try verify(sharded.folder).isClean)
  }

  @Test func `fresh pictures are not planned, and count as fresh`() throws {
    _ = try shop.sync(sharded.folder)
    shop.store.clearRequests()

    let merged = try sharded.sync(2)

    #expect(try sharded.planned.plan.urls == 0)
    #expect(merged.pictures.fresh == 37 && merged.pictures.fetched == 0)
    #expect(shop.store.requests.count == 2 * 15)
  }

  @Test func `pictures that were fresh for the plan are not requested by a later merge`() throws {
    _ = try shop.sync(sharded.folder)
    shop.clock.advance(3000)
    try sharded.plan(2)
    for shard in 0..<2 { try sharded.run(shard) }
    shop.clock.advance(3000)

    let merged = try sharded.merge()

    #expect(try sharded.planned.plan.urls == 0)
    #expect(merged.pictures.fresh == 37 && merged.pictures.revalidated == 0)
  }

  @Test func `a merge can be repeated`() throws {
    let first = try sharded.sync(2)

    let second = try sharded.merge(reading: true)

    #expect(first.outcome == .complete && second.outcome == .complete)
    #expect(second.pictures.fetched == 37 && second.items.added.isEmpty)
    #expect(try verify(sharded.folder).isClean)
  }

  @Test func `a merge requests no picture of a shard again, even if it is stale`() throws {
    shop.store.faults = [FaultRule("/pictures/*", .header("Cache-Control", "no-cache"))]
    try sharded.plan(2)
    for shard in 0..<2 { try sharded.run(shard) }
    shop.clock.advance(60)

    let merged = try sharded.merge()

    #expect(merged.outcome == .complete && merged.pictures.fetched == 37)
    #expect(shop.store.requests.count == 2 * 15 + 37)
  }

  @Test func `a merge fetches what the shop lists since the plan`() throws {
    try sharded.plan(2)
    for shard in 0..<2 { try sharded.run(shard) }
    shop.items["A"]?.append(SampleShop.Item("A5"))
    shop.items["C"]?.removeLast()
    try shop.publish()

    let merged = try sharded.merge()

    #expect(merged.outcome == .complete && merged.pictures.total == 37)
    #expect(merged.pictures.fetched == 37 && merged.pictures.fresh == 0)
    let items = try CatalogReader(cache: sharded.folder.path("cache"), catalog: nil).list()
    #expect(items.contains { $0.id == "A5" } && !items.contains { $0.id == "C4" })
    #expect(try verify(sharded.folder).isClean)
  }

  @Test func `a merge fails while the shop is down, and is complete later`() throws {
    try sharded.plan(2)
    for shard in 0..<2 { try sharded.run(shard) }
    shop.store.faults = [FaultRule("/shop/*", .status(503))]
    #expect(try sharded.merge().outcome == .failed)
    shop.store.faults = []

    let merged = try sharded.merge()

    #expect(merged.outcome == .complete && merged.pictures.fetched == 37)
    #expect(try verify(sharded.folder).isClean)
  }
}
