import Base
import Cache
import Pipeline

extension Shop {
  /// What a check of every file found; paths are relative to the cache.
  public struct Verification: Sendable, Hashable {
    /// How many pictures were looked at.
    public let checked: Int
    /// Files whose bytes are not those that were committed.
    public let damaged: [String]
    /// Pictures whose file is gone.
    public let missing: [String]
    /// Files that nobody knows.
    public let orphans: [String]
    /// Files that the system would not let us read, which says nothing about their bytes.
    public let unreadable: [String]
    /// Whether all pictures were looked at, and nothing is wrong.
    public let isClean: Bool
    /// Whether all pictures were looked at; not so when the task was cancelled.
    public let isComplete: Bool
  }

  /// Checks every picture in the cache against what was fetched; works while a sync runs.
  ///
  /// - Parameters:
  ///   - everyByte: Whether every byte is read, and not only each file's size and date.
  ///   - progress: Called with how many of how many pictures are done.
  /// - Returns: What was found; not complete when the task was cancelled.
  /// - Throws: ``LarderError`` when there is no cache or it cannot be read.
  public func verify(
    everyByte: Bool = true,
    progress: (@Sendable (Progress.Count) -> Void)? = nil
  ) async throws(LarderError) -> Verification {
    try await verify(everyByte: everyByte, repairs: false, progress)
  }

  /// Checks every byte, forgets what is damaged, adopts or removes what nobody knows: the next sync
  /// fetches the rest.
  ///
  /// An index that is gone or damaged is made anew; no picture is lost with it.
  ///
  /// - Parameter progress: Called with how many of how many pictures are done.
  /// - Returns: What was found before the repair.
  /// - Throws: ``LarderError``, with the code `locked` while a run holds the cache.
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
      return Verification(report)
    }
  }

  /// How far a sweep goes.
  public struct SweepOptions: Sendable, Hashable {
    /// How long a picture stays after the last catalog dropped it.
    public var grace = Duration.seconds(7 * 86_400)
    /// Remove what no run has needed for so long.
    public var maxAge: Duration?
    /// Hold no more bytes than this.
    public var maxBytes: Int64?
    /// Whether age and size may take what a catalog refers to; the next sync fetches that again.
    public var includesReferenced = false
    /// How long runs are kept for ``Shop/changes(from:to:)``.
    public var history = Duration.seconds(400 * 86_400)
    /// Say what would go, and change nothing.
    public var isDryRun = false

    /// Sweep what nobody refers to, after a week.
    public init() {}
  }

  /// What a sweep removed, or would remove.
  public struct Sweep: Sendable, Hashable {
    /// The URLs of the pictures that went.
    public let pictures: [String]
    /// Files that nobody claimed, by their path in the cache.
    public let orphans: [String]
    /// How many bytes were freed.
    public let bytesFreed: Int64
    /// How many bytes are held.
    public let bytesHeld: Int64
    /// How many bytes are held beyond ``SweepOptions/maxBytes``, because catalogs need them.
    public let bytesOver: Int64
    /// How many old runs were forgotten.
    public let runs: Int
    /// How many files are left for the next sweep, because the task was cancelled.
    public let unfinished: Int
  }

  /// Removes pictures that no catalog of the cache needs any more, and old runs.
  ///
  /// - Parameter options: How far to go.
  /// - Returns: What was done; cancelling the task leaves the rest for the next sweep.
  /// - Throws: ``LarderError``, with the code `locked` while a run holds the cache.
  @discardableResult
  public func sweep(_ options: SweepOptions = SweepOptions()) async throws(LarderError) -> Sweep {
    try await Blocking.run { stop in
      var inner = CacheGc.Options()
      inner.limits.grace = options.grace.components.seconds
      inner.limits.maxAge = options.maxAge?.components.seconds
      inner.limits.maxBytes = options.maxBytes.map { ByteCount($0) }
      inner.limits.includesReferenced = options.includesReferenced
      inner.history = options.history.components.seconds
      let gc = CacheGc(cache, options: inner, now: now)
      return Sweep(
        try options.isDryRun
          ? gc.plan() : gc.run(holder: holder("sweep"), isStopped: { stop.isRaised })
      )
    }
  }

  /// How an export is laid out.
  public struct ExportOptions: Sendable, Hashable {
    /// All pictures in one folder, and not as the origins have them.
    public var isFlat = false
    /// Copy every file; make no hard links to those of the cache.
    public var copies = false
    /// Take squares along.
    public var squares = false
    /// Remove what earlier exports wrote and the catalog no longer has.
    public var deletes = false

    /// A tree that only grows.
    public init() {}
  }

  /// What an export wrote.
  public struct Export: Sendable, Hashable {
    /// How many pictures are in the folder.
    public let files: Int
    /// How many squares are.
    public let squares: Int
    /// The URLs of pictures that the catalog refers to and that are not held.
    public let missing: [String]
    /// Why each file that could not be written was left out, as one sentence.
    public let failed: [String]
    /// How many files of earlier exports were removed.
    public let deleted: Int
    /// How many files are left for the next export, because the task was cancelled.
    public let unfinished: Int
  }

  /// Fills a folder that any web server can serve: pictures, `catalog.json` and manifests.
  ///
  /// - Parameters:
  ///   - folder: The folder; made when there is none.
  ///   - options: How it is laid out.
  ///   - progress: Called with how many of how many pictures are done.
  /// - Returns: What was written; cancelling the task leaves the rest for the next export.
  /// - Throws: ``LarderError`` when the cache cannot be read or the folder not written.
  @discardableResult
  public func export(
    to folder: String,
    _ options: ExportOptions = ExportOptions(),
    progress: (@Sendable (Progress.Count) -> Void)? = nil
  ) async throws(LarderError) -> Export {
    try await Blocking.run { stop in
      var inner = CacheExport.Options()
      inner.shape = options.isFlat ? .flat : .tree
      inner.links = !options.copies
      inner.squares = options.squares
      inner.deletes = options.deletes
      let report = try CacheExport(cache: cache, catalog: catalog.name)
        .run(
          into: folder,
          inner,
          isStopped: { stop.isRaised },
          progress: { progress?(Progress.Count(done: $0, total: $1)) }
        )
      return Export(
        files: report.files,
        squares: report.squares,
        missing: report.missing,
        failed: report.failed.map(\.reason),
        deleted: report.deleted,
        unfinished: report.unfinished
      )
    }
  }

  /// The squares that syncs keep beside the pictures; see ``SyncOptions/square``.
  ///
  /// - Parameter side: Pixels along a side.
  /// - Returns: The path of each square's file by the URL of its picture.
  /// - Throws: ``LarderError`` with the code `not-found` when nothing was synced yet.
  public func squares(side: Int) async throws(LarderError) -> [String: String] {
    try await Blocking.run { _ in
      try reader().squares(side: side).mapValues { Shop.file($0, in: cache) }
    }
  }
}

extension Shop.Verification {
  fileprivate init(_ report: VerifyReport) {
    checked = report.checked
    damaged = report.damaged
    missing = report.missing
    orphans = report.orphans
    unreadable = report.unreadable
    isClean = report.isClean
    isComplete = report.isComplete
  }
}

extension Shop.Sweep {
  fileprivate init(_ report: CacheGc.Report) {
    pictures = report.plan.removals.map(\.picture.url)
    orphans = report.orphans
    bytesFreed = report.plan.bytesFreed.count
    bytesHeld = report.plan.bytesKept.count
    bytesOver = report.plan.bytesOver.count
    runs = report.runs
    unfinished = report.unfinished
  }
}
