import Cache
import Catalog
import Dispatch
import FoundationEssentials
import Synchronization
import Transport

/// Fetches and decodes the catalog's sections, all at once, each on its own.
///
/// What one source gives is handed on the moment it is decoded, so that its details and pictures
/// start while other sections are still on their way. `group` joins the sources.
final class SectionStage: Sendable {
  /// Entered once a source, left when it is decoded and handed on, or has failed.
  let group = WorkGroup()

  /// A listing to be completed with details and pictures.
  struct Arrival: Sendable {
    var listing: Int64
    /// The pictures with their URLs when the section was decoded just now, nil when it was known.
    var references: [PictureReference]?
  }

  let context: RunContext
  let previous: [String: RunSection]
  let previousKeys: [String]
  let lastSkips: LastSkips
  let ahead: @Sendable ([PictureReference]) -> Void
  let arrived: @Sendable (Arrival) -> Void
  private let results: Mutex<[[SectionResult]]>
  private let lines = Mutex<[HostPort?: WorkLine<Reading>]>([:])

  /// A stage that compares with the sections of the last run.
  ///
  /// - Parameters:
  ///   - context: the run.
  ///   - previous: the sections of the last run.
  ///   - report: the report of the last run.
  ///   - ahead: told of a section's pictures as soon as it is decoded, before its listing is kept.
  ///   - arrived: told of each listing that is kept, and then of the same pictures again.
  init(
    _ context: RunContext,
    previous: [RunSection],
    report: [UInt8]?,
    ahead: @escaping @Sendable ([PictureReference]) -> Void,
    arrived: @escaping @Sendable (Arrival) -> Void
  ) {
    self.context = context
    self.previous = Dictionary(previous.map { ($0.key, $0) }) { first, _ in first }
    self.previousKeys = previous.map(\.key)
    self.lastSkips = LastSkips(report)
    self.ahead = ahead
    self.arrived = arrived
    results = Mutex(Array(repeating: [], count: context.catalog.sources.count))
  }

  /// The sections in the catalog's order, once `group` is empty.
  var sections: [SectionResult] { results.withLock { $0.flatMap(\.self) } }

  /// How many sources of a host are under way at once, from their request to their last item: as
  /// many as the transport opens connections to a host by itself.
  ///
  /// Bodies come faster than they are decoded; without an end to it, the memory that they wait in
  /// would grow with the number of sections.
  private static let window = 16

  /// Starts every source, each host's in a line of its own.
  func start(_ targets: [DocumentSource]) {
    context.progress.update { $0.sections.total += targets.count }
    var readings: [HostPort?: [Reading]] = [:]
    for (position, target) in targets.enumerated() {
      group.enter()  // Left in end(_:_:), the only way out of a source.
      readings[target.host, default: []].append(
        Reading(position: position, start: target, next: target)
      )
    }
    for (host, readings) in readings { line(of: host).add(readings) }
  }

  private func line(of host: HostPort?) -> WorkLine<Reading> {
    lines.withLock { lines in
      if let line = lines[host] { return line }
      let line = WorkLine<Reading>(limit: Self.window, queue: context.starts) {
        [weak self] readings in
        for reading in readings { self?.page(reading) }
      }
      lines[host] = line
      return line
    }
  }

  /// A source that is being read, page after page.
  struct Reading: Sendable {
    let position: Int
    let start: DocumentSource
    var next: DocumentSource
    var pages: [Page] = []
    let progress = PagingProgress()
    var isNew = false
    /// Why there are pages that were not read.
    var ceiling: String?
    /// The error that held pages stand in for, as their origin lets them. (RFC 5861, section 4)
    var excused: String?

    /// The same from its first page on.
    var anew: Reading {
      var reading = self
      reading.pages = []
      reading.next = start
      return reading
    }
  }

  /// One page, decoded now or before.
  struct Page: Sendable {
    var document: DocumentEntry
    var sections: [DecodedSection]
    var references: [String: [PictureReference]]?
  }

  private func request(for reading: Reading) throws(CacheError) -> DocumentRequest {
    try context.request(
      for: reading.next,
      reader: context.catalog.reader(at: reading.position),
      mapping: context.catalog.listingDigest(at: reading.position),
      takingOver: key(of: reading.position).map { [$0] } ?? previousKeys
    )
  }

  func page(_ reading: Reading) {
    do throws(CacheError) {
      let request = try request(for: reading)
      if reading.progress.isGone(reading.next.name) { return try complete(reading) }
      if context.options.onlyDue, let held = request.held,
        reading.progress.leavesAlone(
          reading.next.name,
          isFresh: context.isQuiet(held, reading.next)
        )
      {
        context.work.async { [self] in answer(.stands(held), to: reading, request) }
        return
      }
      context.fetch(request, priority: .section) { [self] outcome in
        answer(outcome, to: reading, request)
      }
    } catch {
      fail(reading, error)
    }
  }

  private func answer(
    _ outcome: DocumentOutcome,
    to reading: Reading,
    _ request: DocumentRequest
  ) {
    do throws(CacheError) {
      switch outcome {
      case .stands(let document):
        try context.index.store(document)
        try take(held: document, into: reading)
      case .excused(let document, let failure):
        var reading = reading
        reading.excused = failure.description
        try take(held: document, into: reading)
      case .new(let body, let base, let document):
        try take(body, base: base, document, into: reading, wasHeld: request.held != nil)
      case .failed(let failure) where failure.saysThereIsNone && !reading.pages.isEmpty:
        // Some shops answer so behind their last page.
        context.failures.count(attempts: failure.attempts)
        try end(at: reading, wasHeld: request.held != nil)
      case .failed(let failure):
        context.failures.note(.section, id: key(of: reading.position), failure)
        fail(reading, failure.description)
      }
    } catch {
      fail(reading, error)
    }
  }

  /// Goes on with what a page was decoded to before.
  private func take(held document: DocumentEntry, into reading: Reading) throws(CacheError) {
    var reading = reading
    let sections = try context.index.decoded(document.id)
    reading.pages.append(Page(document: document, sections: sections))
    // The body may have been read by a run that was not strict.
    let skipped = sections.lazy.flatMap { SkippedText.read($0.skipped) }
    if context.options.strict, let bad = skipped.first { return refuse(reading, bad) }
    try goOn(reading)
  }

  /// Goes on with a page whose bytes are new.
  private func take(
    _ body: [UInt8],
    base: WebURL?,
    _ document: DocumentEntry,
    into reading: Reading,
    wasHeld: Bool
  ) throws(CacheError) {
    let listing: DecodedListing
    do throws(CatalogError) {
      listing = try decode(body, reading)
    } catch {
      let hint = error.remedy == nil ? "; look at what the shop sends" : ""
      let words = error.description + hint
      let id = key(of: reading.position)
      context.failures.note(undecodable: .section, id: id, reading.next, words)
      return fail(reading, words)
    }
    if context.options.strict, let bad = listing.skipped.first {
      return refuse(reading, SyncReport.Skipped(bad))
    }
    var (reading, document) = (reading, document)
    reading.isNew = true
    reading.pages.append(try store(listing, document: &document, base: base, reading))
    if wasHeld, reading.progress.noteChange(of: reading.next.name) { return page(reading.anew) }
    try goOn(reading)
  }

  /// Completes a source behind whose last page there is none, or reads it anew when there was one.
  private func end(at reading: Reading, wasHeld: Bool) throws(CacheError) {
    var reading = reading
    if wasHeld {
      reading.isNew = true
      if reading.progress.noteChange(of: reading.next.name, isGone: true) {
        return page(reading.anew)
      }
    }
    try complete(reading)
  }

  private func fail(_ reading: Reading, _ error: CacheError) {
    context.failures.note(error)
    fail(reading, error.description)
  }

  /// Under `--strict`: one bad item fails its source.
  private func refuse(_ reading: Reading, _ bad: SyncReport.Skipped) {
    let index = bad.index.map { $0 + reading.progress.elements(of: bad.section) }
    let words =
      "cannot read section \(bad.section): item" + (index.map { " \($0)" } ?? "")
      + (bad.field.map { ", \($0)" } ?? "") + ": \(bad.reason)"
    context.failures.note(undecodable: .section, id: bad.section, reading.next, words)
    fail(reading, words)
  }

  private func decode(_ body: [UInt8], _ reading: Reading) throws(CatalogError) -> DecodedListing {
    switch context.catalog.sections {
    case .listed(let sources):
      try decodeSection(
        body,
        source: sources[reading.position],
        using: context.catalog
      )
    case .combined(let plan):
      try decodeSections(body, plan: plan, using: context.catalog)
    }
  }

  /// All pages are here: joins them, applies the guards and hands the sections on.
  func complete(_ reading: Reading) throws(CacheError) {
    let (joined, failed) = try join(reading)
    var results: [SectionResult] = []
    for joined in joined {
      guard let result = try result(of: joined, isNamed: true, reading) else { continue }
      results.append(result)
      let (section, pages) = (joined.section, joined.pages)
      let parts = pages.map { reading.pages[$0].references?[section.key] }
      let isWhole =
        result.listing == section.listing && joined.repeats == 0
        && parts.allSatisfy { $0 != nil }
      handOn(result, isWhole ? parts.flatMap { $0 ?? [] } : nil)
    }
    var absent: [SectionResult] = []
    let named = joined.map(\.section.key)
    for (section, position) in failed {
      let isKnown = named.contains(section.key)
      guard let result = failure(of: section, at: position, isKnown: isKnown, reading) else {
        continue
      }
      absent.append(result)
      handOn(result, nil)
    }
    for section in try vanished(except: named + failed.map(\.section.key)) {
      guard let result = try result(of: JoinedSection(section: section), isNamed: false, reading)
      else { continue }
      absent.append(result)
      handOn(result, nil)
    }
    end(reading, arranged(results, beside: absent))
  }

  /// Hands a section's listing on, with the references to its pictures when they are at hand.
  private func handOn(_ result: SectionResult, _ references: [PictureReference]?) {
    guard let listing = result.listing else { return }
    arrived(Arrival(listing: listing, references: references))
  }

  /// A source that gave nothing: the last good sections stand in for it, as stale.
  func fail(_ reading: Reading, _ words: String) {
    var results: [SectionResult] = []
    let names = context.catalog.sectionNames(
      at: reading.position,
      held: previous,
      order: previousKeys
    )
    for planned in names {
      let held = previous[planned.key]?.listing
      results.append(
        SectionResult(
          key: planned.key,
          title: planned.title,
          subtitle: planned.subtitle,
          source: held == nil ? .failed : .stale,
          listing: held,
          error: words
        )
      )
      // Its pictures may be due all the same, and the origin of those another one.
      if let held { arrived(Arrival(listing: held, references: nil)) }
    }
    end(reading, results)
  }

  /// Changes the result of a section that has ended.
  func replace(_ key: String, _ change: (inout SectionResult) -> Void) {
    results.withLock { results in
      for source in results.indices {
        for place in results[source].indices where results[source][place].key == key {
          change(&results[source][place])
        }
      }
    }
  }

  private func end(_ reading: Reading, _ sections: [SectionResult]) {
    results.withLock { $0[reading.position] = sections }
    context.progress.update { $0.sections.done += 1 }
    line(of: reading.start.host).leave()
    group.leave()
  }

  func key(of position: Int) -> String? {
    guard case .listed(let sources) = context.catalog.sections else { return nil }
    return sources[position].key
  }
}
