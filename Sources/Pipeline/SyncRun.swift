import Cache
import Catalog
import Dispatch
import Imaging
import Transport

/// One run of the main job: sections, then details and pictures, all in parallel, then the report.
///
/// Blocks the thread that calls ``run()``. Three groups join the work; every request that
/// entered one leaves it on success, failure and cancellation alike, because the transport
/// completes each exactly once. ``stop()`` may be called from any thread.
package final class SyncRun: Sendable {
  private let catalog: CatalogFile
  private let folder: String
  private let cachePath: String
  private let options: SyncOptions
  private let transport: StoppableTransport
  private let disk: any Disk
  private let environment: [String: String]
  private let now: @Sendable () -> UnixTime
  private let notice: @Sendable (String) -> Void

  /// How far the run is, for a display.
  package let progress = SyncProgress()

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - catalog: what to fetch.
  ///   - folder: the catalog file's folder, which local sections are relative to.
  ///   - cache: the cache's path; it is made when there is none.
  ///   - options: what else was asked.
  ///   - transport: how to fetch.
  ///   - environment: where `${NAME}` in the catalog's headers and URLs comes from.
  ///   - disk: where bytes go.
  ///   - now: the wall clock.
  ///   - notice: called with a sentence for a person when something was mended before the run.
  package init(
    _ catalog: CatalogFile,
    folder: String,
    cache: String,
    options: SyncOptions = SyncOptions(),
    transport: any Fetching & URLParsing,
    environment: [String: String] = [:],
    disk: any Disk = SystemDisk(),
    now: @escaping @Sendable () -> UnixTime,
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.catalog = catalog
    self.folder = folder
    self.cachePath = cache
    self.options = options
    self.transport = StoppableTransport(transport)
    self.environment = environment
    self.disk = disk
    self.now = now
    self.notice = notice
  }

  /// Ends the run early: nothing new is started, what is whole is kept, the report says the rest.
  package func stop() {
    transport.stop()
  }

  /// Runs to the end and says what happened.
  ///
  /// An index that turns out damaged is put aside and made anew from what can be read of it and from the
  /// files, and the run begins again.
  ///
  /// - Parameter holder: what to write into the cache's lock, for those who have to wait.
  /// - Returns: The report.
  /// - Throws: ``SyncError`` when the run could not take place at all.
  package func run(holder: String) throws(SyncError) -> SyncReport {
    do {
      do {
        return try perform(holder: holder)
      } catch let error as CacheError where error.code == .damaged {
        guard let notice = try IndexRenewal(cachePath).run(holder: holder, at: now()) else {
          throw error
        }
        self.notice(notice)
        return try perform(holder: holder)
      }
    } catch let error as CacheError {
      throw .cache(error)
    } catch let error as CatalogError {
      throw .catalog(error)
    } catch let error as TransferFailure {
      throw .address(error)
    } catch {
      throw .cache(CacheError(.disk, "cannot sync \(catalog.name): \(error)"))
    }
  }

  private func perform(holder: String) throws -> SyncReport {
    let began = ContinuousClock.now
    if options.squareSide != nil { try checkDecoders() }
    // What the catalog file gets wrong is said before anything is made or fetched.
    let addresses = try CatalogAddresses(
      catalog,
      folder: folder,
      base: options.base,
      environment: environment,
      transport
    )
    let targets = try addresses.sections()
    let variables = try addresses.variables()
    let named = try addresses.named()
    let credentials = try catalog.resolved(environment)

    let layout = try CacheLayout(creating: cachePath)
    let lock = try CacheLock(layout, holder: holder)
    if let words = lock.notice { notice(words) }
    let index = try Index(layout)
    let oldest = now() + -PartialBodies.longestAge
    let recovery = try Recovery(layout, index, partialsSince: oldest.seconds)
    if !recovery.strays.isEmpty, try index.catalogs().isEmpty {
      try index.noteLost(since: now().seconds)
    }
    let entry = try index.catalog(named: catalog.name, currency: catalog.currency)
    let previous = try index.lastRun(catalog: entry.id)
    let before = try previous.map { try index.sections(run: $0.id) } ?? []
    let pictureTraits = PictureTraits(from: named, over: transport)
    try index.noteSelection(pictureTraits.digest)
    let states = try index.pictureStates()
    let run = try index.beginRun(catalog: entry.id, at: now().seconds)
    let store = PictureStore(
      layout,
      index: index,
      disk: disk,
      run: run,
      states: states,
      partials: recovery.partials
    )
    let context = RunContext(
      catalog: catalog,
      entry: entry,
      options: options,
      transport: variables.isEmpty ? transport : VeilingTransport(transport, variables),
      variables: variables,
      layout: layout,
      index: index,
      store: store,
      progress: progress,
      work: DispatchQueue(label: "larder.work"),
      starts: DispatchQueue(label: "larder.starts"),
      now: now,
      named: named,
      credentials: credentials,
      pictureTraits: pictureTraits,
      failures: FailureLog(),
      localBase: addresses.localBase
    )

    let squares = try squareStage(context)
    let pictures = PictureStage(context, states: states, recovery: recovery) { id in
      squares?.add(CollectionOfOne(id))
    }
    let details = try detailStage(context, addresses, pictures)
    let sections = SectionStage(
      context,
      previous: before,
      report: previous?.report,
      // Details go before pictures, and which there are a listing tells only once it is kept.
      ahead: { if details == nil { pictures.askAhead($0) } }
    ) { arrival in
      self.complete(arrival, context, details, pictures)
    }
    sections.start(targets)
    sections.group.join()
    if !transport.hasStopped {
      do throws(CacheError) {
        try sections.guardCatalog()
      } catch {
        // Said once the pictures that are under way have ended: the run may not leave them behind.
        context.failures.note(error)
      }
    }
    pictures.release()
    let writing = ReportWriting(context, before: before, sections: sections.sections)
    details?.group.join()
    details?.judgeMissing()
    if !transport.hasStopped { details?.judgeFields() }
    pictures.group.join()
    let flushed = DispatchSemaphore(value: 0)
    store.flush { flushed.signal() }
    flushed.wait()
    var made = try squares?.finish(pictures.seen)
    if let failure = context.failures.cacheFailure ?? store.failure { throw failure }

    let seen = pictures.seen
    // What this run brought it has seen; of what was there before, perhaps not all.
    let hasOthers = states.keys.contains { !seen.contains($0) }
    var report = try writing.report(
      details: details?.tally,
      lost: details?.lost ?? [:],
      pictures: pictures.tally,
      bytesHeld: try index.bytesHeld(hasOthers ? seen : nil)
    )
    report.run = run
    if transport.hasStopped { report.outcome = .interrupted }
    // A run that left details or pictures out cannot tell what belongs to nobody.
    let isWhole = !options.thumbnailsOnly && !options.noDetails
    if report.outcome == .complete, isWhole { try sweep(pictures, store, index) }
    // After the pictures, so that squares of those that went go with them.
    let removed = try SquareSweep(layout, index).run()
    made?.removed = removed
    report.squares = made
    report.durationSeconds = (ContinuousClock.now - began).inSeconds
    if report.outcome == .failed, previous == nil {
      // Nothing was synced, so there is nothing to list: the catalog comes with its first good run.
      report.run = nil
      try index.forgetRun(run, of: entry.id)
      if !pictures.hasStrays { try index.noteFolderTimes(of: layout) }
      withExtendedLifetime(lock) {}
      return report
    }
    try index.endRun(
      run,
      at: now().seconds,
      outcome: report.outcome.rawValue,
      report: report.json(),
      sections: sections.sections.map { RunSection($0) }
    )
    // Later than the run's end, which says what is shown.
    if isWhole, report.outcome == .complete, try hasOthers || index.hasUnreferenced() {
      try index.markUnreferenced(except: try index.referencedPictures(), at: now().seconds)
    }
    // Strays that this run may not sweep are for the next to find, which looks only when in doubt.
    if !pictures.hasStrays { try index.noteFolderTimes(of: layout) }
    withExtendedLifetime(lock) {}
    return report
  }

  /// Says before anything is fetched what would fail every square alike.
  private func checkDecoders() throws(CacheError) {
    do throws(ImagingError) {
      try CodecLibrary.check()
    } catch {
      throw CacheError(.unsupported, error.description)
    }
  }

  private func squareStage(_ context: RunContext) throws -> SquareStage? {
    guard let side = options.squareSide else { return nil }
    let (transport, deadline, now) = (transport, options.squareDeadline, now)
    return try SquareStage(context, side: side, disk: disk) {
      transport.hasStopped || deadline.map { now().seconds >= $0.seconds } ?? false
    }
  }

  /// Removes what nobody claims, at the end of a run that asked for all that its catalog claims.
  private func sweep(_ pictures: PictureStage, _ store: PictureStore, _ index: Index) throws {
    let isAlone = try index.catalogs().count == 1
    if isAlone { store.sweepPartials() }
    guard pictures.hasStrays else { return try index.noteLost(since: nil) }
    // Once the index was lost, a catalog that has not run since may own what seems to be nobody's:
    // that is left to gc, after its grace.
    guard try index.lostSince() == nil else { return }
    _ = try pictures.sweep(except: isAlone ? [] : try index.claimedPaths())
  }

  private func detailStage(
    _ context: RunContext,
    _ addresses: CatalogAddresses,
    _ pictures: PictureStage
  ) throws -> DetailStage? {
    guard let rule = catalog.detail, !options.noDetails else { return nil }
    var order: (@Sendable (String, String) -> Bool)?
    if options.onlyDue {
      let seen = try context.index.detailChecks(catalog: context.entry.id)
      order = { (seen[$0] ?? 0, $0) < (seen[$1] ?? 0, $1) }
    }
    return DetailStage(
      context,
      rule: rule,
      known: try context.index.details(catalog: context.entry.id),
      pictures: options.thumbnailsOnly ? nil : pictures,
      order: order
    ) { text throws(TransferFailure) in try addresses.target(text) }
  }

  /// Starts what a listing needs: the details of its items, and its pictures.
  private func complete(
    _ arrival: SectionStage.Arrival,
    _ context: RunContext,
    _ details: DetailStage?,
    _ pictures: PictureStage
  ) {
    do throws(CacheError) {
      if let details { details.add(try context.index.itemKeys(listing: arrival.listing)) }
      if let references = arrival.references {
        pictures.add(references)
      } else {
        let ids = try context.index.pictures(listing: arrival.listing)
        try pictures.add(ids) { () throws(CacheError) in
          let items = try context.items(arrival.listing)
          return Dictionary(items.flatMap(\.images).map { (PictureID(url: $0.url), $0.url) }) {
            first,
            _ in first
          }
        }
      }
    } catch {
      context.failures.note(error)
    }
  }
}

/// Why a run could not take place at all.
package enum SyncError: Error, Sendable {
  /// The cache is held, damaged or cannot be written.
  case cache(CacheError)
  /// The catalog file or the environment is wrong.
  case catalog(CatalogError)
  /// An address in the catalog file cannot be used.
  case address(TransferFailure)
}

extension RunSection {
  init(_ result: SectionResult) {
    self.init(
      key: result.key,
      title: result.title,
      subtitle: result.subtitle,
      listing: result.listing,
      source: result.source.rawValue
    )
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
