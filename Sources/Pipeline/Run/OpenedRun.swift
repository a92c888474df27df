import Base
import Cache
import Dispatch
import Transport

/// A run that holds the lock of its cache, with its connected stages.
///
/// One stage fetches sections, which are lists of items. One fetches details: a detail is the document about one item,
/// with more data than the item has in a section. One fetches pictures, and one makes square versions of them.
///
/// Each decoded section adds work to the stages of details and pictures. Each decoded detail adds pictures, and each
/// new picture is passed to the stage of squares.
struct OpenedRun {
  private let run: SyncRun
  /// The values that all stages share.
  private let context: RunContext
  private let sections: SectionStage
  /// The stage of the details; nil if the run fetches none.
  private let details: DetailStage?
  private let pictures: PictureStage
  /// The stage of the squares; nil if the options request none.
  private let squares: SquareStage?
  /// The catalog's last run that ended; nil if no run has ended yet.
  private let previous: RunEntry?
  /// The sections as the previous run left them.
  private let before: [RunSection]
  /// Files in the cache that no row of the index names.
  ///
  /// A killed run or another program left them.
  private let strays: StrayFiles
  /// The pictures that shards fetched for this run; nil unless it is a merge.
  private let imported: ImportedPictures?
  /// The times that the picture folders had at the start of the run.
  private let folders: FolderTimes?
  private let lock: CacheLock
  private let source: String?

  /// Opens the cache, or creates it if it does not exist, records the run in the index, and makes the stages.
  ///
  /// Nothing is fetched yet.
  ///
  /// - Parameters:
  ///   - request: The checked input of the run.
  ///   - run: The run, whose cache is opened.
  ///   - holder: The text to write into the cache's lock.
  /// - Throws: ``LarderError``, with code `locked` while another run holds the cache.
  init(_ request: RunRequest, of run: SyncRun, holder: String) throws {
    self.run = run
    let layout = try CacheLayout(creating: run.cache, remote: run.remote)
    lock = try CacheLock(layout, holder: holder)
    if let words = lock.notice { run.notice(words) }
    let index = try Index(layout)
    let oldest = request.now() + -PartialBodies.longestAge
    try RevalidationPolicy(request, over: run.transport).notePictures(in: index)
    // The recovery would take the files of shards for strays, so their rows are written first.
    imported = try run.shared.imported?(layout, index)
    let recovery = try Recovery(layout, index, partialsSince: oldest)
    strays = recovery.strays
    folders = recovery.folders
    if !strays.isEmpty, try index.catalogs().isEmpty {
      try index.noteLost(since: request.now())
    }
    let context = try RunContext(request, of: run, layout, index, partials: recovery.partials)
    context.failures.count(attempts: imported?.requests ?? 0)
    let entry = context.entry
    source = request.source
    if let source, let last = entry.source, source != last {
      run.notice(
        "catalog \(entry.name) was synced from \(last) before, and is synced from \(source) now; if that is another shop, "
          + "give it another name"
      )
    }
    previous = try index.lastRun(catalog: entry.id)
    before = try previous.map { run throws(LarderError) in try index.sections(run: run.id) } ?? []
    let squares = try request.options.squareSide.map { side in
      try SquareStage(context, side: side, disk: run.disk)
    }
    let pictures = try PictureStage(
      context,
      strays: strays,
      list: run.shared.list,
      shards: imported?.answers
    ) { id in squares?.add(CollectionOfOne(id)) }
    let details = try DetailNeeds(request, context.needs).map { needs throws(LarderError) in
      try DetailStage(context, needs, pictures: request.options.thumbnailsOnly ? nil : pictures)
    }
    sections = SectionStage(context, previous: before) { listing, isNew in
      context.failures.noting { () throws(LarderError) in
        try details?.add(listing)
        try pictures.add(.listing(listing), isChanged: isNew)
      }
    }
    (self.context, self.details, self.pictures) = (context, details, pictures)
    self.squares = squares
  }

  /// Fetches everything, waits until the last row is on disk, and closes the run.
  ///
  /// - Parameter began: The time at which the run began.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` if the cache failed. The run is then not recorded as ended.
  func run(since began: ContinuousClock.Instant) throws -> SyncReport {
    // Keep the lock until the last row is written.
    defer { withExtendedLifetime(lock) {} }
    sections.start(context.request.sections)
    let checked = checkShown()
    sections.group.wait()
    // An error is thrown at the end of the run, because the run must first wait for the pictures in progress.
    context.failures.noting { () throws(LarderError) in
      try sections.guardCatalog()
      let isRead = sections.sections.contains { [.network, .unchanged].contains($0.source) }
      if context.catalog.detail == nil, isRead, !context.hasStopped() {
        try context.index.forgetDetails(of: context.entry.id)
      }
    }
    pictures.release()
    // This compares the sections with those of the previous run, while details and pictures are fetched.
    let writing = ReportWriting(
      context,
      before: before,
      sections: sections.sections
    )
    details?.group.wait()
    details?.judge()
    pictures.group.wait()
    checked.wait()
    context.store.flush()
    return try close(writing, since: began)
  }

  /// Checks in the background that the items that the last run stored can still be read.
  ///
  /// Without this check, a run that finds no changes would read only a few of these items, and could miss damage.
  ///
  /// In a large catalog, each run checks only one part of the items. The run's number selects the part. The check has
  /// its own database connection, so that it does not delay the run's own reads.
  ///
  /// - Returns: A group to wait for the end of the check.
  private func checkShown() -> DispatchGroup {
    let group = DispatchGroup()
    let listings = before.compactMap(\.listing)
    guard !listings.isEmpty else { return group }
    group.enter()  // Left at the end of the block.
    let (context, slice) = (context, context.number.rawValue)
    DispatchQueue(label: "larder.check").async {
      context.failures.noting { () throws(LarderError) in
        let index = try Index(reading: context.layout.root.path)
        try index.checkListings(listings, slice: slice)
        try index.checkHistory(slice: slice, at: context.now())
      }
      group.leave()
    }
    return group
  }

  /// Removes unreferenced files, writes the report and ends the run.
  ///
  /// From then on, readers see the catalog of this run.
  private func close(
    _ writing: ReportWriting,
    since began: ContinuousClock.Instant
  ) throws -> SyncReport {
    let (index, layout) = (context.index, context.layout)
    var (held, bytesHeld) = ([PictureID](), ByteCount(0))
    try pictures.due.forEachHeld { id, bytes in
      if self.squares != nil { held.append(id) }
      bytesHeld += bytes
    }
    let squares = try self.squares?.finish(held)
    if let failure = context.failures.cacheFailure ?? context.store.failure { throw failure }

    var tally = pictures.tally
    if let imported { tally.add(imported.counts) }
    // Whether the index has pictures that this run did not come across. They belong to earlier runs or other catalogs.
    let hasOthers = try pictures.due.leavesOthers()
    var report = try writing.report(
      details: details?.tally,
      lost: details?.lost ?? [:],
      pictures: tally,
      bytesHeld: bytesHeld
    )
    report.run = context.number
    if context.hasStopped() { report.outcome = .interrupted }
    // A run that skips the details or some pictures cannot tell which files are unreferenced.
    let isWhole = context.options.readsAll
    if report.outcome == .complete, isWhole { try sweep() }
    // Remove outdated squares after the pictures, so that the squares of removed pictures go too.
    let removed = try layout.sweepSquares(index)
    report.squares = squares
    report.squares?.removed = removed
    report.durationSeconds = (ContinuousClock.now - began).inSeconds
    let isEmpty = !sections.sections.contains { $0.listing != nil }
    if previous == nil, report.outcome == .failed || report.outcome == .interrupted && isEmpty {
      // Forget the run, because nothing was synced: the cache lists a catalog only after its first good run.
      report.run = nil
      try index.forgetRun(context.number, of: context.entry.id)
      try index.keepRenewed()
    } else {
      try index.endRun(
        context.number,
        at: context.now(),
        outcome: report.outcome.rawValue,
        report: report.json,
        sections: sections.sections.map { RunSection($0) },
        changes: writing.changes.changes,
        items: writing.changes.items,
        comparison: ListingChanges.comparison
      )
    }
    do throws(LarderError) {
      // Record the new host only if every section shows its new items. Otherwise it is possible that some of the items
      // shown come from the former host.
      let isTaken = report.sections.allSatisfy { [.network, .unchanged].contains($0.source) }
      if isTaken, report.run != nil, let source, source != context.entry.source {
        try index.note(source: source, of: context.entry.id)
      }
      let isKnown = [.complete, .partial, .withheld].contains(report.outcome)
      try tidy(marking: isWhole && isKnown, hasOthers: hasOthers)
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
    // When the times of the folders are recorded, the next run looks for stray files only in folders that
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
