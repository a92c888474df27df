import Base
import Cache
import Foundation
import Glibc
import SampleStore
import Support
import Synchronization
import Testing
import Transport

@testable import Pipeline

/// Runs that are stopped, killed or concurrent.
struct InterruptionTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 3, items: 60)
  }

  /// Syncs, and stops the run when the store has received this many requests.
  private func syncStopped(after count: Int) throws -> SyncReport {
    shop.store.clearRequests()
    let stopped = DispatchSemaphore(value: 0)
    let report = try shop.sync(folder) { run in
      let store = shop.store
      Thread.detachNewThread {
        _ = store.waitForRequests(count)
        run.stop()
        stopped.signal()
      }
    }
    stopped.wait()
    return report
  }

  @Test func `a stopped run keeps complete pictures and reports the unfinished ones`() throws {
    // One detail hangs, so that the run cannot end before it is stopped.
    shop.store.faults = [FaultRule("/shop/detail/A1", .hang)]

    let report = try syncStopped(after: 100)

    #expect(report.outcome == .interrupted)
    #expect(report.failures.isEmpty)
    #expect(!report.unfinished.isEmpty)
    // The store has received only the requests that were in progress. Many more wait in the queues.
    #expect(shop.store.requests.count < 3 + 180 + 541)
    #expect(try verify(folder).isClean)

    shop.store.faults = []
    let next = try shop.sync(folder)
    #expect(next.outcome == .complete)
    #expect(next.pictures.fetched + next.pictures.fresh == 541)
    #expect(next.pictures.fresh == report.pictures.fetched)
    #expect(try verify(folder) == VerifyReport(checked: 541))
  }

  @Test func `a first run that was stopped before any section came leaves no catalog`() throws {
    shop.store.faults = [FaultRule("/shop/*", .hang)]

    let report = try syncStopped(after: 3)
    shop.store.faults = []
    let next = try shop.sync(folder)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)

    #expect(report.outcome == .interrupted && report.run == nil)
    #expect(next.run == 1 && next.items.added.count == 180)
    #expect(try reader.history().isEmpty)
  }

  @Test func `a lasting failure stays known over a run that was stopped before it`() throws {
    shop.put(nil, at: "/shop/detail/C60")
    shop.store.faults = [FaultRule("/pictures/A1-top.jpg", .status(410))]
    let first = try shop.sync(folder)
    shop.clock.advance(86_400)
    shop.store.faults = [FaultRule("/shop/*", .hang)]
    _ = try syncStopped(after: 3)
    shop.store.faults = [FaultRule("/pictures/A1-top.jpg", .status(410))]

    let last = try shop.sync(folder)

    #expect(first.failures.map(\.isKnown) == [false])
    #expect(last.failures.map(\.isKnown) == [true] && last.outcome == .complete)
  }

  @Test func `a stopped run starts nothing more from its queues`() throws {
    // No picture is answered, so no queue can start another one before the stop.
    shop.store.faults = [FaultRule("/pictures/*", .hang)]

    let report = try syncStopped(after: 3 + 60)
    shop.store.faults = []

    #expect(report.outcome == .interrupted)
    #expect(report.pictures.fetched == 0)
    #expect(shop.store.requests.count { $0.path.hasPrefix("/pictures/") && $0.status != nil } == 0)
    #expect(report.pictures.total == report.unfinishedCounts[.picture])
    // Pictures that were never requested are only counted.
    #expect(try #require(report.unfinishedOmitted[.picture]) >= 29)
    #expect(folder.files(below: "cache/images").isEmpty)
  }

  @Test func `a run stopped before its start fetches nothing`() throws {
    let report = try shop.sync(folder) { $0.stop() }

    #expect(report.outcome == .interrupted)
    #expect(report.sections.allSatisfy { $0.source == .failed })
    #expect(report.unfinished.map(\.stage) == [.section, .section, .section])
    #expect(report.failures.isEmpty && report.requests == 0)
    #expect(shop.store.requests.isEmpty)
  }

  @Test func `pictures beyond a byte limit are unfinished, not failed`() throws {
    let shop = try SampleShop(sections: 1, items: 5)
    var options = shop.transportOptions()
    options.maxBytes = 4000

    let report = try shop.sync(folder, transport: options)

    #expect(report.failures.isEmpty)
    #expect(!report.unfinished.isEmpty)
    #expect(report.limit == .bytesLimit)
    #expect(report.outcome == .partial)
  }

  @Test
  func `pictures that do not fit beside the disk reserve are unfinished, and later runs continue`()
    throws
  {
    let shop = try SampleShop(sections: 1, items: 5)
    let looks = Atomic(0)
    var options = shop.transportOptions()
    options.parallel = .fixed(1)
    options.reserve = DiskReserve(1_048_576) {
      looks.add(1, ordering: .relaxed)
      return 524_288
    }

    let report = try shop.sync(folder, transport: options)

    #expect(report.failures.isEmpty && !report.unfinished.isEmpty)
    #expect(report.pictures.fetched == 0 && looks.load(ordering: .relaxed) > 0)
    options.reserve = DiskReserve(1_048_576) { 1_048_576 }
    #expect(try shop.sync(folder, transport: options).outcome == .complete)
  }

  @Test func `a second run on the same cache is refused at once, with the holder's name`() throws {
    shop.store.faults = [FaultRule("/shop/A", .hang)]
    let refusal = Mutex<LarderError?>(nil)
    let (shop, folder) = (shop, folder)
    let clock = shop.clock
    let catalog = try shop.catalog()
    _ = try shop.sync(folder) { run in
      let store = shop.store
      Thread.detachNewThread {
        _ = store.waitForRequests(1)
        let second = SyncRun(
          catalog,
          folder: folder.path,
          cache: folder.path("cache"),
          transport: FakeTransport(),
          now: { clock.now }
        )
        do { _ = try second.run(holder: "another") } catch {
          refusal.withLock { $0 = error as? LarderError }
        }
        run.stop()
      }
    }

    guard let error = refusal.withLock({ $0 }) else {
      Issue.record("the second run was not refused")
      return
    }
    #expect(error.code == .locked)
    #expect(error.description.contains("a test is using it"))
  }

  @Test
  func `a crash loses at most two groups of pictures, and no truncated file is ever visible`()
    throws
  {
    let shop = try SampleShop(sections: 2, items: 12)
    let total = 73
    let counting = FaultyDisk()
    _ = try shop.sync(TemporaryFolder(), disk: counting)
    let operations = counting.operations.count

    for number in stride(from: 1, through: operations, by: operations / 8) {
      let folder = try TemporaryFolder()
      _ = try? shop.sync(folder, disk: FaultyDisk(.crash(at: number)))
      let whole = folder.files(below: "cache/images").count
      shop.store.clearRequests()

      let report = try shop.sync(folder)

      #expect(report.outcome == .complete, "operation \(number)")
      let refetched = shop.store.requests.count {
        $0.path.contains("/pictures/") && $0.status == 200
      }
      // A file that was renamed before the crash is adopted and confirmed by a 304.
      #expect(refetched == total - whole, "operation \(number)")
      #expect(report.pictures.revalidated + report.pictures.fresh == whole, "operation \(number)")
      #expect(try verify(folder) == VerifyReport(checked: total))
    }
  }

  @Test func `a plan has the requests of the next run, wherever the run before was killed`() throws
  {
    let shop = try SampleShop(sections: 2, items: 6)
    /// Fetches all pictures of a cache, all of whose files were deleted.
    func refetch(_ disk: FaultyDisk) throws -> TemporaryFolder {
      let folder = try TemporaryFolder()
      _ = try shop.sync(folder)
      for file in folder.files(below: "cache/images").keys {
        try FileManager.default.removeItem(atPath: folder.path(file))
      }
      _ = try? shop.sync(folder, disk: disk)
      return folder
    }
    let counting = FaultyDisk()
    _ = try refetch(counting)
    var adopted = 0

    for number in stride(from: 1, through: counting.operations.count, by: 9) {
      let folder = try refetch(FaultyDisk(.crash(at: number)))
      let state = folder.files(below: "cache")
      let plan = try shop.plan(folder)
      #expect(folder.files(below: "cache") == state)
      shop.store.clearRequests()
      _ = try shop.sync(folder)

      let asked = shop.store.requests.filter { $0.path.hasPrefix("/pictures/") }
      let conditional = asked.filter { $0.headers["If-Modified-Since"] != nil }.map(\.path)
      var expected = SyncPlan.Work()
      expected.fetch = Set(asked.map(\.path)).subtracting(conditional)
        .map { shop.store.baseURL + $0 }.sorted()
      expected.revalidate = conditional.map { shop.store.baseURL + $0 }.sorted()
      expected.fresh = 37 - asked.count
      #expect(plan.images == expected, "operation \(number)")
      adopted += conditional.count
    }
    #expect(adopted > 0, "no killed run left a file without its row")
  }

  @Test func `a cache that lost its index keeps its pictures`() throws {
    _ = try shop.sync(folder)
    let before = folder.files(below: "cache/images")
    for name in ["index.sqlite", "index.sqlite-journal"] {
      try? FileManager.default.removeItem(atPath: folder.path("cache/\(name)"))
    }
    shop.store.clearRequests()

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.pictures.revalidated == 541 && report.pictures.fetched == 0)
    #expect(folder.files(below: "cache/images") == before)
    #expect(try verify(folder) == VerifyReport(checked: 541))
  }

  @Test func `a complete run removes files without a row, although a partial run came between`()
    throws
  {
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    let stray = "cache/images/00/left-000000000000.jpg"
    try folder.write([0xFF, 0xD8, 0xFF, 0xD9], to: stray)
    try folder.write([0xFF, 0xD8, 0xFF, 0xD9], to: "cache/images/left.jpg")
    shop.store.faults = [FaultRule("/shop/detail/A1", .status(500))]
    #expect(try shop.sync(folder).outcome == .partial)
    #expect(folder.state(of: stray) != nil)
    shop.store.faults = []
    let plan = try shop.plan(folder)

    #expect(try shop.sync(folder).outcome == .complete)

    // A file outside of the pictures' folders is left for `verify` and `gc`.
    #expect(plan.sweep == ["images/00/left-000000000000.jpg"])
    #expect(folder.state(of: stray) == nil && folder.state(of: "cache/images/left.jpg") != nil)
    #expect(try shop.plan(folder).sweep.isEmpty)
    #expect(try verify(folder).strays == ["images/left.jpg"])
    try FileManager.default.removeItem(atPath: folder.path("cache/images/left.jpg"))
    #expect(try verify(folder).isClean)
  }

  @Test(arguments: ["", "times set back", "times recorded"])
  func `a picture file that was deleted is fetched again`(_ folderTimes: String) throws {
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    let file = try #require(folder.files(below: "cache/images").keys.sorted().first)
    let parent = folder.path(String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]))
    var status = stat()
    #expect(stat(parent, &status) == 0)
    #expect(unlink(folder.path(file)) == 0)
    switch folderTimes {
    case "times set back":
      // A restore of some files sets the times of folders last.
      #expect(utimensat(AT_FDCWD, parent, [status.st_atim, status.st_mtim], 0) == 0)
    case "times recorded":
      // A run that fills a folder records its times at the end. Then the row looks right until the picture is due.
      let layout = try CacheLayout(creating: folder.path("cache"))
      try Index(layout).noteFolderTimes(of: layout)
      shop.clock.advance(400 * 86_400)
    default: break
    }
    #expect(try verify(folder).missing.count == 1)
    #expect(try shop.plan(folder).images.fetch.count == 1)

    let report = try shop.sync(folder)

    #expect(report.pictures.fetched == 1 && report.pictures.changed == 0)
    #expect(try verify(folder).isClean)
  }

  @Test func `a repair forgets damaged pictures, and the next run fetches them`() throws {
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    let files = folder.files(below: "cache/images").keys.sorted()
    let handle = try #require(FileHandle(forUpdatingAtPath: folder.path(files[0])))
    try handle.write(contentsOf: Data([0xFF, 0xD8, 0xFF, 0xDA]))
    try handle.close()
    let check = try CacheCheck(folder.path("cache"), holder: "a test")
    let damage = try check.run(.full)
    #expect("cache/" + (damage.damaged.first ?? "") == files[0])

    try check.repair(damage)
    #expect(try check.run(.full).isClean)
    _ = consume check

    #expect(try shop.sync(folder).pictures.fetched == 1)
    #expect(try verify(folder) == VerifyReport(checked: files.count))
  }
}
