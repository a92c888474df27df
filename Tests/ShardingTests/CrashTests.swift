import Base
import CurlTransport
import Dispatch
import Glibc
import Pipeline
import SampleStore
import Support
import Synchronization
import Testing

@testable import Cache
@testable import Sharding

/// Shards that are killed, run twice, or fail.
struct CrashTests {
  private let shop: SampleShop
  private let sharded: ShardedShop

  init() throws {
    shop = try SampleShop(sections: 1, items: 2)
    sharded = try ShardedShop(shop)
  }

  @Test func `a shard killed at any step is run again and merged completely`() throws {
    var step = 0
    while true {
      step += 1
      let sharded = try ShardedShop(shop)
      try sharded.plan(1)
      let disk = FaultyDisk(.crash(at: step))
      let outcome = try? sharded.run(0, disk: disk)
      if outcome?.committed == true, disk.operations.count < step { break }

      let again = try sharded.run(0)
      let report = try sharded.merge(reading: true)

      #expect(again.urls == 7 && again.failed == 0, "step \(step)")
      #expect(report.outcome == .complete, "step \(step)")
      #expect(try verify(sharded.folder) == VerifyReport(checked: 7), "step \(step)")
      #expect(sharded.folder.files(below: "cache/shards").isEmpty)
    }
    #expect(step > 20)
  }

  @Test func `a shard whose disk fails at any step commits only whole pictures`() throws {
    for step in 1...30 {
      let sharded = try ShardedShop(shop)
      try sharded.plan(1)
      _ = try? sharded.run(0, disk: FaultyDisk(.fail(at: step, errno: EIO)))

      try sharded.run(0)

      #expect(try sharded.merge(reading: true).outcome == .complete, "step \(step)")
      #expect(try verify(sharded.folder).isClean, "step \(step)")
    }
  }

  @Test func `a plan that was killed at any step is not accepted`() throws {
    var step = 0
    while true {
      step += 1
      let sharded = try ShardedShop(shop)
      let disk = FaultyDisk(.crash(at: step))
      if (try? sharded.plan(2, disk: disk)) != nil { break }

      let isNamed = disk.operations.dropLast().contains { $0.hasPrefix("rename plan.json") }
      if isNamed { continue }
      #expect(throws: LarderError.self, "step \(step)") { try sharded.planned }
    }
    #expect(step > 8)
  }

  @Test func `pictures of a killed shard are not fetched again`() throws {
    try sharded.plan(1)
    let counting = FaultyDisk()
    let trial = try ShardedShop(shop)
    try trial.plan(1)
    try trial.run(0, disk: counting)
    let last = try #require(counting.operations.firstIndex { $0.hasPrefix("create manifest") })
    _ = try? sharded.run(0, disk: FaultyDisk(.crash(at: last + 1)))
    shop.store.clearRequests()

    let again = try sharded.run(0)

    #expect(again.held == 7 && again.fetched == 0 && again.committed)
    #expect(shop.store.requests.allSatisfy { $0.status == 304 })
    #expect(try sharded.merge().pictures.revalidated == 7)
  }

  @Test func `only one of two concurrent runs of a shard commits`() throws {
    try sharded.plan(1)
    let planned = try sharded.planned
    let folder = try Folder(path: sharded.folder.path("plan"), creating: false)
    let sums = Mutex<[Bool]>([])
    let trailer = ManifestTrailer(
      plan: planned.digest,
      run: planned.plan.run,
      shard: 0,
      urls: 0,
      fetched: 0,
      held: 0,
      failed: 0,
      revalidated: 0,
      changed: 0,
      bytes: 0,
      requests: 0
    )

    DispatchQueue.concurrentPerform(iterations: 8) { number in
      let isCommitted = try? ShardManifest.commit(
        [],
        trailer,
        in: folder,
        token: "\(number)",
        on: SystemDisk(durable: false)
      )
      sums.withLock { $0.append(isCommitted ?? false) }
    }

    #expect(sums.withLock { $0.count { $0 } } == 1)
    #expect(try folder.names().filter { $0.hasPrefix("manifest") } == ["manifest-0.ndjson"])
  }

  @Test func `a shard whose manifest cannot be uploaded is not committed`() throws {
    try sharded.plan(1)
    let planned = try sharded.planned
    let (cache, clock) = (sharded.folder.path("cache"), shop.clock)
    let curl = try CurlTransport(shop.transportOptions())
    defer { curl.shutdown() }
    func run(_ token: String, publish: @escaping (String) throws -> Bool) throws -> ShardOutcome {
      try planned.run(0, cache: cache, token: token, curl, publish: publish) { clock.now }
    }

    #expect(throws: LarderError.self) {
      try run("first") { _ in throw LarderError(.busy, "the store is busy") }
    }

    #expect(sharded.folder.files(below: "plan").keys.allSatisfy { !$0.contains("manifest") })
    #expect(try run("second") { _ in true }.committed)
  }

  @Test func `a manifest that is a FIFO is refused, and not waited for`() throws {
    try sharded.plan(1)
    #expect(mkfifo(sharded.folder.path("plan/manifest-0.ndjson"), 0o600) == 0)

    #expect(throws: LarderError.self) { try sharded.run(0) }
  }

  @Test func `two concurrent runs of a shard leave one manifest and a whole cache`() throws {
    try sharded.plan(1)
    let other = sharded.folder.path("plan")
    let outcomes = Mutex<[ShardOutcome]>([])
    let (store, clock) = (shop, shop.clock)
    let (options, cache) = (store.transportOptions(), sharded.folder.path("cache"))

    DispatchQueue.concurrentPerform(iterations: 2) { number in
      guard let curl = try? CurlTransport(options) else { return }
      defer { curl.shutdown() }
      let outcome = try? PlannedRun(other)
        .run(0, cache: cache, token: "rival-\(number)", curl, now: { clock.now })
      if let outcome { outcomes.withLock { $0.append(outcome) } }
    }

    let ended = outcomes.withLock { $0 }
    #expect(ended.count == 2 && ended.count { $0.committed } == 1)
    #expect(ended.allSatisfy { $0.urls == 7 && $0.failed == 0 })
    #expect(try sharded.merge().outcome == .complete)
    #expect(try verify(sharded.folder) == VerifyReport(checked: 7))
  }

  @Test func `a stalled run whose folder the merge removed ends without an error`() throws {
    try sharded.plan(1)
    let (plan, cache) = (sharded.folder.path("plan"), sharded.folder.path("cache"))
    let (options, clock) = (shop.transportOptions(), shop.clock)
    let isOvertaken = Mutex(false)
    @Sendable func run(_ token: String, now: @escaping @Sendable () -> UnixTime) throws
      -> ShardOutcome
    {
      let curl = try CurlTransport(options)
      defer { curl.shutdown() }
      return try PlannedRun(plan).run(0, cache: cache, token: token, curl, now: now)
    }

    let stray = try run("stray") {
      let room = "\(cache)/shards/run-of-plan-0-stray"
      let isFirst = isOvertaken.withLock { isOvertaken in
        defer { isOvertaken = isOvertaken || access(room, F_OK) == 0 }
        return !isOvertaken && access(room, F_OK) == 0
      }
      if isFirst, (try? run("successor") { clock.now })?.committed == true {
        CacheLayout.removeWorkFolders(of: cache, prefix: "run-of-plan")
      }
      return clock.now
    }

    #expect(isOvertaken.withLock { $0 } && !stray.committed && stray.fetched == 7)
    #expect(try sharded.merge(reading: true).outcome == .complete)
    #expect(try verify(sharded.folder) == VerifyReport(checked: 7))
  }

  @Test func `a shard that ends early counts the pictures that it never requested too`() throws {
    let large = try ShardedShop(SampleShop(sections: 1, items: 600))
    try large.plan(1)
    let pictures = try #require(try large.planned.plan.shards.first).urls
    var transport = large.shop.transportOptions()
    transport.maxBytes = 1

    let error = #expect(throws: LarderError.self) { try large.run(0, transport: transport) }

    #expect(pictures > 600)
    #expect(error?.description.contains("ended with \(pictures) pictures left") == true)
    #expect(try large.run(0).committed)
  }

  @Test func `a shard with a manifest sends no request`() throws {
    try sharded.plan(1)
    let first = try sharded.run(0)
    shop.store.clearRequests()

    let second = try sharded.run(0)

    #expect(first.committed && !second.committed)
    #expect(second.fetched == first.fetched && shop.store.requests.isEmpty)
  }

  @Test func `temporary failures keep a shard from being committed, permanent ones do not`()
    throws
  {
    try sharded.plan(1)
    shop.store.faults = [FaultRule("/pictures/A1-*", .status(503))]
    let error = #expect(throws: LarderError.self) { try sharded.run(0) }
    #expect(error?.code == .tryAgain)
    #expect(throws: LarderError.self) { try sharded.merge() }

    #expect(try sharded.run(0, maxFailures: 100).failed == 3)
    shop.store.faults = []
    let lasting = try ShardedShop(shop)
    try lasting.plan(1)
    shop.store.faults = [FaultRule("/pictures/A1-*", .status(404))]
    #expect(try lasting.run(0).failed == 3)
    #expect(try lasting.merge().outcome == .partial)
  }

  @Test(arguments: [
    (0, 0, 10.0, false), (0, 10, 0, false), (1, 10, 10, false), (2, 10, 10, true),
    (1, 10, 0, true), (10, 10, 100, false), (1, 9, 10, true),
  ])
  func `the number of tolerated failures is limited`(
    _ failures: Int,
    _ count: Int,
    _ share: Double,
    _ isTooMany: Bool
  ) {
    #expect(ShardOutcome.isTooMany(failures, of: count, share: share) == isTooMany)
  }

  @Test(arguments: [
    ("http-503", true), ("http-429", true), ("http-404", false), ("reset", true),
    ("dns-failed", true), ("circuit-open", true), ("not-a-picture", false),
    ("address-refused", false), ("tls-expired", false), ("http-501", false),
  ])
  func `temporary and permanent failures are distinguished`(_ reason: String, _ mayPass: Bool) {
    #expect(ShardOutcome.mayPass(reason) == mayPass)
  }
}
