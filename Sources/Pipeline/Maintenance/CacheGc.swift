import Base
import Cache

/// The limits of a sweep.
///
/// A sweep removes pictures that no catalog needs.
///
///     var options = SweepOptions()
///     options.maxBytes = 20 << 30
///     let swept = try await shop.sweep(options)
public struct SweepOptions: Sendable, Hashable {
  /// How long a picture is kept after the last catalog ceased to refer to it.
  ///
  /// Fractions of a second are ignored.
  public var grace = Duration.seconds(7 * 86_400)
  /// The maximum number of bytes of the pictures in the cache.
  ///
  /// To keep it, a sweep removes pictures that no catalog refers to even before the end of ``grace``. If it is nil,
  /// there is no limit.
  public var maxBytes: Int64?
  /// How long runs are kept, so that they can be compared.
  public var history = Duration.seconds(400 * 86_400)
  /// How long changes of prices and other fields are kept in the history.
  ///
  /// If it is nil, they are kept for ever.
  ///
  /// The values that were valid at the start of that time are always kept.
  public var prices: Duration?
  /// Whether only to list the removals, without changing anything.
  public var isDryRun = false
  /// The names of catalogs that are removed from the cache before the sweep.
  package var forget: [String] = []

  /// Makes the default options.
  ///
  /// A picture is removed a week after the last catalog ceased to refer to it.
  public init() {}

  var limits: GcPlan.Limits {
    GcPlan.Limits(grace: grace.components.seconds, maxBytes: maxBytes.map { ByteCount($0) })
  }
}

/// The pictures and files that a sweep removed, or would remove.
public struct SweepReport: Sendable, Hashable {
  /// The pictures that are removed.
  package var plan: GcPlan
  /// The paths of removed stray files, relative to the cache.
  ///
  /// A stray file is a file that no row of the index names.
  public package(set) var strays: [String] = []
  /// The number of old runs that were removed from the index.
  public package(set) var runs = 0
  /// The number of changes that were removed from the history.
  public package(set) var changes = 0
  /// The number of files that are left for the next sweep, because this one was ended early.
  public package(set) var unfinished = 0
  /// Whether nothing was removed, because the options ask only for a list.
  package var isDryRun = false

  /// The URLs of the removed pictures.
  public var pictures: [String] { plan.removals.map(\.picture.url) }
  /// The number of bytes that were freed.
  public var bytesFreed: Int64 { plan.bytesFreed.count }
  /// The number of bytes of pictures that are left.
  public var bytesHeld: Int64 { plan.bytesKept.count }
  /// The number of bytes beyond ``SweepOptions/maxBytes`` that could not be removed, because catalogs refer to these
  /// pictures.
  public var bytesOver: Int64 { plan.bytesOver.count }
}

extension SweepReport: Encodable {
  /// Writes the report as `gc --json` prints it.
  public func encode(to encoder: any Encoder) throws {
    let removed = plan.removals.map { removal in
      let picture = removal.picture
      return JSONMembers([
        "url": picture.url,
        "path": PictureName(url: picture.url, id: picture.id).path,
        "bytes": picture.bytes,
        "reason": removal.reason.rawValue,
        "unreferencedSince": picture.unreferenced,
        "used": picture.used,
      ])
    }
    try encoder.write([
      "dryRun": isDryRun, "removed": removed, "strays": strays, "runsForgotten": runs,
      "changesForgotten": changes, "bytesFreed": plan.bytesFreed, "bytesKept": plan.bytesKept,
      "bytesOver": plan.bytesOver, "unfinished": unfinished,
    ])
  }
}

/// Sweeps a cache: removes pictures that no catalog refers to, after a time or beyond a total size.
package struct CacheGc: Sendable {
  /// The number of pictures that are removed in one transaction.
  ///
  /// If a signal ends the sweep, the files of the current batch are still deleted.
  private static let batch = 256

  private let path: String
  private let remote: (any RemotePictures)?
  private let options: SweepOptions
  private let now: UnixTime

  /// Prepares a sweep of the cache at `path`.
  ///
  /// - Parameters:
  ///   - path: The cache's path.
  ///   - remote: The remote store of the pictures, if they are not in the cache's folder.
  ///   - options: The options.
  ///   - now: The current time.
  package init(
    _ path: String,
    remote: (any RemotePictures)? = nil,
    options: SweepOptions,
    now: UnixTime
  ) {
    self.path = path
    self.remote = remote
    self.options = options
    self.now = now
  }

  /// Sweeps the cache.
  ///
  /// In a dry run, only lists the removals. A dry run is possible while a sync holds the cache's lock.
  ///
  /// In each batch, the rows in the index are deleted before the files. Therefore a crash can leave files without rows,
  /// but never rows without files. Only if the disk is full, files go first.
  ///
  /// - Parameters:
  ///   - holder: The text to write into the cache's lock.
  ///   - isStopped: Called before each batch. If it returns true, the rest is left for the next sweep.
  ///   - progress: Called with the number of deleted files, and the total.
  /// - Returns: The removals.
  /// - Throws: ``LarderError``, with code `locked` while a run holds the cache.
  package func run(
    holder: String,
    isStopped: () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> SweepReport {
    let layout = try CacheLayout(reading: path, remote: remote)
    if options.isDryRun {
      let index = try Index(reading: path)
      try Recovery.foresee(layout, index)
      var report = try report(layout, index)
      try forgetPast(index, &report)
      return report
    }
    let lock = try CacheLock(layout, holder: holder)
    defer { withExtendedLifetime(lock) {} }
    do throws(LarderError) {
      return try sweep(layout, isStopped: isStopped, progress)
    } catch  where error.code == .diskFull {
      guard let freed = try makeRoom(in: layout) else { throw error }
      var report = try sweep(layout, isStopped: isStopped, progress)
      report.plan.include(freed.plan)
      report.strays = freed.strays + report.strays
      return report
    }
  }

  /// Removes the files of pictures that no catalog needs, but not their rows, because the disk has no space for a change of
  /// the index.
  ///
  /// - Returns: The removals; nil if there is nothing to remove.
  private func makeRoom(in layout: CacheLayout) throws(LarderError) -> SweepReport? {
    let report = try report(layout, Index(reading: path))
    guard !report.plan.removals.isEmpty || !report.strays.isEmpty else { return nil }
    for stray in report.strays { try layout.remove(stray) }
    try layout.remove(report.plan.removals.map(\.picture)) {}
    return report
  }

  private func sweep(
    _ layout: CacheLayout,
    isStopped: () -> Bool,
    _ progress: (Int, Int) -> Void
  ) throws(LarderError) -> SweepReport {
    let index = try Index(layout)
    try index.forgetCatalogs(options.forget)
    try index.markUnreferenced(at: now)
    // Run the recovery first, so that files that a user deleted do not count as freed bytes.
    let recovery = try Recovery(layout, index)
    var report = try report(layout, index)
    let all = report.plan.removals
    let total = all.count + report.strays.count
    var gone = 0
    while gone < all.count, !isStopped() {
      let batch = all[gone..<min(gone + Self.batch, all.count)]
      try index.delete(Array(batch), at: now)
      try layout.remove(batch.map(\.picture)) {
        gone += 1
        progress(gone, total)
      }
    }
    report.plan.stop(after: gone)
    let swept = gone < all.count ? [] : report.strays
    for stray in swept { try layout.remove(stray) }
    report.unfinished = total - gone - swept.count
    report.strays = swept
    if report.unfinished > 0 { return report }
    _ = try layout.sweepSquares(index)
    // An earlier version of larder kept the thumbnails of reports.
    try layout.root.removeAll("thumbnails")
    ServingFolder.removeDead(in: layout.root.path)
    if let lost = try index.lostSince(), now - lost >= options.limits.grace {
      try index.noteLost(since: nil)
    }
    try forgetPast(index, &report)
    try index.forgetAddresses(unreferencedSince: now + -options.limits.grace)
    if recovery.strays.paths.subtracting(report.strays).isEmpty {
      try index.noteFolderTimes(of: layout)
    }
    return report
  }

  /// Deletes old changes and runs; in a dry run, only counts them.
  private func forgetPast(_ index: Index, _ report: inout SweepReport) throws(LarderError) {
    let isDryRun = options.isDryRun
    if let prices = options.prices {
      let oldest = now + -prices.components.seconds
      report.changes = try index.forgetHistory(before: oldest, isDryRun: isDryRun)
    }
    let oldest = now + -options.history.components.seconds
    report.runs = try index.forgetRuns(before: oldest, isDryRun: isDryRun)
  }

  private func report(_ layout: CacheLayout, _ index: Index) throws(LarderError) -> SweepReport {
    var report = SweepReport(
      plan: GcPlan(try index.held(at: now), limits: options.limits, now: now),
      isDryRun: options.isDryRun
    )
    // The age of a stray file is the time since its inode changed, because larder sets the modification time to the
    // date that the server gives. If the index was lost, the grace period starts at the loss, because until the next
    // sync no catalog could refer to the file.
    let lost = try index.lostSince() ?? .distantPast
    let strays = try layout.strays(index)
    guard !strays.isEmpty else { return report }
    let claimed = try index.claimedPaths(among: Set(strays))
    for stray in strays where !claimed.contains(stray) {
      guard let came = try layout.changed(stray) else { continue }
      let since = max(came, lost)
      if now - since >= options.limits.grace, now >= since { report.strays.append(stray) }
    }
    return report
  }
}

extension Index {
  /// Those of the stray files at these paths that a sync must not remove.
  func keptStrays(among paths: Set<String>) throws(LarderError) -> Set<String> {
    // If the index was lost, a file without a row possibly belongs to a catalog that was not synced since then. `gc`
    // removes such a file after its grace period.
    if try lostSince() != nil { return paths }
    return try catalogs().count == 1 ? [] : claimedPaths(among: paths)
  }

  /// Those of these paths in the cache at which files of the catalogs' pictures belong.
  func claimedPaths(among paths: Set<String>) throws(LarderError) -> Set<String> {
    Set(try claimed(at: paths).map { PictureName(url: $0.identity, id: $0.id).path })
  }
}
