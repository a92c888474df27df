import Base
import Cache
import Dispatch
import Transport

/// A run that holds its cache: opened before anything is fetched, closed when every stage has ended.
struct OpenedRun {
  /// The state that all stages share.
  let context: RunContext
  /// The last run of the catalog that ended; nil when this is the first.
  let previous: RunEntry?
  /// The sections that it left.
  let before: [RunSection]
  /// The index's entries of pictures.
  let known: KnownPictures
  /// Files without a row, of a killed run or another program.
  let strays: StrayFiles
  /// The state of every picture, to be read while the first requests are on their way; nil where others enter some
  /// meanwhile.
  let states: PictureStates?
  /// The picture folders as they were found.
  private let folders: FolderTimes?
  private let lock: CacheLock
  /// The run's number.
  let number: RunID
  private let source: String?

  /// Opens the cache, making it when there is none, and enters the run.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - cache: the cache's path.
  ///   - holder: the text for the cache's lock.
  ///   - disk: where bytes go.
  ///   - remote: the store that keeps the pictures instead of the cache's folder, if any.
  ///   - transport: how to fetch.
  ///   - parts: the replacements of origins.
  ///   - isStopped: whether the run was ended early.
  ///   - progress: how far the run is.
  ///   - notice: called with a sentence for a person when the cache was taken over.
  /// - Throws: ``LarderError``, with code `locked` while another run holds the cache.
  init(
    _ request: RunRequest,
    cache: String,
    holder: String,
    disk: any Disk,
    remote: (any RemotePictures)?,
    transport: any Fetching,
    parts: PlannedInputs,
    isStopped: @escaping @Sendable () -> Bool,
    progress: ProgressMeter,
    notice: (String) -> Void
  ) throws(LarderError) {
    let layout = try CacheLayout(creating: cache, remote: remote)
    lock = try CacheLock(layout, holder: holder)
    if let words = lock.notice { notice(words) }
    let index = try Index(layout)
    let oldest = request.now() + -PartialBodies.longestAge
    let recovery = try Recovery(layout, index, partialsSince: oldest) {
      path throws(LarderError) in
      try parts.settled?.mightContain(path) ?? false
    }
    strays = recovery.strays
    folders = recovery.folders
    if !strays.isEmpty, try index.catalogs().isEmpty {
      try index.noteLost(since: request.now())
    }
    let catalog = request.catalog
    let entry = try index.catalog(named: catalog.name, currency: catalog.currency)
    source = request.source
    if let source, let last = entry.source, source != last {
      notice(
        "catalog \(catalog.name) came from \(last) so far, and comes from \(source) now; if that is another shop, "
          + "give it another name"
      )
    }
    previous = try index.lastRun(catalog: entry.id)
    before = try previous.map { run throws(LarderError) in try index.sections(run: run.id) } ?? []
    let pictureTraits = PictureTraits(from: request.named, over: transport)
    try index.noteVary(pictureTraits.digest)
    // Before a file is placed, equal bytes are searched among the held ones; other runs have placed theirs.
    states = parts.settled == nil ? PictureStates(index) : nil
    if let planned = parts.states {
      known = planned
    } else {
      known = if let states { KnownPictures(states) } else { try KnownPictures(index) }
    }
    number = try index.beginRun(catalog: entry.id, at: request.now())
    let store = PictureStore(
      layout,
      index: index,
      disk: disk,
      run: number,
      states: states,
      partials: recovery.partials
    )
    let fetching = request.transport(over: transport, isStopped: isStopped)
    let failures = FailureLog()
    let (deadline, now) = (request.options.deadline, request.now)
    context = RunContext(
      catalog: catalog,
      entry: entry,
      options: request.options,
      transport: fetching,
      variables: request.variables,
      layout: layout,
      index: index,
      store: store,
      progress: progress,
      work: DispatchQueue(label: "larder.work"),
      starts: DispatchQueue(label: "larder.starts"),
      now: request.now,
      named: request.named,
      credentials: request.credentials,
      secrets: request.secrets,
      pictureTraits: pictureTraits,
      needs: request.needs(over: fetching),
      documents: parts.documents,
      failures: failures,
      newestURLs: catalog.pictures.identity == .url
        ? nil : NewestURLs(index) { failures.note($0) },
      isOver: { isStopped() || deadline.map { now().seconds >= $0.seconds } ?? false },
      localBase: request.addresses.localBase
    )
    context.failures.count(attempts: parts.requests)
  }

  /// Sweeps unclaimed files, writes the report and ends the run, which is shown from then on.
  ///
  /// - Parameters:
  ///   - results: the results of the stages.
  ///   - wasStopped: whether the run was ended early.
  ///   - began: when the run began.
  ///   - notice: called with a sentence for a person when something was left undone after the run's end.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` when the cache itself failed, now or in a stage, and the run did not end.
  func close(
    _ results: RunResults,
    wasStopped: Bool,
    since began: ContinuousClock.Instant,
    notice: (String) -> Void
  ) throws(LarderError) -> SyncReport {
    // Until the last row is written the cache is nobody else's.
    defer { withExtendedLifetime(lock) {} }
    let (index, layout, pictures) = (context.index, context.layout, results.pictures)
    if let failure = context.failures.cacheFailure ?? context.store.failure { throw failure }

    var seen = pictures.seen
    // This run has seen its own pictures, but perhaps not all earlier ones.
    var hasOthers = false
    try known.forEachBatch { ids in
      hasOthers = !seen.hasAll(ids)
      return hasOthers
    }
    var report = try results.writing.report(
      details: results.details?.tally,
      lost: results.details?.lost ?? [:],
      pictures: pictures.tally,
      bytesHeld: hasOthers
        ? try index.bytesHeld { seen.members($0) } : try bytesHeld(after: pictures.tally)
    )
    if let failure = seen.failure { throw failure }
    report.run = number
    if wasStopped { report.outcome = .interrupted }
    // A run that left details or pictures out cannot tell which files are unreferenced.
    let isWhole = !context.options.thumbnailsOnly && !context.options.noDetails
    if report.outcome == .complete, isWhole { try sweep() }
    // After the pictures, so that squares of those that went go with them.
    let removed = try SquareSweep(layout, index).run()
    report.squares = results.squares
    report.squares?.removed = removed
    report.durationSeconds = (ContinuousClock.now - began).inSeconds
    if report.outcome == .failed, previous == nil {
      // Nothing was synced, so there is nothing to list: the catalog comes with its first good run.
      report.run = nil
      try index.forgetRun(number, of: context.entry.id)
      if !results.renewed.isEmpty { try index.store(results.renewed) }
    } else {
      try index.endRun(
        number,
        at: context.now(),
        outcome: report.outcome.rawValue,
        report: report.json,
        sections: results.sections.map { RunSection($0) },
        renewed: results.renewed,
        changes: try results.writing.changes(of: number)
      )
    }
    do throws(LarderError) {
      // Items that a guard withheld came from the catalog's former host.
      let isTaken = report.sections.allSatisfy { [.network, .unchanged].contains($0.source) }
      if isTaken, report.run != nil, let source, source != context.entry.source {
        try index.note(source: source, of: context.entry.id)
      }
      try tidy(marking: isWhole && report.outcome == .complete, hasOthers: hasOthers)
    } catch {
      // The run has ended, and is shown; the next run completes unfinished work of this step.
      notice("the run is whole, and the next one tidies up after it: \(error.description)")
    }
    return report
  }

  /// Records the findings of the run for later sweeps and starts, once it has ended.
  private func tidy(marking isMarking: Bool, hasOthers: Bool) throws(LarderError) {
    let index = context.index
    if isMarking, hasOthers ? true : try index.hasUnreferenced() {
      try index.markUnreferenced(except: try index.manyReferencedPictures(), at: context.now())
    }
    // Strays that this run may not sweep are left for the next, which looks only when in doubt.
    if strays.isEmpty { try index.noteFolderTimes(of: context.layout, since: folders) }
  }

  /// The bytes that are held of all pictures; a run that asked for none has left them as they were.
  private func bytesHeld(after tally: SyncReport.Pictures) throws(LarderError) -> ByteCount {
    if let states, strays.isEmpty, tally.fresh == tally.total { return try states.read().bytes }
    return try context.index.bytesHeld()
  }

  /// Removes files that no catalog refers to, at the end of a run that requested all that its own refers to.
  private func sweep() throws(LarderError) {
    let index = context.index
    let isAlone = try index.catalogs().count == 1
    if isAlone { context.store.sweepPartials() }
    guard !strays.isEmpty else { return try index.noteLost(since: nil) }
    // After the index was lost, a file without a row may belong to a catalog that has not run since: gc removes it,
    // after its grace.
    guard try index.lostSince() == nil else { return }
    try strays.sweep(except: isAlone ? [] : try index.claimedPaths())
  }
}
