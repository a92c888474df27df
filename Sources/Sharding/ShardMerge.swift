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
  private let isRead: Bool
  private let now: @Sendable () -> UnixTime

  /// Prepares a merge.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - cache: The cache that the shards filled.
  ///   - isRead: Whether every file's bytes are read and compared, and not only its length and date.
  ///   - now: The wall clock.
  package init(
    _ planned: PlannedRun,
    cache: String,
    reading isRead: Bool,
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.planned = planned
    self.cache = cache
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
    let manifests = try manifests()
    let path = "\(planned.folder)/\(ShardPlan.documentsName)"
    let log = try DocumentLog(path)
    try PlannedRun.demand(
      log.sum,
      planned.plan.documents,
      ShardPlan.documentsName,
      in: planned.folder
    )
    var parts = RunParts()
    parts.pictures = .settled(try pictures(manifests))
    parts.requests = manifests.reduce(0) { $0 + $1.trailer.requests }
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

  /// The manifests of all shards.
  private func manifests() throws -> [ShardManifest] {
    var manifests: [ShardManifest] = []
    var missing: [Int] = []
    for shard in planned.plan.shards.indices {
      if let manifest = try ShardManifest(shard, of: planned) {
        manifests.append(manifest)
      } else {
        missing.append(shard)
      }
    }
    guard missing.isEmpty else {
      let names = missing.map(String.init).joined(separator: ", ")
      let verb = missing.count == 1 ? "shard \(names) has" : "shards \(names) have"
      throw ShardError(
        .tryAgain,
        "cannot merge \(planned.folder): \(verb) no manifest; "
          + "run \(missing.count == 1 ? "it" : "them"), then merge again"
      )
    }
    return manifests
  }

  /// The pictures of the manifests, as their files are.
  private func pictures(_ manifests: [ShardManifest]) throws -> [PictureID: SettledPicture] {
    let layout = try CacheLayout(creating: cache)
    var pictures: [PictureID: SettledPicture] = [:]
    pictures.reserveCapacity(planned.plan.urls)
    var lost: [String] = []
    for picture in manifests.lazy.flatMap(\.pictures) {
      var picture = picture
      if let entry = try layout.confirmed(picture.entry, read: isRead) {
        picture.entry = entry
      } else {
        lost.append(picture.entry.name.path)
      }
      guard pictures.updateValue(picture, forKey: picture.entry.id) == nil else {
        throw ShardError(
          .data,
          "cannot merge \(planned.folder): \(picture.entry.url) is in two manifests; plan anew"
        )
      }
    }
    if let first = lost.first {
      let others = lost.count == 1 ? "" : " and \(lost.count - 1) more"
      throw ShardError(
        .lost,
        "cannot merge \(planned.folder): \(cache)/\(first)\(others) is not as its shard left it; "
          + "plan anew, what is whole is not fetched again"
      )
    }
    return pictures
  }
}
