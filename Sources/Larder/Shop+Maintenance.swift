import Base
import Cache
import Pipeline

extension Shop {
  /// Checks every picture in the cache against its row in the index; works while a sync runs.
  ///
  /// - Parameters:
  ///   - everyByte: Whether to read every byte, instead of only each file's size and date.
  ///   - progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The findings; incomplete when the task was cancelled.
  /// - Throws: ``LarderError`` when there is no cache or it cannot be read.
  public func verify(
    everyByte: Bool = true,
    progress: (@Sendable (Progress.Count) -> Void)? = nil
  ) async throws(LarderError) -> Verification {
    try await verify(everyByte: everyByte, repairs: false, progress)
  }

  /// Checks every byte and deletes damaged pictures; the next sync fetches them again.
  ///
  /// Picture files without a row in the index are given a row, or removed.
  ///
  /// A lost or damaged index is rebuilt; no picture is lost with it.
  ///
  /// - Parameter progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The findings before the repair.
  /// - Throws: ``LarderError``, with the code `locked` while a run holds the cache's lock.
  @discardableResult
  public func repair(
    progress: (@Sendable (Progress.Count) -> Void)? = nil
  ) async throws(LarderError) -> Verification {
    try await verify(everyByte: true, repairs: true, progress)
  }

  private func verify(
    everyByte: Bool,
    repairs: Bool,
    _ progress: (@Sendable (Progress.Count) -> Void)?
  ) async throws(LarderError) -> Verification {
    try await Blocking.run { stop in
      let depth: Cache.Verification.Depth = everyByte ? .full : .fast
      let check = try CacheCheck(
        cache,
        holder: repairs ? holder("repair") : nil,
        depth: depth,
        now: now
      )
      let report = try check.run(depth, isStopped: { stop.isRaised }) { done, total in
        progress?(Progress.Count(done: done, total: total))
      }
      if repairs, report.isComplete, !report.isClean { try check.repair(report) }
      return report
    }
  }

  /// Removes old runs, and pictures that no catalog in the cache needs any more.
  ///
  /// - Parameter options: The limits of the sweep.
  /// - Returns: The removals. If the task is cancelled, the next sweep makes the remaining removals.
  /// - Throws: ``LarderError``, with the code `locked` while a run holds the cache's lock.
  @discardableResult
  public func sweep(_ options: SweepOptions = SweepOptions()) async throws(LarderError) -> Sweep {
    try await Blocking.run { stop in
      try CacheGc(cache, options: options, now: now).run(
        holder: holder("sweep"),
        isStopped: { stop.isRaised }
      )
    }
  }

  /// Fills a folder that any web server can serve: pictures, `catalog.json` and manifests.
  ///
  /// - Parameters:
  ///   - folder: The folder; created if it does not exist.
  ///   - options: The layout of the folder.
  ///   - progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The written files. If the task is cancelled, the next export writes the remaining files.
  /// - Throws: ``LarderError`` when the cache cannot be read or the folder cannot be written.
  @discardableResult
  public func export(
    to folder: String,
    _ options: ExportOptions = ExportOptions(),
    progress: (@Sendable (Progress.Count) -> Void)? = nil
  ) async throws(LarderError) -> Export {
    try await Blocking.run { stop in
      try CacheExport(cache: cache, catalog: catalog.name)
        .run(
          into: folder,
          options,
          isStopped: { stop.isRaised },
          progress: { progress?(Progress.Count(done: $0, total: $1)) }
        )
    }
  }

  /// The square thumbnails that syncs make if ``SyncOptions/square`` is set.
  ///
  /// - Parameter side: The length of a side in pixels.
  /// - Returns: The path of each square's file by the URL of its picture.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func squares(side: Int) async throws(LarderError) -> [String: String] {
    try await Blocking.run { _ in
      try reader().squares(side: side).mapValues { CatalogReader.file($0, in: cache) }
    }
  }
}
