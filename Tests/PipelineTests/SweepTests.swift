import Base
import Catalog
import CurlTransport
import Foundation
import GRDB
import SampleStore
import Support
import Synchronization
import Testing

@testable import Cache
@testable import Pipeline

/// Sweeps (`larder gc`): the files and rows that they remove or keep.
///
/// Also the rebuilding of a lost index.
struct SweepTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 3)
  }

  private func gc(_ change: (inout SweepOptions) -> Void = { _ in }) throws -> SweepReport {
    var options = SweepOptions()
    change(&options)
    return try CacheGc(folder.path("cache"), options: options, now: shop.clock.now)
      .run(holder: "a test")
  }

  @Test(arguments: [false, true])
  func `a picture is removed when no catalog listed it for the grace period, and diff says when`(
    isPartial: Bool
  ) throws {
    _ = try shop.sync(folder)
    shop.items["A"]?.removeLast()
    try shop.publish()
    // Another picture that fails in each run does not matter.
    if isPartial {
      shop.store.faults.append(FaultRule("/pictures/B1-thumb.jpg", .status(500, retryAfter: nil)))
      shop.clock.advance(7200)
    }
    #expect(try shop.sync(folder).outcome == (isPartial ? .partial : .complete))
    shop.clock.advance(6 * 86_400)
    #expect(try gc().plan.removals.isEmpty)
    shop.clock.advance(86_400)

    let report = try gc()

    #expect(report.plan.removals.count == 3)
    #expect(report.plan.removals.allSatisfy { $0.reason == .unreferenced })
    #expect(report.plan.removals.allSatisfy { $0.picture.url.contains("/pictures/A3-") })
    #expect(try verify(folder).checked == 16)
    #expect(try verify(folder).isClean)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let removed = try reader.diff(from: nil, to: nil).removed
    #expect(removed.map(\.url) == report.plan.removals.map(\.picture.url).sorted())
    #expect(removed.allSatisfy { $0.removed == shop.clock.now })
    #expect(try gc().plan.removals.isEmpty)
  }

  @Test func `a stopped sweep leaves a clean cache, and the next one continues`() throws {
    _ = try shop.sync(folder)
    shop.items["A"]?.removeLast()
    try shop.publish()
    _ = try shop.sync(folder)
    shop.clock.advance(7 * 86_400)
    let sweep = CacheGc(folder.path("cache"), options: SweepOptions(), now: shop.clock.now)

    let stopped = try sweep.run(holder: "a test", isStopped: { true })
    var steps: [Int] = []
    let kept = try verify(folder)
    let rest = try sweep.run(holder: "a test", progress: { steps += [$0, $1] })

    #expect(stopped.plan.removals.isEmpty && stopped.unfinished == 3)
    #expect(stopped.plan.bytesFreed == 0)
    #expect(stopped.plan.bytesKept == rest.plan.bytesKept + rest.plan.bytesFreed)
    #expect(kept.checked == 19 && kept.isClean)
    #expect(rest.plan.removals.count == 3 && rest.unfinished == 0)
    #expect(steps == [1, 3, 2, 3, 3, 3])
  }

  @Test func `a picture listed again within the grace period is not swept`() throws {
    _ = try shop.sync(folder)
    let all = shop.items["A"]
    shop.items["A"]?.removeLast()
    try shop.publish()
    _ = try shop.sync(folder)
    shop.clock.advance(5 * 86_400)
    shop.items["A"] = all
    try shop.publish()
    _ = try shop.sync(folder)
    shop.clock.advance(5 * 86_400)

    #expect(try gc().plan.removals.isEmpty)
    #expect(try verify(folder).checked == 19)
  }

  @Test func `the pictures of a forgotten catalog stay for the grace period`() throws {
    _ = try shop.sync(folder)
    _ = try shop.sync(folder, shop.catalog(name: "other", sections: "[{key: A, url: A}]"))

    #expect(try gc { $0.forget = ["shop"] }.plan.removals.isEmpty)
    shop.clock.advance(8 * 86_400)
    let report = try gc()

    #expect(report.plan.removals.count == 9)
    #expect(try verify(folder).checked == 10)
  }

  @Test func `a size limit that referenced pictures exceed is reported`() throws {
    _ = try shop.sync(folder)

    let kept = try gc { $0.maxBytes = 1000 }
    #expect(kept.plan.removals.isEmpty)
    #expect(kept.plan.bytesOver == ByteCount(19 * 400 - 1000))
  }

  @Test func `a dry run does not count the bytes of deleted files either`() throws {
    _ = try shop.sync(folder)
    let gone = try #require(folder.files(below: "cache/images").keys.first)
    try FileManager.default.removeItem(atPath: folder.path(gone))

    let foreseen = try gc { $0.isDryRun = true }

    #expect(foreseen.plan.bytesKept == ByteCount(18 * 400))
    #expect(try gc().plan.bytesKept == foreseen.plan.bytesKept)
  }

  @Test func `a dry run counts the runs and the changes that would be forgotten`() throws {
    for price in 1...5 {
      shop.items["A"]?[0].price = "\(price),000원"
      try shop.publish()
      _ = try shop.sync(folder)
      shop.clock.advance(40 * 86_400)
    }
    let state = folder.files(below: "cache")
    func sweep(isDryRun: Bool) throws -> [Int] {
      let report = try gc {
        $0.isDryRun = isDryRun
        ($0.history, $0.prices) = (.seconds(100 * 86_400), .seconds(100 * 86_400))
      }
      return [report.runs, report.changes, report.plan.removals.count]
    }

    let foreseen = try sweep(isDryRun: true)

    #expect(folder.files(below: "cache") == state)
    #expect(foreseen[0] > 0 && foreseen[1] > 0)
    #expect(try sweep(isDryRun: false) == foreseen)
  }

  @Test
  func `the lowest price of an item that was away is unknown once its first price is forgotten`()
    throws
  {
    let item = try #require(shop.items["A"]?.last)
    func sync(_ price: String?, days: Int64 = 1) throws -> Int? {
      shop.items["A"]?.removeAll { $0.id == item.id }
      if let price {
        var new = item
        new.price = price
        shop.items["A"]?.append(new)
      }
      try shop.publish()
      var options = SyncOptions()
      options.allowRemovals = true
      _ = try shop.sync(folder, options: options)
      shop.clock.advance(days * 86_400)
      return try lowest()
    }
    func lowest() throws -> Int? {
      try CatalogReader(cache: folder.path("cache"), catalog: nil)
        .lowestPrice(of: item.id, days: 30)?.price.minorUnits
    }
    #expect(try sync("3,000원") == 3000)
    #expect(try sync(nil) == nil)
    #expect(try sync("8,000원") == 3000)

    for _ in 1...2 {
      _ = try gc { $0.prices = .zero }
      #expect(try lowest() == nil)
    }

    // Later than 30 days after its return, all of the days are known.
    #expect(try sync("8,000원", days: 40) == nil)
    #expect(try sync("9,000원") == 8000)
  }

  @Test func `a sweep keeps the URLs of pictures in a list that is withheld`() throws {
    _ = try shop.sync(folder)
    shop.items["A"] = [SampleShop.Item("A9")]
    try shop.publish()
    var options = SyncOptions()
    options.noDetails = true
    shop.store.faults = [FaultRule("/pictures/A9-*", .status(404))]
    let withheld = try shop.sync(folder, options: options)
    shop.clock.advance(30 * 86_400)
    #expect(try gc().plan.removals.isEmpty)
    shop.store.faults = []

    options.allowRemovals = true
    let accepted = try shop.sync(folder, options: options)

    #expect(withheld.outcome == .withheld && withheld.pictures.failed == 0)
    #expect(accepted.outcome == .complete && accepted.pictures.failed == 0)
    #expect(accepted.sections.map(\.source) == [.unchanged, .unchanged])
    #expect(try verify(folder).isClean)
  }

  @Test func `details that the catalog file no longer describes are forgotten`() throws {
    _ = try shop.sync(folder)
    func hasDetail() throws -> Bool {
      try CatalogReader(cache: folder.path("cache"), catalog: nil).show("A1")?.detail != nil
    }
    var options = SyncOptions()
    options.noDetails = true
    _ = try shop.sync(folder, options: options)
    #expect(try hasDetail())

    _ = try shop.sync(folder, shop.catalog(detail: false))

    #expect(try !hasDetail())
    #expect(try verify(folder).isClean)
  }

  @Test func `old runs and their data are forgotten, but never the run shown`()
    throws
  {
    for day in 0..<20 {
      shop.items["A"]?[0].title = "Day \(day)"
      try shop.publish()
      _ = try shop.sync(folder)
      shop.clock.advance(86_400)
    }

    let report = try gc { $0.history = .seconds(5 * 86_400) }

    #expect(report.runs == 15)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.runs().count == 5)
    #expect(try reader.list().map(\.item.title).contains("Day 19"))
    #expect(try reader.diff(from: nil, to: nil).items.changed.map(\.to) == ["Day 19"])
    shop.clock.advance(400 * 86_400)
    #expect(try gc { $0.history = .seconds(5 * 86_400) }.runs == 3)
    #expect(try reader.list().count == 6)
  }

  /// The number of rows of a table.
  private func count(_ table: String) throws -> Int {
    try DatabaseQueue(path: folder.path("cache/index.sqlite")).read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? -1
    }
  }

  @Test(arguments: [true, false])
  func `pages with changing addresses are removed with the runs that read them`(isChanging: Bool)
    throws
  {
    var options = SyncOptions()
    options.noDetails = true
    func catalog(_ day: Int) throws -> CatalogFile {
      try shop.catalog(sections: "[{key: A, url: 'A?cursor=\(day)'}]")
    }
    for day in 0..<5 {
      if isChanging { shop.items["A"]?[0].title = "Day \(day)" }
      try shop.publish()
      _ = try shop.sync(folder, catalog(day), options: options)
      shop.clock.advance(86_400)
    }
    #expect(try count("document") == 5 && count("item") == (isChanging ? 7 : 3))

    #expect(try gc { $0.history = .seconds(1) }.runs == 3)

    // The last two runs are kept with the documents that they read.
    #expect(try count("document") == 2 && count("decoded") == 2)
    #expect(try count("listing") == (isChanging ? 2 : 1))
    #expect(try count("item") == (isChanging ? 4 : 3))
    let report = try shop.sync(folder, catalog(4), options: options)
    #expect(report.sections.map(\.source) == [.unchanged])
  }

  @Test func `a forgotten catalog leaves no page, listing, item or detail`() throws {
    _ = try shop.sync(folder)
    let tables = ["document", "decoded", "listing", "item", "detail"]
    let before = try tables.map(count)
    let other = try SampleShop(sections: 2, items: 4)
    _ = try other.sync(folder, other.catalog(name: "other"))
    #expect(try zip(tables.map(count), before).allSatisfy { $0 > $1 })

    _ = try gc { $0.forget = ["other"] }
    #expect(try tables.map(count) == before)
    let name = try shop.catalog().name
    _ = try gc { $0.forget = [name] }
    #expect(try tables.map(count) == [0, 0, 0, 0, 0])
  }

  @Test func `an error after a run's end is reported, and the run is complete`() throws {
    _ = try shop.sync(folder)
    // Fails the insert, as when the disk fills up just then.
    try DatabaseQueue(path: folder.path("cache/index.sqlite")).write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER full BEFORE INSERT ON unreferenced
          BEGIN SELECT RAISE(FAIL, 'no space left'); END
          """
      )
    }
    shop.items["A"]?.removeLast()
    try shop.publish()
    let said = Mutex<[String]>([])

    let report = try shop.sync(folder, notice: { words in said.withLock { $0.append(words) } })

    #expect(report.outcome == .complete)
    #expect(said.withLock { $0.count } == 1)
    #expect(said.withLock { $0.first?.hasPrefix("the run is complete") } == true)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.lastRun().id == report.run)
  }

  @Test func `files of a killed run are swept although several catalogs share the cache`() throws {
    _ = try shop.sync(folder)
    _ = try shop.sync(folder, shop.catalog(name: "other", sections: "[{key: A, url: A}]"))
    let held = folder.files(below: "cache/images")
    let mine = try #require(held.keys.first { $0.contains("/B1-thumb") })
    let bytes = try folder.read(mine)
    try forget("B1-thumb")
    try folder.write(bytes, to: "cache/images/ab/nobody-0123456789ab.jpg")

    // The other catalog's file has no row now, but it must not be removed.
    let report = try shop.sync(
      folder,
      shop.catalog(name: "other", sections: "[{key: A, url: A}]")
    )

    #expect(report.outcome == .complete)
    #expect(folder.state(of: "cache/images/ab/nobody-0123456789ab.jpg") == nil)
    #expect(folder.state(of: mine) != nil)
    #expect(try shop.sync(folder).pictures.fetched == 0)
    #expect(try verify(folder).isClean)
  }

  /// Deletes a picture's row, as if a kill came before its commit.
  private func forget(_ name: String) throws {
    let cache = folder.path("cache")
    let layout = try CacheLayout(creating: cache)
    let index = try Index(layout)
    var entry: PictureEntry?
    try index.forEachPicture { if $0.url.contains(name) { entry = $0 } }
    let picture = try #require(entry)
    try index.delete(
      GcPlan(
        [
          .init(
            id: picture.id,
            url: picture.url,
            bytes: 1,
            content: 1,
            used: 0,
            unreferenced: 0
          )
        ],
        limits: .init(grace: 0),
        now: 1
      ).removals,
      at: 1
    )
  }

  @Test(arguments: ["gone", "damaged", "cut"])
  func `a missing or damaged index is rebuilt, and no stored body is fetched`(
    _ fault: String
  ) throws {
    _ = try shop.sync(folder)
    let before = folder.files(below: "cache/images").keys.sorted()
    let index = folder.path("cache/index.sqlite")
    switch fault {
    case "gone": try FileManager.default.removeItem(atPath: index)
    case "damaged": try folder.write("this is no database at all", to: "cache/index.sqlite")
    default:
      var bytes = try folder.read("cache/index.sqlite")
      for place in 16_384..<20_000 { bytes[place] = 0xAA }
      try folder.write(bytes, to: "cache/index.sqlite")
    }
    let found = try CacheCheck(folder.path("cache"), holder: nil).run(.full)
    #expect(found.index == (fault == "gone" ? .missing : .damaged))
    #expect(!found.isClean)

    do {
      let check = try CacheCheck(folder.path("cache"), holder: "a test", now: 5)
      try check.repair(try check.run(.full))
    }
    #expect(folder.files(below: "cache/images").keys.sorted() == before)
    shop.store.clearRequests()
    shop.clock.advance(3601)
    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.pictures.fetched == 0 && report.pictures.revalidated == 19)
    #expect(try verify(folder).isClean)
  }

  @Test func `a lost index does not remove the pictures of a catalog that has not run since`()
    throws
  {
    _ = try shop.sync(folder)
    let other = try shop.catalog(name: "other", sections: "[{key: A, url: A}]")
    try FileManager.default.removeItem(atPath: folder.path("cache/index.sqlite"))

    _ = try shop.sync(folder, other)
    #expect(folder.files(below: "cache/images").count == 19)
    #expect(try gc().strays.isEmpty)
    let report = try shop.sync(folder)

    #expect(report.pictures.fetched == 0)
    #expect(try verify(folder).isClean)
  }

  @Test func `pictures of an origin without dates are fetched again when the index is lost`()
    throws
  {
    let picture = try Picture(SampleShop.base)
    for path in ["/pictures/A1-thumb.jpg", "/pictures/A2-thumb.jpg"] {
      var resource = picture.resource(path, byteCount: 400)
      resource.lastModified = nil
      resource.etag = nil
      resource.cacheControl = "max-age=60"
      shop.store.content[path] = resource
    }
    _ = try shop.sync(folder)
    try FileManager.default.removeItem(atPath: folder.path("cache/index.sqlite"))
    // One of the two pictures now has other bytes, of another length.
    shop.store.content["/pictures/A2-thumb.jpg"] = picture.resource("other", byteCount: 500)
    shop.clock.advance(3601)

    let first = try shop.sync(folder)
    #expect(first.outcome == .complete)
    #expect(first.pictures.fetched == 2 && first.pictures.revalidated == 17)
    #expect(first.pictures.changed == 1)
    #expect(try verify(folder).isClean)
  }

  @Test func `a section that vanishes from a combined response is kept by the shrink guard`()
    throws
  {
    func response(_ keys: [String]) throws -> String {
      let sections = keys.map { key in
        "{\"key\": \"\(key)\", \"items\": ["
          + (0..<12).map { "{\"id\": \"\(key)\($0)\", \"title\": \"dish\"}" }.joined(
            separator: ","
          )
          + "]}"
      }
      return "[\(sections.joined(separator: ","))]"
    }
    shop.put(try response(["x", "y"]), at: "/shop/all")
    let catalog = try shop.catalog(
      sections: "{url: all, each: \"$[*]\", key: $.key}",
      detail: false
    )
    let before = try shop.sync(folder, catalog)
    #expect(before.sections.map(\.items) == [12, 12])
    shop.put(try response(["x"]), at: "/shop/all")

    for _ in 1...2 {
      let report = try shop.sync(folder, catalog)
      #expect(report.outcome == .withheld)
      #expect(report.items.withheld.count == 12)
      #expect(report.sections.map(\.key) == ["x", "y"])
    }
    var options = SyncOptions()
    options.allowRemovals = true
    let report = try shop.sync(folder, catalog, options: options)
    #expect(report.outcome == .complete && report.sections.map(\.key) == ["x"])
  }
}
