import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The stage of a run that fetches and decodes the catalog's sections, independently of each other and in parallel.
///
/// A section is a list of items, such as all soups. A source is a URL or file from which one section or several
/// sections are read. A source can have several pages.
///
/// Each decoded section is passed on at once, so that its details and pictures are requested while other sections are
/// still being fetched. Its items are stored in the index as a listing.
final class SectionStage: Sendable {
  /// Waits for the sources.
  ///
  /// It is entered once for each source, and left when the source has failed, or is decoded and passed on.
  let group = DispatchGroup()

  private let context: RunContext
  private let last: PreviousSections
  private let pages: PageReader
  private let guardian: SectionGuard
  private let arrived: @Sendable (ListingID, _ isNew: Bool) -> Void
  private let ended = Mutex<[SourceEnd]>([])
  /// The sources that are not yet started, by host.
  private let waiting = Mutex<[String: ArraySlice<SectionReading>]>([:])
  private let puller: Puller

  /// Makes the stage of a run.
  ///
  /// - Parameters:
  ///   - context: The values that all stages of the run share.
  ///   - previous: The sections of the last run. The new sections are compared with them.
  ///   - arrived: Called with each stored listing, and with true if the shop has just sent it.
  init(
    _ context: RunContext,
    previous: [RunSection],
    arrived: @escaping @Sendable (ListingID, _ isNew: Bool) -> Void
  ) {
    self.context = context
    last = PreviousSections(previous)
    pages = PageReader(context: context)
    guardian = SectionGuard(context: context, last: last)
    self.arrived = arrived
    puller = Puller(limit: Self.window, queue: context.starts, isOpen: true)
    puller.whenFree { [weak self] host, count in self?.start(host, count) }
  }

  /// The results of the sections, in the catalog's order.
  ///
  /// Read them after ``guardCatalog()``.
  var sections: [SectionResult] { ended.withLock { $0.flatMap(\.results) } }

  /// The maximum number of sources of one host that are in progress.
  ///
  /// A source is in progress from its first request until its last item is decoded.
  ///
  /// It equals the transport's default for the number of connections to a host.
  ///
  /// Responses are received faster than they are decoded. Without this limit, the memory for waiting responses would
  /// grow with the number of sections.
  private static let window = 16

  /// Starts every source.
  ///
  /// Each host has its own queue.
  func start(_ targets: [DocumentSource]) {
    context.progress.update { $0.sections.total += targets.count }
    var readings: [String: ArraySlice<SectionReading>] = [:]
    for (position, target) in targets.enumerated() {
      group.enter()  // Left in end(_:), which ends every source.
      let key = context.catalog.sectionKey(at: position)
      let reading = SectionReading(position: position, key: key, start: target, next: target)
      readings[reading.host, default: []].append(reading)
    }
    waiting.withLock { [readings] in $0 = readings }
    puller.add(readings.mapValues(\.count))
  }

  /// Starts the next sources of a host.
  private func start(_ host: String, _ count: Int) {
    let next = waiting.withLock { waiting in
      let all = waiting[host] ?? []
      waiting[host] = all.dropFirst(count)
      return all.prefix(count)
    }
    for reading in next { page(reading) }
  }

  private func request(for reading: SectionReading) throws(LarderError) -> DocumentRequest {
    var request = DocumentRequest(
      source: reading.next,
      reader: context.catalog.reader(at: reading.position),
      mapping: context.catalog.listingDigest(at: reading.position)
    )
    request.held = try context.index.held(
      reading.next,
      reader: request.reader,
      mapping: request.mapping
    )
    // A page of one section always has a row for it. If the index was damaged and lost that row, fetch the page again.
    if let held = request.held, !context.catalog.isMany(source: reading.position),
      try context.index.decoded(held.id).isEmpty
    {
      request.held = nil
    }
    // If the catalog file has no `paging`, the link is not followed, but the section gets a warning.
    let paging = context.catalog.paging(ofSource: reading.position)
    request.followsLink = paging == nil || paging?.step == .link
    return request
  }

  private func page(_ reading: SectionReading) {
    attempt(reading) { () throws(LarderError) in
      let request = try request(for: reading)
      if reading.gone.contains(reading.next.name) { return try complete(reading) }
      if context.options.onlyDue, let held = request.held {
        let need = context.needs.need(ofListing: held, reading.next, at: context.now())
        if reading.leavesAlone(isFresh: need.isQuiet) {
          context.work.async { [self] in
            attempt(reading) { () throws(LarderError) in try take(held: held, into: reading) }
          }
          return
        }
      }
      context.fetch(request, priority: .section) { [self, reading] outcome in
        attempt(reading) { () throws(LarderError) in try answer(outcome, to: reading, request) }
      }
    }
  }

  /// Continues with a source, and ends it if the cache fails.
  private func attempt(_ reading: SectionReading, _ work: () throws(LarderError) -> Void) {
    do throws(LarderError) { try work() } catch {
      context.failures.note(error)
      fail(reading, error.description)
    }
  }

  private func answer(
    _ outcome: DocumentOutcome,
    to reading: SectionReading,
    _ request: DocumentRequest
  ) throws(LarderError) {
    switch outcome {
    case .stands(let document):
      try context.index.renew(document)
      try take(held: document, into: reading)
    case .excused(let document, let failure):
      reading.excused = failure.description
      try take(held: document, into: reading)
    case .new(let body, let base, let document):
      try take(body, base: base, document, into: reading, wasHeld: request.held != nil)
    case .failed(let failure) where failure.endsListing && !reading.pages.isEmpty:
      // Some shops send such an answer to a request for a page after the last one.
      context.failures.count(attempts: failure.attempts)
      try end(at: reading, wasHeld: request.held != nil)
    case .failed(let failure):
      context.failures.note(.section, id: reading.key, failure)
      try breakOff(reading, failure.description)
    }
  }

  /// Continues with a cached page.
  ///
  /// The index has its items, so the page is not decoded again.
  private func take(held document: DocumentEntry, into reading: SectionReading) throws(LarderError)
  {
    let sections = try context.index.decoded(document.id)
    // With `--strict`, an unreadable item fails the source, even if an earlier run without `--strict` decoded the page.
    let skipped = sections.lazy.flatMap { SectionNotes($0.skipped).skipped }
    if context.options.strict, let bad = skipped.first { return try refuse(reading, bad) }
    reading.add(SectionPage(document: document, sections: sections))
    try goOn(reading)
  }

  /// Decodes a page with new bytes, and continues with it.
  private func take(
    _ body: DocumentBody,
    base: WebURL?,
    _ document: DocumentEntry,
    into reading: SectionReading,
    wasHeld: Bool
  ) throws(LarderError) {
    if !reading.pages.isEmpty, try body.isNull() { return try end(at: reading, wasHeld: wasHeld) }
    let base = context.catalog.mapping(ofSource: reading.position)
      .pictureBase(catalog: context.localBase, document: base)
    let draft: PageDraft
    switch try pages.read(body, base: base, reading) {
    case .success(let read):
      draft = read
    case .failure(let error) where error.code == .absentItems && !reading.pages.isEmpty:
      return try end(at: reading, wasHeld: wasHeld)
    case .failure(let error) where error.code == .stopped:
      let failure = TransferFailure(reason: .deadline, url: reading.next.redacted)
      context.failures.note(.section, id: reading.key, failure)
      return try breakOff(reading, error.description)
    case .failure(let error):
      let hint = error.remedy == nil ? "; check the shop's response" : ""
      let words = context.secrets.applied(to: error.description) + hint
      context.failures.note(.section, id: reading.key, reading.next.redacted, words)
      return try breakOff(reading, words)
    }
    if context.options.strict, let bad = draft.listing.skipped.first {
      return try refuse(reading, SyncReport.Skipped(bad))
    }
    reading.isNew = true
    reading.add(try pages.write(draft, document, base: base, after: reading))
    if wasHeld, reading.noteChange() { return page(reading) }
    try goOn(reading)
  }

  /// Ends a source because its next page does not exist.
  ///
  /// If that page existed before, it is possible that the source is read again from its first page.
  private func end(at reading: SectionReading, wasHeld: Bool) throws(LarderError) {
    if wasHeld {
      reading.isNew = true
      reading.gone.insert(reading.next.name)
      if reading.noteChange() { return page(reading) }
    }
    try complete(reading)
  }

  /// Reports a source as failed because of one unreadable item, as `--strict` demands.
  private func refuse(
    _ reading: SectionReading,
    _ bad: SyncReport.Skipped
  ) throws(LarderError) {
    var before = 0
    for section in reading.pages.flatMap(\.sections) where section.key == bad.section {
      before += try context.index.itemCount(listing: section.listing)
      before += SectionNotes(section.skipped).lost
    }
    let index = bad.index.map { $0 + before }
    let words =
      "cannot read section \(bad.section): item" + (index.map { " \($0)" } ?? "")
      + (bad.field.map { ", \($0)" } ?? "") + ": \(bad.reason)"
    context.failures.note(.section, id: bad.section, reading.next.redacted, words)
    fail(reading, words)
  }

  /// Reads the next page, or completes the source if there is none.
  private func goOn(_ reading: SectionReading) throws(LarderError) {
    let rule = context.catalog.paging(ofSource: reading.position)
    switch try reading.step(by: rule, in: context.index, context.transport) {
    case .complete:
      break
    case .repeats:
      reading.dropLast()
    case .next(let next):
      reading.next = next
      return page(reading)
    case .invalid(let failure):
      context.failures.note(.section, id: reading.key, failure)
      return try breakOff(reading, failure.description)
    case .beyondLimit(let url, let words):
      reading.ceiling = words
      context.failures.note(
        .section,
        id: reading.key,
        url.redacted,
        for: .pageLimit,
        attempts: 0,
        words
      )
    }
    try complete(reading)
  }

  /// Ends a source at a page that failed.
  ///
  /// The pages before it are accepted.
  ///
  /// If it was the first page, the sections of the last good run are used.
  private func breakOff(_ reading: SectionReading, _ words: String) throws(LarderError) {
    guard !reading.pages.isEmpty else { return fail(reading, words) }
    reading.broken = words
    try complete(reading)
  }

  /// Adds items of the last run to a section if a page failed, or if items moved between the pages: the shop possibly
  /// still lists these items.
  ///
  /// - Returns: The ids of the items that were added.
  private func complete(
    _ joined: inout JoinedSection,
    _ reading: SectionReading
  ) throws(LarderError) -> [String] {
    guard let held = last[joined.section.key], let shown = held.listing else { return [] }
    let moved = try warning(ofItemsMovedIn: joined, reading, held: held, shown)
    guard reading.broken != nil || moved != nil else { return [] }
    let missing = try context.index.vanished(from: shown, in: joined.section.listing)
    guard !missing.isEmpty else { return [] }
    joined.section.listing = try context.index.union(of: joined.section.listing, and: shown)
    joined.shortfall = moved ?? joined.shortfall
    return missing
  }

  /// The warning that items moved to other pages while the pages were read, so that no page lists some of them; nil if
  /// that is unlikely.
  ///
  /// It is likely if the pages have fewer different items than the shop announces, and the last run had as many. A shop
  /// can announce a wrong total in every run, so items are not kept for this reason in two runs in succession.
  private func warning(
    ofItemsMovedIn joined: JoinedSection,
    _ reading: SectionReading,
    held: RunSection,
    _ shown: ListingID
  ) throws(LarderError) -> String? {
    guard reading.key != nil, let total = joined.notes.total,
      held.source != SyncReport.Source.stale.rawValue
    else { return nil }
    let count = try context.index.itemCount(listing: joined.section.listing) + joined.notes.lost
    guard count < total, try total <= context.index.itemCount(listing: shown) else { return nil }
    return "the shop announces \(total) items, but its pages list only \(count) different ones: "
      + "items moved to other pages while they were read; the next run reads them again"
  }

  /// Joins all pages of a source, applies the guards, and passes on the sections.
  ///
  /// A guard is a check that rejects a change of a section if it looks like a fault of the shop.
  private func complete(_ reading: SectionReading) throws(LarderError) {
    let pages = try reading.joined(in: context.index)
    let taken = reading.key == nil ? context.catalog.namedKeys : []
    var results: [SectionResult] = []
    for var joined in pages.sections {
      guard !taken.contains(joined.section.key) else {
        guardian.refuse(claimed: joined.section.key, reading)
        continue
      }
      let unread = try complete(&joined, reading)
      guard var result = try guardian.result(of: joined, isNamed: true, reading) else { continue }
      if !unread.isEmpty, result.source != .withheld {
        result.source = .stale
        result.unread += unread
      }
      results.append(result)
      handOn(result)
    }
    var source = SourceEnd(reading: reading, results: results)
    guard reading.key == nil else { return end(source) }
    source.named = taken.union(pages.sections.map(\.section.key))
    source.failure = reading.broken
    var failing: Set<String> = []
    for failed in pages.failed {
      // Report only the first of several unusable sections with the same key.
      let key = failed.section.key
      guard key.isEmpty || failing.insert(key).inserted else { continue }
      let isKnown = source.named.contains(key)
      source.named.insert(key)
      guard let result = guardian.result(of: failed, isKnown: isKnown, reading) else { continue }
      source.unusable.append(result)
      handOn(result)
    }
    end(source)
  }

  /// Passes on the listing of a section.
  ///
  /// A section that lost items waits for ``guardCatalog()``, so that nothing is requested for a listing that is rejected
  /// after all.
  private func handOn(_ result: SectionResult) {
    guard let listing = result.listing, result.vanished.isEmpty else { return }
    arrived(listing, result.source == .network)
  }

  /// Reports a source without any usable page as failed.
  ///
  /// The sections of the last good run are used, and marked as stale.
  private func fail(_ reading: SectionReading, _ words: String) {
    guard let key = reading.key else { return end(SourceEnd(reading: reading, failure: words)) }
    let section = context.catalog.sections[reading.position]
    let result = last.fallback(for: key, named: (section.title, section.subtitle), words)
    // The pictures of these sections are brought up to date, because they are possibly on another host.
    handOn(result)
    end(SourceEnd(reading: reading, results: [result]))
  }

  private func end(_ source: SourceEnd) {
    ended.withLock { $0.append(source) }
    context.progress.update { $0.sections.done += 1 }
    puller.leave(source.reading.host)
    group.leave()
  }

  /// Decides about all sections together, and passes on those that lost items.
  ///
  /// If the losses look like a fault, each of these sections shows its items of the last good run.
  ///
  /// Call it when `group` is empty.
  func guardCatalog() throws(LarderError) {
    var sources = ended.withLock { $0.sorted { $0.reading.position < $1.reading.position } }
    for refused in sources.giveOut() { guardian.refuse(claimed: refused.key, refused.reading) }
    try addUnnamed(to: &sources)
    let isSuspicious = try guardian.isSuspicious(sources.flatMap(\.results))
    for source in sources.indices {
      for place in sources[source].results.indices
      where !sources[source].results[place].vanished.isEmpty {
        if isSuspicious { try guardian.withhold(&sources[source].results[place]) }
        sources[source].results[place].vanished = []
        handOn(sources[source].results[place])
      }
    }
    // A section that is withheld does not show the items that moved there.
    if isSuspicious { try addUnnamed(to: &sources) }
    ended.withLock { [sources] in $0 = sources }
  }

  /// Adds the sections of the last run that no source names any more.
  ///
  /// Only all sources together show which these are: a section may have moved to another source, may have another key in
  /// the catalog file, or may belong to a source that could not be read. It is attributed to a source that could not be
  /// read. If every source was read, it is attributed to the source of the section before it.
  private func addUnnamed(to sources: inout [SourceEnd]) throws(LarderError) {
    let many = sources.indices.filter { sources[$0].reading.key == nil }
    let named = many.reduce(into: context.catalog.namedKeys) { $0.formUnion(sources[$1].named) }
    let failed = many.first { sources[$0].failure != nil }
    let unread = sources.indices.first { sources[$0].isUnread }
    defer {
      for place in sources.indices {
        let all = last.arranged(sources[place].results, beside: sources[place].unusable)
        (sources[place].results, sources[place].unusable) = (all, [])
      }
    }
    guard var owner = failed ?? many.first ?? unread else { return }
    let shown = Set(sources.flatMap { $0.results + $0.unusable }.map(\.key))
    for key in last.keys {
      guard !named.contains(key), !shown.contains(key) else {
        if failed == nil { owner = many.first { sources[$0].named.contains(key) } ?? owner }
        continue
      }
      var result = unnamedSection(key, sources[owner])
      if result == nil, let unread {
        let others = sources.flatMap(\.results)
        result = try unnamedSection(key, unread: sources[unread], beside: others)
      }
      guard let result else { continue }
      sources[owner].unusable.append(result)
      handOn(result)
    }
  }

  /// The result for a section that no response names any more.
  ///
  /// If a response is missing, the section is stale. Otherwise it is removed, or a guard keeps it.
  private func unnamedSection(_ key: String, _ source: SourceEnd) -> SectionResult? {
    if let words = source.failure { return last.fallback(for: key, words) }
    guard source.reading.key == nil else { return nil }
    do throws(LarderError) {
      guard let section = try guardian.vanished(key) else { return nil }
      return try guardian.result(
        of: JoinedSection(section: section),
        isNamed: false,
        source.reading
      )
    } catch {
      context.failures.note(error)
      return last.fallback(for: key, error.description)
    }
  }

  /// The result for a section that no source names any more, while a source of one section is not read.
  ///
  /// Its items may be in that section, which the user has renamed in the catalog file, merged or split. It keeps those that
  /// no other section has taken.
  private func unnamedSection(
    _ key: String,
    unread source: SourceEnd,
    beside results: [SectionResult]
  ) throws(LarderError) -> SectionResult? {
    guard let read = source.reading.key, let shown = last[key]?.listing,
      !context.options.allowRemovals
    else { return nil }
    let index = context.index
    let none = try index.keepListing([])
    let ids = try index.vanished(from: shown, in: none)
    var taken: Set<ExactText> = []
    for result in results where result.listing != last[result.key]?.listing {
      guard let listing = result.listing else { continue }
      let before = try last[result.key]?.listing.map { old throws(LarderError) in
        try index.vanished(from: shown, in: old)
      }
      let absent = Set(try index.vanished(from: shown, in: listing).map(\.exact))
      taken.formUnion(Set((before ?? ids).map(\.exact)).subtracting(absent))
    }
    let kept = ids.filter { !taken.contains($0.exact) }
    guard !kept.isEmpty else { return nil }
    var result = last.fallback(
      for: key,
      "no source names it any more; it is kept until section \(read) can be read"
    )
    result.row.remedy = .acceptRemovals
    if kept.count < ids.count {
      result.listing = try index.union(of: none, and: shown, keeping: kept)
    }
    return result
  }
}

/// The result of a source.
struct SourceEnd: Sendable {
  let reading: SectionReading
  /// Its usable sections.
  var results: [SectionResult] = []
  /// The results for the unusable sections, if the source has several sections.
  ///
  /// These sections show items of the last run.
  var unusable: [SectionResult] = []
  /// The keys of all its sections, usable or not, if the source has several sections.
  var named: Set<String> = []
  /// The reason why some or all of its pages are missing, if the source has several sections; nil if none are.
  var failure: String?

  /// Whether some or all of its pages are missing, if the source has one section.
  var isUnread: Bool {
    reading.key != nil
      && (reading.broken != nil
        || results.contains {
          [.stale, .failed, .withheld].contains($0.source) && !$0.isExcused
        })
  }
}

extension [SourceEnd] {
  /// Assigns each key to the first source that has a section with it.
  ///
  /// Returns the sections that other sources lose because of that.
  mutating func giveOut() -> [(key: String, reading: SectionReading)] {
    var given: Set<String> = []
    var refused: [(key: String, reading: SectionReading)] = []
    for place in indices {
      let reading = self[place].reading
      self[place].results.removeAll { result in
        if given.insert(result.key).inserted { return false }
        refused.append((result.key, reading))
        return true
      }
    }
    for place in indices {
      // Usable sections come first, so that an unusable section never takes the key of a usable one.
      self[place].unusable.removeAll { !given.insert($0.key).inserted }
    }
    return refused
  }
}
