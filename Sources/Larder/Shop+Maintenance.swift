import Base
import Cache
import Pipeline

extension Shop {
  /// Checks that every picture in the cache is as it was fetched.
  ///
  /// The check works while a sync runs.
  ///
  /// - Parameters:
  ///   - everyByte: Whether to read every byte. If false, only the size and the date of each file are checked.
  ///   - progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The findings. They are incomplete if the task was cancelled.
  /// - Throws: ``LarderError`` when there is no cache, or when the cache cannot be read.
  public func verify(
    everyByte: Bool = true,
    progress: (@Sendable (SyncProgress.Count) -> Void)? = nil
  ) async throws(LarderError) -> VerifyReport {
    try await verify(everyByte: everyByte, repairs: false, progress)
  }

  /// Checks every byte of every picture, and deletes damaged pictures.
  ///
  /// The next sync fetches the deleted pictures again.
  ///
  /// If the database of the cache does not know the file of a picture, the file is added to the database or removed.
  ///
  /// If the database is lost or damaged, it is rebuilt from the files, and no picture is lost.
  ///
  /// - Parameter progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The findings before the repair.
  /// - Throws: ``LarderError``. The code is `locked` if a sync or another change of the cache is under way.
  @discardableResult
  public func repair(
    progress: (@Sendable (SyncProgress.Count) -> Void)? = nil
  ) async throws(LarderError) -> VerifyReport {
    try await verify(everyByte: true, repairs: true, progress)
  }

  private func verify(
    everyByte: Bool,
    repairs: Bool,
    _ progress: (@Sendable (SyncProgress.Count) -> Void)?
  ) async throws(LarderError) -> VerifyReport {
    try await Blocking.run { stop in
      let depth: Verification.Depth = everyByte ? .full : .fast
      let check = try CacheCheck(
        cache,
        holder: repairs ? holder("repair") : nil,
        depth: depth,
        now: now
      )
      let report = try check.run(depth, isStopped: { stop.isRaised }) { done, total in
        progress?(SyncProgress.Count(done: done, total: total))
      }
      if repairs, report.isComplete, !report.isClean { try check.repair(report) }
      return report
    }
  }

  /// Removes old runs, and pictures that no catalog in the cache needs any more.
  ///
  /// - Parameter options: The limits of the sweep.
  /// - Returns: The removals. If the task is cancelled, some removals are left for the next sweep.
  /// - Throws: ``LarderError``. The code is `locked` if a sync or another change of the cache is under way.
  @discardableResult
  public func sweep(_ options: SweepOptions = SweepOptions()) async throws(LarderError)
    -> SweepReport
  {
    try await Blocking.run { stop in
      try CacheGc(cache, options: options, now: now).run(
        holder: holder("sweep"),
        isStopped: { stop.isRaised }
      )
    }
  }

  /// Fills a folder that any web server can serve: pictures and `catalog.json`.
  ///
  /// - Parameters:
  ///   - folder: The folder. It is created if it does not exist.
  ///   - options: The layout of the folder.
  ///   - progress: Called with the number of pictures that are done, and their total.
  /// - Returns: The number of files that were written. If the task is cancelled, the next export writes the files that
  ///   are missing.
  /// - Throws: ``LarderError`` when the cache cannot be read or the folder cannot be written.
  @discardableResult
  public func export(
    to folder: String,
    _ options: ExportOptions = ExportOptions(),
    progress: (@Sendable (SyncProgress.Count) -> Void)? = nil
  ) async throws(LarderError) -> ExportReport {
    try await Blocking.run { stop in
      try CacheExport(cache: cache, catalog: catalog.name)
        .run(
          into: folder,
          options,
          isStopped: { stop.isRaised },
          progress: { progress?(SyncProgress.Count(done: $0, total: $1)) }
        )
    }
  }

  /// The square thumbnails of the pictures.
  ///
  /// A sync makes them if ``SyncOptions/square`` is set.
  ///
  /// - Parameter side: The length of a side in pixels.
  /// - Returns: The paths of the squares. The keys are the URLs of the pictures.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func squares(side: Int) async throws(LarderError) -> [String: String] {
    try await Blocking.run { _ in
      try reader().squares(side: side).mapValues { CatalogReader.file($0, in: cache) }
    }
  }
}
