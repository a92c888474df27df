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

extension PlannedRun {
  /// The name of the work folder in which a process runs a shard.
  ///
  /// - Parameters:
  ///   - shard: The number of the shard.
  ///   - token: A unique token of the process.
  /// - Returns: The name.
  func room(of shard: Int, _ token: String) -> String { "\(plan.run)-\(shard)-\(token)" }

  /// Runs a shard: fetches its pictures into the cache, then commits its manifest.
  ///
  /// The manifest is the file with the results of the shard. See ``ShardManifest``. If the pictures are stopped, the
  /// shard is not committed, but complete pictures stay in the cache for the next run.
  ///
  /// - Parameters:
  ///   - shard: The number of the shard.
  ///   - run: The run that fetches the pictures, with the options of the plan.
  ///   - token: A unique token of this process.
  ///   - maxFailures: A percentage. If more pictures than this fail for temporary reasons, the shard is not committed.
  ///   - publish: Uploads the manifest with the given name. It is nil unless the plan's folder is a local copy of a
  ///     folder in an object store. It returns false if the store already has a manifest from another run. In this
  ///     case, it replaces the local manifest with the one from the store.
  /// - Returns: The result.
  /// - Throws: ``LarderError``, with the code `tryAgain` if the shard should be run again; ``CatalogError``.
  package func run(
    _ shard: Int,
    by run: SyncRun,
    token: String,
    maxFailures: Double = 10,
    publish: ((String) throws -> Bool)? = nil
  ) throws -> ShardOutcome {
    guard plan.shards.indices.contains(shard) else {
      throw LarderError(
        .usage,
        "cannot run shard \(shard): the plan has the shards 0 to \(plan.shards.count - 1)"
      )
    }
    if let other = try outcome(of: shard) { return other }
    do {
      let result = try run.fetch(try pictures(of: shard), in: room(of: shard, token))
      if result.unfinished > 0 || run.hasStopped {
        throw LarderError(
          .tryAgain,
          "cannot commit shard \(shard): it ended with \(result.unfinished) pictures left; "
            + "fetched pictures are kept, run it again"
        )
      }
      try demandFew(result.pictures, of: shard, maxFailures)
      let trailer = ManifestTrailer(result, of: shard, in: self, token)
      let folder = try Folder(path: folder.path, creating: false)
      var isCommitted = try ShardManifest.commit(
        result.pictures.filter { $0.end != .failed }.map(\.entry),
        trailer,
        in: folder,
        token: token,
        on: run.disk
      )
      if isCommitted, let publish {
        let name = ShardPlan.manifestName(shard)
        do {
          isCommitted = try publish(name)
        } catch {
          // It must not be taken for the manifest of another run.
          try run.disk.remove(name, in: folder)
          throw error
        }
      }
      if !isCommitted, let other = try outcome(of: shard) { return other }
      return ShardOutcome(trailer, committed: isCommitted)
    } catch {
      // If another run has committed the shard, the shard is done although this run failed. For example, a merge can
      // have removed the work folder of this run.
      guard let other = try? outcome(of: shard) else { throw error }
      return other
    }
  }

  /// The result of the run that committed the shard, or nil if no run has committed it.
  private func outcome(of shard: Int) throws(LarderError) -> ShardOutcome? {
    try ShardManifest.read(shard, of: self).map { ShardOutcome($0.trailer, committed: false) }
  }

  /// Throws if too many pictures failed for temporary reasons.
  private func demandFew(
    _ pictures: [SettledPicture],
    of shard: Int,
    _ maxFailures: Double
  ) throws(LarderError) {
    let passing = pictures.count { picture in
      guard picture.end == .failed, let failure = picture.failure else { return false }
      return ShardOutcome.mayPass(failure.reason)
    }
    guard ShardOutcome.isTooMany(passing, of: pictures.count, share: maxFailures) else { return }
    throw LarderError(
      .tryAgain,
      "cannot commit shard \(shard): \(passing) of \(pictures.count) pictures failed "
        + "temporarily; fetched pictures are kept, run it again"
    )
  }
}

extension ShardOutcome {
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
}

extension ManifestTrailer {
  /// Makes the trailer of a shard's results.
  fileprivate init(
    _ result: FetchedList,
    of shard: Int,
    in planned: PlannedRun,
    _ token: String
  ) {
    var counts = SyncReport.Pictures()
    for picture in result.pictures { picture.end.count(in: &counts) }
    self.init(
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
