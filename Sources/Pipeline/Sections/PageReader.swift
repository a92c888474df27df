import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// Decodes the pages of sections, in memory or window by window.
struct PageReader {
  let context: RunContext
  let writer: PageWriter

  /// Decodes a page.
  ///
  /// A large page is decoded in windows, which are parts with whole items, so that it is never in memory as a whole.
  ///
  /// The items of each window are written to the index while the next one is decoded.
  ///
  /// If a window cannot be decoded, the whole body is decoded, for a correct error message.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - base: The base of its relative references.
  ///   - reading: The source that it belongs to.
  /// - Returns: The decoded page, or the reason why it cannot be decoded.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func read(
    _ body: DocumentBody,
    base: WebURL?,
    _ reading: SectionReading
  ) throws(LarderError) -> Result<PageDraft, CatalogError> {
    let limits = limits(at: reading.position)
    guard let windows = windows(of: body, at: reading.position, using: context.catalog) else {
      return decode(body, reading, limits)
    }
    var draft = PageDraft()
    let isMany = context.catalog.isMany(source: reading.position)
    var elements = 0
    var lost = 0
    let lane = ItemWriter(context.index)
    for window in windows {
      if isMany, !window.isContinuation { elements = 0 }
      let part: DecodedListing
      do throws(CatalogError) {
        part = try decodeWindow(
          window,
          at: reading.position,
          using: context.catalog,
          after: draft.listing,
          elements: elements,
          within: limits
        )
      } catch {
        _ = try lane.finish()
        if error.code == .stopped { return .failure(error) }
        return decode(body, reading, limits)
      }
      elements += part.elementCount
      lost += part.lost
      try writer.keep(part, base: base, after: reading, in: &draft, on: lane)
      // Each element needs at least two bytes: one character and a comma.
      let most = elements + window.bytesAfter / 2
      if !isMany, lost > SkipTally.mostRows,
        limits.maxSkipped?.isPassed(by: lost, of: most) == true
      {
        draft.giveUp()
        break
      }
    }
    draft.kept = try lane.finish()
    if isMany { draft.settleSections() }
    try draft.dropRepeats(in: context.index)
    // If no section is usable, decode the whole body, which gives the reason for each.
    return draft.listing.sections.isEmpty ? decode(body, reading, limits) : .success(draft)
  }

  /// The limits of decoding.
  ///
  /// A paged listing has no limit for unreadable items here, because a single page does not show how many items the
  /// listing has.
  private func limits(at position: Int) -> DecodingLimits {
    let isPaged = context.catalog.paging(ofSource: position) != nil
    return DecodingLimits(
      maxSkipped: isPaged ? nil : context.options.maxSkipped,
      isStopped: context.isOver
    )
  }

  /// Decodes a page in memory.
  private func decode(
    _ body: DocumentBody,
    _ reading: SectionReading,
    _ limits: DecodingLimits
  ) -> Result<PageDraft, CatalogError> {
    do throws(CatalogError) {
      let listing = try body.decoded { body throws(CatalogError) in
        try decodeSource(body, at: reading.position, using: context.catalog, within: limits)
      }
      return .success(PageDraft(listing))
    } catch {
      return .failure(error)
    }
  }
}

/// A decoded page that is not yet written to the index.
struct PageDraft: Sendable {
  /// The decoded page.
  ///
  /// If it was decoded in windows, it is without its items.
  private(set) var listing = DecodedListing(sections: [], elementCount: 0)
  /// The items of a page that was decoded in windows, which are already in the index, by section in the order of
  /// ``listing``.
  ///
  /// Nil for a page that was decoded in memory.
  var kept: [ListingDraft]?

  /// A page that was decoded in memory.
  init(_ listing: DecodedListing) {
    self.listing = listing
    self.listing.dropRepeats()
  }

  /// An empty page, to which windows are added.
  init() {}

  /// Adds the page's next window without its items, which ``ItemWriter`` stores.
  mutating func add(window: DecodedListing) {
    var rest = window
    for place in rest.sections.indices { rest.sections[place].items = [] }
    listing.append(rest)
  }

  /// Drops repeated items of a section, once all windows are added: of items with the same id, the first is kept.
  ///
  /// - Parameter index: The index that has the items.
  /// - Throws: ``LarderError`` when the index cannot be read.
  mutating func dropRepeats(in index: Index) throws(LarderError) {
    guard var drafts = kept else { return }
    for place in drafts.indices {
      let draft = drafts[place]
      let ids = PackedIDs(zeroEnded: draft.ids)
      let repeats = ids.repeats
      guard !repeats.isEmpty else { continue }
      let others = repeats.filter { !draft.isSame($0.place, $0.first) }.map(\.place)
      listing.noteDuplicates(others.map { ($0, ids[$0]) }, in: listing.sections[place].key)
      drafts[place] = try index.draft(draft, leavingOut: Set(repeats.map(\.place)))
    }
    kept = drafts
  }

  /// Records that the rest of the page was not read, because too many items were unreadable.
  mutating func giveUp() { listing.givenUp.formUnion(listing.sections.map(\.key)) }

  /// Compares the sections with each other, once all are decoded.
  ///
  /// Refuses sections with the same key, and reports a field as absent only if no section has it.
  mutating func settleSections() {
    for place in listing.refuseRepeatedKeys().reversed() { kept?.remove(at: place) }
    listing.settleAbsence()
  }
}

/// Writes decoded pages to the index.
struct PageWriter: Sendable {
  let context: RunContext
  let last: PreviousSections
  /// Called with a section's pictures before its listing is written.
  let ahead: @Sendable ([PictureReference]) -> Void

  /// Passes the items of a page's next window to a writer, so that they need not stay in memory.
  ///
  /// - Parameters:
  ///   - window: The decoded window.
  ///   - base: The base of its relative references.
  ///   - reading: The pages before it.
  ///   - draft: The page so far.
  ///   - lane: The writer for the items of the page.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func keep(
    _ window: DecodedListing,
    base: WebURL?,
    after reading: SectionReading,
    in draft: inout PageDraft,
    on lane: ItemWriter
  ) throws(LarderError) {
    draft.add(window: window)
    // Only the page's last section so far continues in another window.
    let first = draft.listing.sections.count - window.sections.count
    for (place, section) in window.sections.enumerated() {
      try lane.add(records(of: section, pictures(of: section, base)), to: first + place)
    }
  }

  /// Writes a page to the index.
  ///
  /// The requests for its pictures are started before that, if possible.
  ///
  /// - Parameters:
  ///   - draft: The decoded page.
  ///   - document: The page's row; it has the URL of the next page only if a header field named it.
  ///   - base: The base of its relative references.
  ///   - reading: The pages before it.
  /// - Returns: The page.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func write(
    _ draft: PageDraft,
    _ document: DocumentEntry,
    base: WebURL?,
    after reading: SectionReading
  ) throws(LarderError) -> SectionPage {
    let listing = draft.listing
    var document = document
    let unfollowed = unfollowed(listing, link: document.next, reading)
    let isPaged =
      reading.key != nil && context.catalog.paging(ofSource: reading.position) != nil
    let pictures = listing.sections.map { self.pictures(of: $0, base) }
    document.next = nextPage(after: reading, document, listing)
    if !listing.givenUp.isEmpty {
      // Without validators, the page is fetched and read again in the next run, which may allow more unreadable items.
      (document.digest, document.response, document.expiry) = (nil, nil, UnixTime(0))
    }
    let skipped = Dictionary(grouping: listing.skipped, by: \.section)
    // Do this only for a source with one page: a page of several may not be shown if a later page fails.
    if draft.kept == nil, reading.pages.isEmpty, document.next == nil {
      for (section, pictures) in zip(listing.sections, pictures) {
        let omitted = listing.omitted[section.key]?.unread ?? 0
        let lost = (skipped[section.key] ?? []).count(where: \.isUnread) + omitted
        let elements = section.items.count + lost
        // A listing with too many unreadable items is rejected. For a known section, the guards judge the listing
        // first.
        let isNew = last[section.key]?.listing == nil || context.options.allowRemovals
        if isNew, !listing.givenUp.contains(section.key),
          !context.options.maxSkipped.refuses(lost: lost, of: elements)
        {
          ahead(pictures)
        }
      }
    }
    var references: [String: [PictureReference]] = [:]
    var sections: [(section: DecodedSection, listing: NewListing)] = []
    var failed = listing.failed[...]
    for (place, (section, pictures)) in zip(listing.sections, pictures).enumerated() {
      // Insert unusable sections at their positions in the body.
      while failed.first?.index == sections.count, let first = failed.popFirst() {
        sections.append((row(of: first), NewListing([])))
      }
      if draft.kept == nil { references[section.key] = pictures }
      let notes = SectionNotes(
        skipped: (skipped[section.key] ?? []).map(SyncReport.Skipped.init),
        omitted: listing.omitted[section.key] ?? SkipTally(),
        isGivenUp: listing.givenUp.contains(section.key),
        absent: listing.absent[section.key] ?? [],
        unfollowed: unfollowed,
        total: isPaged ? listing.total : nil,
        listed: isPaged && listing.total != nil ? listing.elementCount : nil
      )
      let items = draft.kept == nil ? records(of: section, pictures) : []
      let row = DecodedSection(
        key: section.key,
        title: section.title,
        subtitle: section.subtitle,
        skipped: notes.text
      )
      sections.append((row, draft.kept.map { NewListing($0[place]) } ?? NewListing(items)))
    }
    for section in failed { sections.append((row(of: section), NewListing([]))) }
    let kept = try context.index.store(document, new: sections)
    return SectionPage(document: document, sections: kept, references: references)
  }

  /// The pictures of a section's items, in the order of the items.
  private func pictures(of section: Section, _ base: WebURL?) -> [PictureReference] {
    section.items.flatMap { context.references(to: $0.images, base: base) }
  }

  /// The evidence that a section's listing has further pages although the catalog file has no paging; nil when there is
  /// none.
  private func unfollowed(
    _ listing: DecodedListing,
    link: String?,
    _ reading: SectionReading
  ) -> String? {
    guard context.catalog.paging(ofSource: reading.position) == nil, reading.key != nil,
      !context.catalog.isOnePage(source: reading.position)
    else { return nil }
    return listing.unfollowed(hasNextLink: link != nil)
  }

  /// The row of an unusable section: an empty section with the reason.
  private func row(of failed: FailedSection) -> DecodedSection {
    DecodedSection(
      key: failed.key ?? "",
      title: failed.key ?? "",
      subtitle: nil,
      skipped: SectionNotes(failure: failed.reason).text
    )
  }

  /// The records of a section's items; `pictures` has the items' pictures in the order of the items.
  private func records(of section: Section, _ pictures: [PictureReference]) -> [ItemRecord] {
    let items = section.items
    var records: [ItemRecord] = []
    records.reserveCapacity(items.count)
    var rest = pictures[...]
    // Use indices, because a copy of each item would cost more than the bounds check.
    for place in items.indices {
      guard !items[place].images.isEmpty else {
        let body = items[place].encoded()
        records.append(ItemRecord(key: items[place].id, body: body, pictures: []))
        continue
      }
      var item = items[place]
      let own = rest.prefix(item.images.count)
      rest = rest.dropFirst(own.count)
      item.images.resolve(own)
      records.append(ItemRecord(key: item.id, body: item.encoded(), pictures: own.map(\.id)))
    }
    return records
  }

  /// The URL of the page after a newly decoded page, from that page itself or by the catalog's rule.
  ///
  /// Text that is not a URL is returned unchanged.
  private func nextPage(
    after reading: SectionReading,
    _ document: DocumentEntry,
    _ listing: DecodedListing
  ) -> String? {
    var listing = listing
    listing.nextPage = listing.nextPage ?? document.next
    guard let rule = context.catalog.paging(ofSource: reading.position),
      let start = reading.start.base, let last = reading.next.base
    else { return nil }
    if let place = rule.place, case .query(let query) = reading.next,
      let value = query.values[place]
    {
      return rule.nextValue(
        afterReading: reading.pages.count + 1,
        last: value,
        listing: listing
      ).map { NextPage.text(for: context.variables.kept(cursor: $0)) }
    }
    guard
      let text = rule.nextPage(
        afterReading: reading.pages.count + 1,
        of: start.text,
        last: last.text,
        listing: listing
      )
    else { return nil }
    let url =
      switch rule.step {
      case .next: try? context.parse(named: text, relativeTo: last)
      case .link: try? context.parse(header: text, relativeTo: last)
      case .page, .offset, .cursor:
        (try? context.transport.parse(text, relativeTo: last)).map(context.variables.veiled)
      }
    return url?.asSecure(as: last).text ?? context.variables.veiled(text)
  }
}

/// Writes the items of a page to the index in the background, while the page's next windows are decoded.
///
/// Many windows share a transaction. Items are indexed by their digests, which are random, so that every transaction
/// rewrites most of that index's pages.
final class ItemWriter: Sendable {
  private struct Kept {
    var listings: [ListingDraft] = []
    /// The items that are not yet written, in the page's order.
    var waiting: [ListedRecords] = []
    /// The size of the waiting items in bytes.
    var bytes = 0
  }

  private let index: Index
  private let queue = DispatchQueue(label: "larder.items")
  /// The items to write.
  ///
  /// It is locked during a whole transaction, so only the queue may use it.
  private let kept = Mutex(Kept())
  /// The first error in writing the index; no more items are written after it.
  private let failure = Mutex<LarderError?>(nil)
  /// The slots for windows that wait or are being written; ``add(_:to:)`` blocks when all are taken.
  ///
  /// There are more than a transaction takes, so that decoding and writing overlap.
  private let places = DispatchSemaphore(value: 8)
  /// The number of bytes of items in a transaction.
  private let batch: Int

  /// Makes a writer for an index.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - batch: The number of bytes of items in a transaction.
  init(_ index: Index, batch: Int = 20 << 20) {
    self.index = index
    self.batch = batch
  }

  /// Queues further items; blocks while too many windows are waiting.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - listing: The number of the listing that they belong to, from 0.
  /// - Throws: ``LarderError`` when the index could not be written.
  func add(_ items: [ItemRecord], to listing: Int = 0) throws(LarderError) {
    let records = ListedRecords(listing: listing, items: items)
    places.wait()
    queue.async { [self] in
      kept.withLock { take(records, into: &$0) }
      places.signal()
    }
    try demandSuccess()
  }

  /// Waits until all items are written.
  ///
  /// - Returns: The listings with the items.
  /// - Throws: ``LarderError`` when the index could not be written.
  func finish() throws(LarderError) -> [ListingDraft] {
    let listings = queue.sync {
      kept.withLock { kept in
        commit(&kept)
        return kept.listings
      }
    }
    try demandSuccess()
    return listings
  }

  private func demandSuccess() throws(LarderError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private func take(_ items: ListedRecords, into kept: inout Kept) {
    guard failure.withLock({ $0 == nil }) else { return }
    while kept.listings.count <= items.listing { kept.listings.append(ListingDraft()) }
    kept.waiting.append(items)
    kept.bytes += items.byteCount
    if kept.bytes >= batch { commit(&kept) }
  }

  private func commit(_ kept: inout Kept) {
    guard failure.withLock({ $0 == nil }) else { return }
    do throws(LarderError) {
      try index.keep(kept.waiting, in: &kept.listings)
    } catch {
      failure.withLock { $0 = error }
    }
    kept.waiting.removeAll(keepingCapacity: true)
    kept.bytes = 0
  }
}
