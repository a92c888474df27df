import Base
import Foundation
import GRDB
import SampleStore
import Support
import Testing

@testable import Cache
@testable import Pipeline

/// A first sync and later ones, without any faults.
struct FirstSyncTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 3, items: 4)
  }

  @Test func `a first sync fetches everything once and reports it`() throws {
    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.catalog == "shop" && report.run == 1)
    #expect(report.sections.map(\.key) == ["A", "B", "C"])
    #expect(report.sections.map(\.title) == ["Section A", "Section B", "Section C"])
    #expect(report.sections.allSatisfy { $0.items == 4 && $0.source == .network })
    #expect(report.items.total == 12)
    #expect(report.items.added.count == 12)
    #expect(report.details.total == 12 && report.details.fetched == 12)
    #expect(report.pictures.referenced == 48)
    #expect(report.pictures.total == 37 && report.pictures.fetched == 37)
    #expect(report.pictures.bytesFetched == 37 * 400 && report.pictures.bytesHeld == 37 * 400)
    #expect(report.failures.isEmpty && report.skipped.isEmpty && report.unfinished.isEmpty)
    #expect(report.requests == 3 + 12 + 37)
    #expect(shop.store.requests.count == report.requests)
    #expect(shop.store.requestCounts.values.allSatisfy { $0 == 1 })
    #expect(try verify(folder).checked == 37)
    #expect(try verify(folder).isClean)
  }

  @Test
  func `an unreadable item of the index is found and repaired without a download`()
    throws
  {
    _ = try shop.sync(folder)
    do {
      let index = try Index(CacheLayout(creating: folder.path("cache")))
      try index.write { db in
        try db.execute(sql: "UPDATE item SET body = substr(body, 1, 9) WHERE row = 1")
      }
    }

    #expect(try verify(folder).index == .damaged)
    do {
      let check = try CacheCheck(folder.path("cache"), holder: "a test")
      try check.repair(try check.run(.full))
    }
    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.pictures.fetched == 0 && report.pictures.bytesHeld == 37 * 400)
    #expect(try verify(folder).isClean && verify(folder).index == .whole)
  }

  @Test func `pictures are requested as soon as their section is stored`() throws {
    do {
      let index = try Index(CacheLayout(creating: folder.path("cache")))
      // The index refuses the second listing, so a picture that waits for it would never be requested.
      try index.write { db in
        try db.execute(
          sql: """
            CREATE TRIGGER second BEFORE INSERT ON listing WHEN EXISTS (SELECT 1 FROM listing)
            BEGIN SELECT RAISE(ABORT, 'none'); END
            """
        )
      }
    }

    var options = SyncOptions()
    options.noDetails = true

    #expect(throws: LarderError.self) { try shop.sync(folder, options: options) }

    let asked = shop.store.requests.map(\.path)
    let pictures = asked.filter { $0.hasPrefix("/pictures/") }
    #expect(!pictures.isEmpty && Set(pictures.map { $0.dropFirst(10).prefix(1) }).count == 1)
    #expect(Set(asked).count == asked.count)
  }

  @Test func `every picture is stored under its own name with the bytes received`() throws {
    _ = try shop.sync(folder)

    let items = try CatalogReader(cache: folder.path("cache"), catalog: nil).list()

    for image in items.flatMap(\.pictures) {
      let path = try #require(image.path)
      let sent = String(image.url.dropFirst(shop.store.baseURL.count))
      #expect(try folder.read("cache/\(path)") == SampleShop.bytes(of: sent))
      #expect(image.state == .held && image.type == "image/jpeg" && image.bytes == 400)
      #expect(image.sha256?.count == 64)
    }
    #expect(items.flatMap(\.pictures).count == 48)
  }

  @Test func `a second sync requests only the lists and details, and rewrites nothing`() throws {
    _ = try shop.sync(folder)
    let before = folder.files(below: "cache/images")
    shop.store.clearRequests()

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.sections.allSatisfy { $0.source == .unchanged && $0.items == 4 })
    #expect(report.details.unchanged == 12 && report.details.fetched == 0)
    #expect(report.pictures.fresh == 37 && report.pictures.referenced == 48)
    #expect(report.pictures.fetched + report.pictures.revalidated == 0)
    #expect(report.pictures.bytesHeld == 37 * 400 && report.pictures.bytesFetched == 0)
    #expect(report.items.added.isEmpty && report.items.changed.isEmpty)
    #expect(shop.store.requests.count == 15 && report.requests == 15)
    #expect(shop.store.requests.allSatisfy { $0.status == 304 })
    #expect(shop.store.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    #expect(folder.files(below: "cache/images") == before)
  }

  @Test func `stale pictures are revalidated and kept`() throws {
    _ = try shop.sync(folder)
    let before = folder.files(below: "cache/images")
    shop.store.clearRequests()
    shop.clock.advance(3601)

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.pictures.revalidated == 37 && report.pictures.fresh == 0)
    #expect(shop.store.requests.allSatisfy { $0.status == 304 })
    #expect(shop.store.requests.count == 3 + 12 + 37)
    #expect(folder.files(below: "cache/images") == before)

    shop.store.clearRequests()
    let next = try shop.sync(folder)
    #expect(next.pictures.fresh == 37)
  }

  @Test func `pictures are revalidated after a clock was set back by more than a day`() throws {
    _ = try shop.sync(folder)
    shop.clock.advance(-100_000)

    let report = try shop.sync(folder)

    #expect(report.pictures.revalidated == 37)
  }

  @Test func `progress counts up to its totals`() throws {
    let snapshots = try progress {}
    let again = try progress { shop.items["B"]?[0].hasDetail = false }

    for end in [snapshots, again] {
      #expect(end.sections == .init(done: 3, total: 3))
      #expect(end.details == .init(done: 12, total: 12))
      #expect(end.pictures.done == end.pictures.total)
      #expect(end.failed == 0)
    }
    #expect(snapshots.pictures.total == 37 && snapshots.bytes == 37 * 400)
    #expect(again.pictures.total == 35 && again.bytes == 0)
  }

  private func progress(_ change: () -> Void) throws -> SyncProgress {
    change()
    try shop.publish()
    var progress: ProgressMeter?
    _ = try shop.sync(folder) { progress = $0.progress }
    return try #require(progress).current
  }

  @Test func `a missing detail leaves an item without a detail, not a failure`() throws {
    shop.items["A"]?[1].hasDetail = false
    try shop.publish()
    shop.store.faults = [FaultRule("/shop/detail/C3", .status(410))]

    let report = try shop.sync(folder)
    let again = try shop.sync(folder)

    #expect(report.outcome == .complete && again.outcome == .complete)
    #expect(report.details.missing == 2 && report.details.fetched == 10)
    #expect(report.details.failed == 0 && report.failures.isEmpty)
    #expect(again.details.missing == 2 && again.details.unchanged == 10)
    #expect(report.requests + again.requests == shop.store.requests.count)
  }

  @Test func `a detail that appears later is fetched, and one that disappears is kept`() throws {
    shop.items["A"]?[0].hasDetail = false
    try shop.publish()
    _ = try shop.sync(folder)

    shop.items["A"]?[0].hasDetail = true
    shop.items["A"]?[1].hasDetail = false
    try shop.publish()
    let report = try shop.sync(folder)

    #expect(report.details.fetched == 1 && report.details.missing == 1)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.show("A1")?.detail != nil)
    #expect(report.outcome == .complete && report.details.stale == 1)
    let gone = try #require(try reader.show("A2"))
    #expect(gone.detail != nil && gone.detailSince == shop.clock.now)
    #expect(gone.pictures.count == 4 && gone.pictures.allSatisfy { $0.state == .held })
    #expect(try reader.show("A1")?.detailSince == nil)
  }

  @Test
  func `an item in two sections has two listings, but its detail and pictures are fetched once`()
    throws
  {
    let twice = try #require(shop.items["A"]?.first)
    shop.items["C"]?.append(twice)
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.items.total == 13)
    #expect(report.items.added.count { $0 == "A1" } == 2)
    #expect(report.details.total == 12)
    #expect(report.pictures.total == 37 && report.pictures.referenced == 49)
    let shown = try CatalogReader(cache: folder.path("cache"), catalog: nil).show("A1")
    #expect(shown?.sections == ["A", "C"])
  }

  @Test func `with thumbnails only, or without details, the listed pictures are fetched`() throws {
    var options = SyncOptions()
    options.thumbnailsOnly = true
    let thumbnails = try shop.sync(folder, options: options)
    options.thumbnailsOnly = false
    options.noDetails = true
    let other = try TemporaryFolder()
    let bare = try shop.sync(other, options: options)

    #expect(thumbnails.pictures.total == 12 && thumbnails.details.fetched == 12)
    #expect(bare.pictures.total == 12 && bare.details.total == 0)
    #expect(try shop.sync(folder).pictures.fetched == 25)
  }

  @Test func `the plan says what a sync would do, and changes nothing`() throws {
    shop.items["A"]?[0].hasDetail = false
    try shop.publish()
    let first = try plan()
    #expect(first.sections.map(\.action) == ["fetch", "fetch", "fetch"])
    #expect(first.images == SyncPlan.Work() && first.details == SyncPlan.Work())
    #expect(folder.files(below: "cache").isEmpty)

    _ = try shop.sync(folder)
    let state = folder.files(below: "cache")
    let requests = shop.store.requests.count
    let fresh = try plan()
    shop.clock.advance(4000)
    let stale = try plan()

    #expect(fresh.sections.map(\.action) == ["revalidate", "revalidate", "revalidate"])
    #expect(fresh.details.fetch.count == 1 && fresh.details.revalidate.count == 11)
    #expect(fresh.images.fresh == 35 && fresh.images.fetch.isEmpty)
    #expect(stale.images.revalidate.count == 35 && stale.images.fresh == 0)
    #expect(folder.files(below: "cache") == state)
    #expect(shop.store.requests.count == requests)
  }

  private func plan() throws -> SyncPlan {
    let clock = shop.clock
    return try SyncPlan(
      SyncRun(
        shop.catalog(),
        folder: folder.path,
        cache: folder.path("cache"),
        transport: FakeTransport(),
        now: { clock.now }
      )
    )
  }
}
