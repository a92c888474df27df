import Base
import Cache
import Pipeline
import Transport

/// The result of the run of a shard, which is the part of a sync's pictures that one machine fetches.
package struct ShardOutcome: Codable, Equatable, Sendable {
  /// The shard's number.
  ///
  /// The first shard has the number 0.
  package var shard: Int
  /// The number of pictures in the shard.
  package var urls: Int
  /// The number of pictures that were fetched.
  package var fetched: Int
  /// The number of pictures whose version in the cache is still current.
  package var held: Int
  /// The number of pictures that could not be fetched.
  package var failed: Int
  /// Whether this run committed the shard's results.
  ///
  /// False means that another run of the same shard did.
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

/// Runs one shard of a plan: fetches the shard's pictures into the cache, then commits its manifest.
///
/// The manifest is the file with the results of the shard. See ``ShardManifest``.
package final class ShardRun: Sendable {
  private let planned: PlannedRun
  private let shard: Int
  private let token: String
  private let maxFailures: Double
  private let pictures: PictureListRun
  private let publish: (@Sendable (String) throws -> Bool)?
  private let disk: any Disk

  /// The progress of the run, for display.
  package var progress: ProgressMeter { pictures.progress }

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - shard: The number of the shard.
  ///   - cache: The path of the cache, which all shards share.
  ///   - token: A unique token of this process.
  ///   - maxFailures: A percentage. If more pictures than this fail for temporary reasons, the shard is not committed.
  ///   - transport: The transport that sends the requests.
  ///   - environment: The values that replace `${NAME}` in the catalog's headers and URLs.
  ///   - disk: The file system to write to. Tests pass one that fails.
  ///   - remote: The object store that contains the pictures, if they are not in the cache's folder.
  ///   - publish: Uploads the manifest with the given name. It is nil unless the plan's folder is a local copy of a
  ///     folder in an object store. It returns false if the store already has a manifest from another run. In this
  ///     case, it replaces the local manifest with the one from the store.
  ///   - now: Returns the current time.
  /// - Throws: ``LarderError`` if the plan has no shard with this number.
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

  /// Ends the run early.
  ///
  /// The shard is not committed, but complete pictures stay in the cache for the next run.
  package func stop() { pictures.stop() }

  /// Runs the shard, and waits for the end.
  ///
  /// - Returns: The result.
  /// - Throws: ``LarderError``, with the code `tryAgain` if the shard should be run again; ``CatalogError``.
  package func run() throws -> ShardOutcome {
    if let other = try committed() { return other }
    do {
      return try perform()
    } catch {
      // If another run has committed the shard, the shard is done although this run failed. For example, a merge can
      // have removed the work folder of this run.
      guard let other = try? committed() else { throw error }
      return other
    }
  }

  /// The result of the run that committed the shard, or nil if no run has committed it.
  private func committed() throws(LarderError) -> ShardOutcome? {
    try ShardManifest.read(shard, of: planned).map { ShardOutcome($0.trailer, committed: false) }
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
    let isCommitted =
      try ShardManifest.commit(
        result.pictures.filter { $0.end != .failed }.map(\.entry),
        trailer,
        in: folder,
        token: token,
        on: disk
      )
      && publish?(ShardPlan.manifestName(shard)) ?? true
    if !isCommitted, let other = try committed() { return other }
    return ShardOutcome(trailer, committed: isCommitted)
  }

  /// Throws if too many pictures failed for temporary reasons.
  private func demandFew(_ pictures: [SettledPicture]) throws(LarderError) {
    let passing = pictures.count { picture in
      guard picture.end == .failed, let failure = picture.failure else { return false }
      return Self.mayPass(failure.reason)
    }
    guard Self.isTooMany(passing, of: pictures.count, share: maxFailures) else { return }
    throw LarderError(
      .tryAgain,
      "cannot commit shard \(shard): \(passing) of \(pictures.count) pictures failed "
        + "temporarily; fetched pictures are kept, run it again"
    )
  }

  /// Whether a failure with this reason is temporary, so that another run can succeed.
  ///
  /// - Parameter reason: The reason as reports name it, for example `http-503` or `dns-failed`.
  /// - Returns: Whether the failure is temporary.
  static func mayPass(_ reason: String) -> Bool {
    let status = reason.hasPrefix("http-") ? Int(reason.dropFirst(5)) : nil
    let word = FailureReason(rawValue: reason)
    let failure = TransferFailure(reason: word, url: "", status: status)
    return RetryPolicy.mayPass(failure) || word == .circuitOpen
  }

  /// Whether a shard with this number of temporary failures among `count` pictures must not be committed.
  ///
  /// `share` is the highest percentage of failures that is accepted.
  static func isTooMany(_ failures: Int, of count: Int, share: Double) -> Bool {
    failures > 0 && Double(failures) * 100 > share * Double(count)
  }

  private func trailer(of result: PictureListRun.Result) -> ManifestTrailer {
    var counts = SyncReport.Pictures()
    for picture in result.pictures { picture.end.count(in: &counts) }
    return ManifestTrailer(
      plan: planned.digest,
      run: planned.plan.run,
      shard: shard,
      urls: result.pictures.count,
      fetched: counts.fetched,
      held: counts.revalidated + counts.fresh,
      failed: counts.failed,
      revalidated: counts.revalidated,
      changed: counts.changed,
      bytes: counts.bytesFetched,
      requests: result.requests,
      writer: token
    )
  }
}
