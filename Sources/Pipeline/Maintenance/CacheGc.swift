import Base
import Cache
import Catalog

/// Sweeps a cache: what no catalog needs any more, what is too old, what is too much.
package struct CacheGc: Sendable {
  /// What a sweep did, or would do.
  package struct Report: Sendable, Equatable {
    /// The pictures that go.
    package var plan: GcPlan
    /// Files that nobody claims, by their path in the cache.
    package var orphans: [String] = []
    /// How many old runs were forgotten.
    package var runs = 0
    /// How many pictures and orphans still have to go, because it was stopped.
    package var unfinished = 0
  }

  /// What is asked for.
  package struct Options: Sendable {
    /// How far pictures go.
    package var limits = GcPlan.Limits()
    /// How many seconds of runs are kept for `diff`.
    package var history: Int64 = 400 * 86_400
    /// Catalogs to forget first.
    package var forget: [String] = []

    /// The defaults.
    package init() {}
  }

  /// Pictures whose rows go together: their files are all that a signal has to wait for.
  private static let batch = 256

  private let path: String
  private let keeper: (any PictureKeeping)?
  private let options: Options
  private let now: UnixTime

  /// A sweep of the cache at `path` at a moment.
  ///
  /// - Parameters:
  ///   - path: The cache.
  ///   - keeper: What keeps its pictures in place of its folder, if anything does.
  ///   - options: What is asked for.
  ///   - now: The moment.
  package init(
    _ path: String,
    keeper: (any PictureKeeping)? = nil,
    options: Options,
    now: UnixTime
  ) {
    self.path = path
    self.keeper = keeper
    self.options = options
    self.now = now
  }

  /// What a sweep would do, changing nothing; works while a run holds the cache.
  package func plan() throws(LarderError) -> Report {
    let layout = try CacheLayout(reading: path, keeper: keeper)
    return try report(layout, Index(reading: path))
  }

  /// Sweeps.
  ///
  /// Rows go before their files, a batch in one transaction, so that a crash leaves files without rows
  /// and never the reverse.
  ///
  /// - Parameters:
  ///   - holder: what to write into the cache's lock.
  ///   - isStopped: asked before each batch; true leaves the rest for the next sweep.
  ///   - progress: called with how many of how many files are gone.
  /// - Returns: What was done.
  /// - Throws: ``LarderError``, with code `locked` while a run holds the cache.
  package func run(
    holder: String,
    isStopped: () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> Report {
    let layout = try CacheLayout(reading: path, keeper: keeper)
    let lock = try CacheLock(layout, holder: holder)
    defer { withExtendedLifetime(lock) {} }
    let index = try Index(layout)
    for name in options.forget { try index.forgetCatalog(name) }
    try index.markUnreferenced(except: try index.manyReferencedPictures(), at: now)
    // Bytes that were removed by hand are not there to be freed.
    let recovery = try Recovery(layout, index)
    var report = try report(layout, index)
    let all = report.plan.removals
    let total = all.count + report.orphans.count
    var gone = 0
    while gone < all.count, !isStopped() {
      let batch = all[gone..<min(gone + Self.batch, all.count)]
      try index.bury(Array(batch), at: now)
      try layout.remove(batch.map(\.picture)) {
        gone += 1
        progress(gone, total)
      }
    }
    report.plan.stop(after: gone)
    let swept = gone < all.count ? [] : report.orphans
    for orphan in swept { try layout.removeOrphan(orphan) }
    report.unfinished = total - gone - swept.count
    report.orphans = swept
    if report.unfinished > 0 { return report }
    _ = try SquareSweep(layout, index).run()
    try ThumbnailSweep(layout, index).run()
    ServingRoom.removeDead(in: layout.root.path)
    if let lost = try index.lostSince(), now - lost >= options.limits.grace {
      try index.noteLost(since: nil)
    }
    report.runs = try index.forgetRuns(before: now + -options.history)
    if recovery.orphans.paths.subtracting(report.orphans).isEmpty {
      try index.noteFolderTimes(of: layout)
    }
    return report
  }

  private func report(_ layout: CacheLayout, _ index: Index) throws(LarderError) -> Report {
    let referenced = try index.referencedPictures()
    var report = Report(
      plan: GcPlan(
        try index.held(referenced: referenced, at: now),
        limits: options.limits,
        now: now
      )
    )
    // The date of a file is the origin's; when it came here is when its inode last changed. After the
    // index was lost, nobody could claim a file before it was made anew.
    let lost = try index.lostSince() ?? .distantPast
    let orphans = try Verification.orphans(of: layout, index)
    guard !orphans.isEmpty else { return report }
    let claimed = try index.claimedPaths()
    for orphan in orphans where !claimed.contains(orphan) {
      guard let came = try layout.changed(orphan) else { continue }
      let since = max(came, lost)
      if now - since >= options.limits.grace, now >= since { report.orphans.append(orphan) }
    }
    return report
  }
}

extension Index {
  /// The URLs of the pictures that the catalogs refer to, as far as their items are known.
  func claimedURLs() throws(LarderError) -> Set<String> {
    var urls: Set<String> = []
    for catalog in try catalogs() {
      guard let run = try lastRun(catalog: catalog.id) else { continue }
      for section in try sections(run: run.id) {
        guard let listing = section.listing else { continue }
        try forEachBatch(of: listing) { records throws(LarderError) in
          for record in records { urls.formUnion(try record.storeItem().images.map(\.url)) }
        }
      }
      for detail in try details(catalog: catalog.id).values {
        urls.formUnion(detail.decoded?.images.map(\.url) ?? [])
      }
    }
    return urls
  }

  /// Where those pictures belong, and where an older larder put them, by path in the cache.
  func claimedPaths() throws(LarderError) -> Set<String> {
    Set(try claimedURLs().flatMap { PictureName.paths(url: $0) })
  }
}
