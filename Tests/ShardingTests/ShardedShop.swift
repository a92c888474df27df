import Base
import CurlTransport
import Pipeline
import SampleStore
import Support
import Testing

@testable import Cache
@testable import Sharding

/// A shop with a folder for its plan and its cache, where a sync is planned, run in shards and merged.
final class ShardedShop {
  let shop: SampleShop
  let folder: TemporaryFolder
  /// The number of simulated processes so far.
  private var count = 0

  init(_ shop: SampleShop) throws {
    self.shop = shop
    folder = try TemporaryFolder()
  }

  var planned: PlannedRun { get throws { try PlannedRun(folder.path("plan")) } }

  /// Plans the shop's catalog in the folder `plan`.
  @discardableResult
  func plan(
    _ shards: Int,
    by partition: Partition = .url,
    out: String = "plan",
    disk: any Disk = SystemDisk(durable: false)
  ) throws -> (plan: ShardPlan?, report: SyncReport) {
    let text = Array(shop.catalogText().utf8)
    let catalog = try shop.catalog()
    let curl = try CurlTransport(shop.transportOptions())
    defer { curl.shutdown() }
    let clock = shop.clock
    let planning = ShardPlanning(
      shards: shards,
      by: partition,
      run: "run-of-\(out)"
    )
    return try planning.make(
      catalog,
      text: text,
      out: folder.path(out),
      cache: folder.path("cache"),
      options: SyncOptions(),
      disk: disk,
      now: { clock.now }
    ) { cache, shared in
      try SyncRun(
        catalog,
        folder: "",
        cache: cache,
        transport: curl,
        shared: shared,
        disk: SystemDisk(durable: false),
        now: { clock.now }
      ).run(holder: "a test")
    }
  }

  /// Runs a shard.
  @discardableResult
  func run(
    _ shard: Int,
    token: String? = nil,
    maxFailures: Double = 10,
    disk: any Disk = SystemDisk(durable: false),
    transport: TransportOptions? = nil
  ) throws -> ShardOutcome {
    count += 1
    let curl = try CurlTransport(transport ?? shop.transportOptions())
    defer { curl.shutdown() }
    let clock = shop.clock
    return try planned.run(
      shard,
      cache: folder.path("cache"),
      token: token ?? "process-\(count)",
      maxFailures: maxFailures,
      curl,
      disk: disk,
      now: { clock.now }
    )
  }

  /// Merges the planned run.
  ///
  /// `meanwhile` is called after the manifests were checked, and before they are read again.
  func merge(
    reading isRead: Bool = false,
    meanwhile: (TemporaryFolder) throws -> Void = { _ in }
  ) throws -> SyncReport {
    let planned = try planned
    let curl = try CurlTransport(shop.transportOptions())
    defer { curl.shutdown() }
    let clock = shop.clock
    var failure: (any Error)?
    defer { if let failure { Issue.record(failure) } }
    return try planned.merge(cache: folder.path("cache"), reading: isRead) { shared in
      do { try meanwhile(folder) } catch { failure = error }
      return try SyncRun(
        planned.catalog,
        folder: "",
        cache: folder.path("cache"),
        options: planned.options,
        transport: curl,
        shared: shared,
        disk: SystemDisk(durable: false),
        now: { clock.now }
      ).run(holder: "a test")
    }
  }

  /// Plans, runs all shards and merges.
  func sync(_ shards: Int, by partition: Partition = .url) throws -> SyncReport {
    try plan(shards, by: partition)
    for shard in 0..<shards { try run(shard) }
    return try merge()
  }
}

extension PlannedRun {
  /// Runs a shard into a cache.
  func run(
    _ shard: Int,
    cache: String,
    token: String,
    maxFailures: Double = 10,
    _ curl: CurlTransport,
    disk: any Disk = SystemDisk(durable: false),
    publish: ((String) throws -> Bool)? = nil,
    now: @escaping @Sendable () -> UnixTime
  ) throws -> ShardOutcome {
    let run = SyncRun(
      catalog,
      cache: cache,
      options: options,
      transport: curl,
      disk: disk,
      now: now
    )
    return try self.run(shard, by: run, token: token, maxFailures: maxFailures, publish: publish)
  }
}

/// The rows of the pictures in a folder's cache, without the inodes of their files.
func rows(_ folder: TemporaryFolder) throws -> [PictureEntry] {
  var rows: [PictureEntry] = []
  try Index(reading: folder.path("cache")).forEachPicture { entry in
    var entry = entry
    entry.stamp?.inode = 0
    rows.append(entry)
  }
  return rows
}

extension SyncReport {
  /// The report without values that differ between runs.
  var comparable: SyncReport {
    var report = self
    report.run = nil
    report.durationSeconds = 0
    return report
  }
}
