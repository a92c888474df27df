import Cache
import Pipeline
import Transport

/// Commits a planned run whose shards have all ended: a sync whose origin is the plan.
///
/// Sections and details are the answers in the plan's log, pictures what the manifests say; guards, diff, rows and report
/// are the sync's own. So is what a crash leaves: the run before is shown until the last transaction, and the merge can
/// be run again.
package struct ShardMerge {
  private let planned: PlannedRun
  private let cache: String
  private let keeper: (any PictureKeeping)?
  private let isRead: Bool
  private let now: @Sendable () -> UnixTime

  /// Prepares a merge.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - cache: The cache that the shards filled.
  ///   - keeper: What keeps the pictures in place of the cache's folder, if anything does.
  ///   - isRead: Whether every file's bytes are read and compared, and not only its length and date.
  ///   - now: The wall clock.
  package init(
    _ planned: PlannedRun,
    cache: String,
    keeper: (any PictureKeeping)? = nil,
    reading isRead: Bool,
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.planned = planned
    self.cache = cache
    self.keeper = keeper
    self.isRead = isRead
    self.now = now
  }

  /// Checks all manifests and their files, then commits.
  ///
  /// - Parameters:
  ///   - holder: What to write into the cache's lock.
  ///   - start: Told of the sync before it starts.
  ///   - sync: A sync of the plan's catalog into the cache, made of what takes the place of its origins.
  /// - Returns: The report.
  /// - Throws: ``ShardError`` when manifests or files are missing or wrong; ``SyncError``; ``CacheError``.
  package func run(
    holder: String,
    start: (SyncRun) -> Void = { _ in },
    sync: (RunParts) -> SyncRun
  ) throws -> SyncReport {
    try demandManifests()
    let manifests = try SettledManifests(
      planned,
      cache: cache,
      keeper: keeper,
      reading: isRead
    )
    let path = "\(planned.folder)/\(ShardPlan.documentsName)"
    let log = try DocumentLog(path)
    try PlannedRun.demand(
      log.sum,
      planned.plan.documents,
      ShardPlan.documentsName,
      in: planned.folder
    )
    var parts = RunParts()
    parts.pictures = .settled(manifests)
    parts.requests = manifests.requests
    let now = now
    parts.origin = { origin, _ in ReplayTransport(origin, log, path: path, now: now) }
    let run = sync(parts)
    start(run)
    let report = try run.run(holder: holder)
    if report.outcome != .interrupted {
      CacheLayout.removeRooms(of: cache, prefix: planned.plan.run)
    }
    return report
  }

  /// Demands a manifest of every shard.
  private func demandManifests() throws(ShardError) {
    var missing: [Int] = []
    for shard in planned.plan.shards.indices
    where try ShardManifest.trailer(of: shard, of: planned) == nil { missing.append(shard) }
    guard !missing.isEmpty else { return }
    let names = missing.map(String.init).joined(separator: ", ")
    let verb = missing.count == 1 ? "shard \(names) has" : "shards \(names) have"
    throw ShardError(
      .tryAgain,
      "cannot merge \(planned.name): \(verb) no manifest; "
        + "run \(missing.count == 1 ? "it" : "them"), then merge again"
    )
  }
}
