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

  private func reader(of reading: Reading) -> String {
    context.catalog.reader(at: reading.position)
  }

  private func mapping(of reading: Reading) -> Int64 {
    context.catalog.listingDigest(at: reading.position)
  }

  private func document(of reading: Reading) throws(CacheError) -> DocumentEntry? {
    let (name, reader) = (reading.next.name, reader(of: reading))
    if let held = try context.index.document(name, reader: reader) { return held }
    let keys = key(of: reading.position).map { [$0] } ?? previousKeys
    return try context.index.takeOver(name, reader: reader, sections: keys)
  }

  func page(_ reading: Reading) {
    do throws(CacheError) {
      var held = try document(of: reading)
      if held?.mapping != mapping(of: reading) { held = nil }
      let known = held
      if reading.progress.isGone(reading.next.name) { return try complete(reading) }
      if context.options.onlyDue, let known,
        reading.progress.leavesAlone(reading.next.name, isFresh: isFresh(known, reading.next))
      {
        context.work.async { [self] in
          do throws(CacheError) {
            try answer(.unchanged(word: .held(known)), to: reading, held: known)
          } catch {
            context.failures.note(error)
            fail(reading, error.description)
          }
        }
        return
      }
      context.fetch(reading.next, held: known, priority: .section) { [self] reply in
        do throws(CacheError) {
          try answer(reply, to: reading, held: known)
        } catch {
          context.failures.note(error)
          fail(reading, error.description)
        }
      }
    } catch {
      context.failures.note(error)
      fail(reading, error.description)
    }
  }

  private func isFresh(_ held: DocumentEntry, _ source: DocumentSource) -> Bool {
    held.freshness(at: context.now(), for: context.traits(of: source)).isQuiet
  }

  private func answer(_ reply: DocumentReply, to reading: Reading, held: DocumentEntry?)
    throws(CacheError)
  {
    var reading = reading
    switch reply {
    case .failed(let failure):
      let traits = context.traits(of: reading.next)
      if let held, held.excuses(failure, at: context.now(), for: traits) {
        context.failures.count(attempts: failure.attempts)
        reading.excused = failure.description
        let sections = try context.index.decoded(held.id)
        reading.pages.append(Page(document: held, sections: sections))
        break
      }
      if failure.saysThereIsNone, !reading.pages.isEmpty {
        // Some shops answer so behind their last page.
        context.failures.count(attempts: failure.attempts)
        if held != nil {
          reading.isNew = true
          if reading.progress.noteChange(of: reading.next.name, isGone: true) {
            return page(reading.anew)
          }
        }
        return try complete(reading)
      }
      context.failures.note(.section, id: key(of: reading.position), failure)
      return fail(reading, failure.description)

    case .unchanged(let word):
      guard var document = held else { return }
      document.response = word.text
      document.expiry = word.expiry
      try context.index.store(document)
      let sections = try context.index.decoded(document.id)
      reading.pages.append(Page(document: document, sections: sections))

    case .body(let body, let base, let word):
      let digest = ContentDigest.number(of: body)
      var document = DocumentEntry(
        url: reading.next.name,
        reader: reader(of: reading),
        mapping: mapping(of: reading),
        response: word.text,
        expiry: word.expiry,
        digest: digest,
        fetched: context.now().seconds
      )
      if let held, held.digest == digest, held.came(from: base) {
        // The origin sent the same body again: what it was decoded to still stands.
        document.next = held.next
        try context.index.store(document)
        reading.pages.append(
          Page(document: document, sections: try context.index.decoded(document.id))
        )
        break
      }
      let listing: DecodedListing
      do throws(CatalogError) {
        listing = try decode(body, reading)
      } catch {
        let hint = error.remedy == nil ? "; look at what the shop sends" : ""
        let words = error.description + hint
        context.failures.note(
          undecodable: .section,
          id: key(of: reading.position),
          reading.next,
          words
        )
        return fail(reading, words)
      }
      if context.options.strict, let bad = listing.skipped.first {
        return refuse(reading, SyncReport.Skipped(bad))
      }
      reading.isNew = true
      let page = try store(listing, document: &document, base: base ?? reading.next.base, reading)
      reading.pages.append(page)
      if held != nil, reading.progress.noteChange(of: reading.next.name) {
        return self.page(reading.anew)
      }
    }

    // A body that did not change may have been read by a run that was not strict.
    let skipped = reading.pages.last?.sections.flatMap { SkippedText.read($0.skipped) } ?? []
    if context.options.strict, let bad = skipped.first { return refuse(reading, bad) }

    try goOn(reading)
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
