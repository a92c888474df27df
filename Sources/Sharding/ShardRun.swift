import Base
import Cache
import Pipeline
import Transport

/// The result of a shard run.
package struct ShardOutcome: Codable, Equatable, Sendable {
  /// The shard's number, from 0.
  package var shard: Int
  /// The number of its pictures.
  package var urls: Int
  /// The number of pictures that were fetched.
  package var fetched: Int
  /// The number of pictures that the cache held and that are current.
  package var held: Int
  /// The number of pictures that could not be fetched.
  package var failed: Int
  /// Whether this run committed the shard's manifest; false when another run did.
  package var committed: Bool

  init(_ trailer: ManifestTrailer, committed: Bool) {
    shard = trailer.shard
    urls = trailer.urls
    fetched = trailer.fetched
    held = trailer.held
    failed = trailer.failed
    self.committed = committed
  }
}

/// Runs one shard of a plan: fetches its pictures into the cache, then commits its manifest.
package final class ShardRun: Sendable {
  private let planned: PlannedRun
  private let shard: Int
  private let token: String
  private let maxFailures: Double
  private let pictures: PictureListRun
  private let publish: (@Sendable (String) throws -> Bool)?
  private let disk: any Disk

  /// The run's progress, for a display.
  package var progress: ProgressMeter { pictures.progress }

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - shard: The shard's number, from 0.
  ///   - cache: The cache that all shards share.
  ///   - token: A unique token of this process.
  ///   - maxFailures: The highest percentage of pictures with temporary failures at which the shard is still committed.
  ///   - transport: The transport for the requests.
  ///   - environment: The values for `${NAME}` in the catalog's headers and URLs.
  ///   - disk: The file system; tests replace it.
  ///   - remote: The object store that has the pictures instead of the cache's folder, if any.
  ///   - publish: Uploads the manifest with the given name, when the plan's folder is a copy of a folder in a store.
  ///     Returns false when the store had another manifest, which now replaces the manifest in the copy.
  ///   - now: The wall clock.
  /// - Throws: ``LarderError`` when the plan has no such shard.
  package init(
    _ planned: PlannedRun,
    shard: Int,
    cache: String,
    token: String,
    maxFailures: Double = 10,
    transport: any Fetching,
    environment: [String: String] = [:],
    disk: any Disk = SystemDisk(),
    remote: (any RemotePictures)? = nil,
    publish: (@Sendable (String) throws -> Bool)? = nil,
    now: @escaping @Sendable () -> UnixTime
  ) throws(LarderError) {
    guard planned.plan.shards.indices.contains(shard) else {
      throw LarderError(
        .usage,
        "cannot run shard \(shard): the plan has the shards 0 to \(planned.plan.shards.count - 1)"
      )
    }
    self.planned = planned
    self.shard = shard
    self.token = token
    self.maxFailures = maxFailures
    self.disk = disk
    self.publish = publish
    pictures = PictureListRun(
      planned.catalog,
      cache: cache,
      room: "\(planned.plan.run)-\(shard)-\(token)",
      options: planned.options,
      transport: transport,
      environment: environment,
      disk: disk,
      remote: remote,
      now: now
    )
  }

  /// Ends the run early: nothing is committed, but complete pictures are kept for the next run.
  package func stop() { pictures.stop() }

  /// Runs to the end.
  ///
  /// - Returns: The result.
  /// - Throws: ``LarderError`` with the code `tryAgain` when the shard should be run again, and with another code
  ///   otherwise; ``CatalogError``.
  package func run() throws -> ShardOutcome {
    if let other = try committed() { return other }
    do {
      return try perform()
    } catch {
      // If another run has committed the shard, the shard is done even if this run failed. This run may have failed
      // because a merge removed its work folder.
      guard let other = try? committed() else { throw error }
      return other
    }
  }

  /// The result of the run that committed the shard; nil when no run has committed it.
  private func committed() throws(LarderError) -> ShardOutcome? {
    try ShardManifest.trailer(of: shard, of: planned).map { ShardOutcome($0, committed: false) }
  }

  private func perform() throws -> ShardOutcome {
    let result = try pictures.run(try planned.pictures(of: shard))
    if result.unfinished > 0 || pictures.hasStopped {
      throw LarderError(
        .tryAgain,
        "cannot commit shard \(shard): it ended with \(result.unfinished) pictures left; "
          + "fetched pictures are kept, run it again"
      )
    }
    try demandFew(result.pictures)
    let folder = try Folder(path: planned.folder, creating: false)
    let trailer = trailer(of: result)
    var isCommitted = try ShardManifest.commit(
      result.pictures,
      trailer,
      in: folder,
      token: token,
      on: disk
    )
    if isCommitted, let publish {
      isCommitted = try publish(ShardPlan.manifestName(shard))
    }
    if !isCommitted, let other = try committed() { return other }
    return ShardOutcome(trailer, committed: isCommitted)
  }

  /// Throws if too many pictures failed for temporary reasons.
  private func demandFew(_ pictures: [SettledPicture]) throws(LarderError) {
    let failed = pictures.filter { $0.end == .failed }
    let passing = failed.count { $0.failure.map { Self.mayPass($0.reason) } ?? false }
    guard Self.isTooMany(passing, of: pictures.count, share: maxFailures) else { return }
    throw LarderError(
      .tryAgain,
      "cannot commit shard \(shard): \(passing) of \(pictures.count) pictures failed "
        + "temporarily; fetched pictures are kept, run it again"
    )
  }

  /// Whether a picture that failed for this reason, as reports name it, may succeed in another run.
  static func mayPass(_ reason: String) -> Bool {
    let status = reason.hasPrefix("http-") ? Int(reason.dropFirst(5)) : nil
    let word = FailureReason(rawValue: reason)
    let failure = TransferFailure(reason: word, url: "", status: status)
    return RetryPolicy.mayPass(failure) || word == .circuitOpen
  }

  /// Whether this number of temporary failures keeps a shard from being committed.
  static func isTooMany(_ failures: Int, of count: Int, share: Double) -> Bool {
    failures > 0 && Double(failures) * 100 > share * Double(count)
  }

  private func trailer(of result: PictureListRun.Result) -> ManifestTrailer {
    var trailer = ManifestTrailer(
      plan: planned.plan.digest,
      run: planned.plan.run,
      shard: shard,
      urls: result.pictures.count,
      fetched: 0,
      held: 0,
      failed: 0,
      requests: result.requests,
      rows: FileSum(bytes: 0, sha256: ""),
      writer: token
    )
    for picture in result.pictures {
      switch picture.end {
      case .fetched: trailer.fetched += 1
      case .revalidated, .excused: trailer.held += 1
      case .failed, .unfinished: trailer.failed += 1
      }
    }
    return trailer
  }
}
