import Base
import Cache
import Dispatch
import Transport

/// A run that holds the lock of its cache.
///
/// It is opened before anything is fetched, and closed when the stages, which fetch sections, details and pictures,
/// have ended.
struct OpenedRun {
  let run: SyncRun
  /// The values that all stages share.
  let context: RunContext
  /// The catalog's last run that ended; nil if no run has ended yet.
  let previous: RunEntry?
  /// The sections as the previous run left them.
  let before: [RunSection]
  /// Files in the cache that no row of the index names.
  ///
  /// A killed run or another program left them.
  let strays: StrayFiles
  /// The pictures that shards fetched for this run; nil unless it is a merge.
  let imported: ImportedPictures?
  /// The modification times that the picture folders had at the start of the run.
  private let folders: FolderTimes?
  private let lock: CacheLock
  /// The run's number.
  let number: RunID
  private let source: String?

  /// Opens the cache, or creates it if it does not exist, and records the run in the index.
  ///
  /// - Parameters:
  ///   - request: The checked input of the run.
  ///   - run: The run, whose cache is opened.
  ///   - holder: The text to write into the cache's lock.
  /// - Throws: ``LarderError``, with code `locked` while another run holds the cache.
  init(_ request: RunRequest, of run: SyncRun, holder: String) throws(LarderError) {
    self.run = run
    let layout = try CacheLayout(creating: run.cache, remote: run.remote)
    lock = try CacheLock(layout, holder: holder)
    if let words = lock.notice { run.notice(words) }
    let index = try Index(layout)
    let oldest = request.now() + -PartialBodies.longestAge
    try index.noteVary(PictureTraits(from: request.named, over: run.transport).digest)
    // The recovery would take the files of shards for strays, so their rows are written first.
    imported = try run.shared.imported?(layout, index)
    let recovery = try Recovery(layout, index, partialsSince: oldest)
    strays = recovery.strays
    folders = recovery.folders
    if !strays.isEmpty, try index.catalogs().isEmpty {
      try index.noteLost(since: request.now())
    }
    let catalog = request.catalog
    let entry = try index.catalog(named: catalog.name, currency: catalog.currency)
    source = request.source
    if let source, let last = entry.source, source != last {
      run.notice(
        "catalog \(catalog.name) was synced from \(last) before, and is synced from \(source) now; if that is another shop, "
          + "give it another name"
      )
    }
    previous = try index.lastRun(catalog: entry.id)
    before = try previous.map { run throws(LarderError) in try index.sections(run: run.id) } ?? []
    number = try index.beginRun(catalog: entry.id, at: request.now())
    let store = PictureStore(
      layout,
      index: index,
      disk: run.disk,
      run: number,
      partials: recovery.partials
    )
    let failures = FailureLog()
    failures.count(attempts: imported?.requests ?? 0)
    context = RunContext(
      request,
      entry,
      over: run.transport,
      layout,
      index,
      store,
      progress: run.progress,
      failures: failures
    )
  }

  /// Removes unreferenced files, writes the report and ends the run.
  ///
  /// From then on, readers see the catalog of this run.
  ///
  /// - Parameters:
  ///   - results: The results of the stages.
  ///   - began: The time at which the run began.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` if the cache failed, now or during a stage. The run is then not recorded as ended.
  func close(
    _ results: RunResults,
    since began: ContinuousClock.Instant
  ) throws(LarderError) -> SyncReport {
    // Keep the lock until the last row is written.
    defer { withExtendedLifetime(lock) {} }
    let (index, layout, pictures) = (context.index, context.layout, results.pictures)
    if let failure = context.failures.cacheFailure ?? context.store.failure { throw failure }

    var tally = pictures.tally
    if let imported { tally.add(imported.counts) }
    // Whether the index has pictures that this run did not come across. They belong to earlier runs or other catalogs.
    let hasOthers = try pictures.due.leavesOthers()
    var report = try results.writing.report(
      details: results.details?.tally,
      lost: results.details?.lost ?? [:],
      pictures: tally,
      bytesHeld: results.bytesHeld
    )
    report.run = number
    if context.hasStopped() { report.outcome = .interrupted }
    // A run that skips the details or some pictures cannot tell which files are unreferenced.
    let isWhole = context.options.readsAll
    if report.outcome == .complete, isWhole { try sweep() }
    // Remove outdated squares after the pictures, so that the squares of removed pictures go too.
    let removed = try layout.sweepSquares(index)
    report.squares = results.squares
    report.squares?.removed = removed
    report.durationSeconds = (ContinuousClock.now - began).inSeconds
    if report.outcome == .failed, previous == nil {
      // Forget the run, because nothing was synced: the cache lists a catalog only after its first good run.
      report.run = nil
      try index.forgetRun(number, of: context.entry.id)
      try index.keepRenewed()
    } else {
      try index.endRun(
        number,
        at: context.now(),
        outcome: report.outcome.rawValue,
        report: report.json,
        sections: results.sections.map { RunSection($0) },
        changes: try results.writing.changes(of: number),
        items: results.writing.changes.items,
        values: ListingChanges.values
      )
    }
    do throws(LarderError) {
      // Record the new host only if every section shows its new items. Otherwise it is possible that some of the items
      // shown come from the former host.
      let isTaken = report.sections.allSatisfy { [.network, .unchanged].contains($0.source) }
      if isTaken, report.run != nil, let source, source != context.entry.source {
        try index.note(source: source, of: context.entry.id)
      }
      try tidy(marking: isWhole && report.outcome == .complete, hasOthers: hasOthers)
    } catch {
      // The run is already recorded, and the next run repeats this step.
      run.notice(
        "the run is complete, but its clean-up failed; the next run will repeat it: \(error.description)"
      )
    }
    return report
  }

  /// Records data that later sweeps and runs need.
  ///
  /// Called after the run has ended.
  private func tidy(marking isMarking: Bool, hasOthers: Bool) throws(LarderError) {
    let index = context.index
    if isMarking, hasOthers ? true : try index.hasUnreferenced() {
      try index.markUnreferenced(at: context.now())
    }
    // When the modification times of the folders are recorded, the next run looks for stray files only in folders that
    // have changed.
    if strays.isEmpty { try index.noteFolderTimes(of: context.layout, since: folders) }
  }

  /// Removes files that no catalog refers to, at the end of a complete run.
  private func sweep() throws(LarderError) {
    let index = context.index
    if try index.catalogs().count == 1 { context.store.sweepPartials() }
    guard !strays.isEmpty else { return try index.noteLost(since: nil) }
    try strays.sweep(except: try index.keptStrays(among: strays.paths))
  }
}
