import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// Decodes the pages of sections.
struct PageReader {
  let context: RunContext
  let writer: PageWriter

  /// Decodes a page: a large one window by window, each kept while the next is decoded.
  ///
  /// A window that cannot be decoded leaves it to the whole body to say why.
  ///
  /// - Parameters:
  ///   - body: the page.
  ///   - base: the base of its relative references.
  ///   - reading: the source that it belongs to.
  /// - Returns: Its decoded sections, or the reason why it cannot be decoded.
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
      // An element and its comma are two bytes at least.
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
    // Of sections that cannot be used, only the whole body says it of all.
    return draft.listing.sections.isEmpty ? decode(body, reading, limits) : .success(draft)
  }

  /// Limits of decoding.
  ///
  /// Of a listing in pages, none says how much there is.
  private func limits(at position: Int) -> DecodingLimits {
    let isPaged = context.catalog.paging(ofSource: position) != nil
    return DecodingLimits(
      maxSkipped: isPaged ? nil : context.options.maxSkipped,
      isStopped: context.isOver
    )
  }

  /// Decodes a page whole.
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

/// A page that was decoded, whole or window by window, and is not written yet.
struct PageDraft: Sendable {
  /// The decoded page; of a page in windows without the items.
  private(set) var listing = DecodedListing(sections: [], elementCount: 0)
  /// By section, in the order of ``listing``, the items of a page in windows, which are in the index already; nil
  /// for a page that was decoded whole.
  var kept: [ListingDraft]?

  /// A page that was decoded whole.
  init(_ listing: DecodedListing) {
    self.listing = listing
    self.listing.dropRepeats()
  }

  /// A page that windows are added to.
  init() {}

  /// Adds the page's next window, all but its items: these are kept elsewhere.
  mutating func add(window: DecodedListing) {
    var rest = window
    for place in rest.sections.indices { rest.sections[place].items = [] }
    listing.append(rest)
  }

  /// Keeps the first of several items of a section that have one id, once all windows are there.
  ///
  /// - Parameter index: Where the items are.
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

  /// Leaves the rest of the page's section unread: too much of it is lost.
  mutating func giveUp() { listing.givenUp.formUnion(listing.sections.map(\.key)) }

  /// Judges the sections against each other, once all are there: refuses those that share a key, and leaves as absent
  /// only fields that no section has.
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

  /// Has the items of a page's next window kept, which are then held no more.
  ///
  /// - Parameters:
  ///   - window: the decoded window.
  ///   - base: the base of its relative references.
  ///   - reading: the pages before it.
  ///   - draft: the page so far.
  ///   - lane: where the page's items are kept.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func keep(
    _ window: DecodedListing,
    base: WebURL?,
    after reading: SectionReading,
    in draft: inout PageDraft,
    on lane: ItemWriter
  ) throws(LarderError) {
    draft.add(window: window)
    // Only the last section continues in another window.
    let first = draft.listing.sections.count - window.sections.count
    for (place, section) in window.sections.enumerated() {
      try lane.add(records(of: section, pictures(of: section, base)), to: first + place)
    }
  }

  /// Writes a page, while its pictures are already on their way.
  ///
  /// - Parameters:
  ///   - draft: the decoded page.
  ///   - document: its row, with the page that follows only where a header named it.
  ///   - base: the base of its relative references.
  ///   - reading: the pages before it.
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
      // Read again at the next request: more losses may be allowed then.
      (document.digest, document.response, document.expiry) = (nil, nil, UnixTime(0))
    }
    let skipped = Dictionary(grouping: listing.skipped, by: \.section)
    // A page of several may yet fail with the next one, and then none of it is shown.
    if draft.kept == nil, reading.pages.isEmpty, document.next == nil {
      for (section, pictures) in zip(listing.sections, pictures) {
        let omitted = listing.omitted[section.key]?.unread ?? 0
        let lost = (skipped[section.key] ?? []).count(where: \.isUnread) + omitted
        let elements = section.items.count + lost
        // Of a listing that is not taken nothing is shown either.
        // Of a section that is shown already, the guards judge the listing first.
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
      // In the places where the body has them.
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

  /// The pictures of a section's items, one item after the other.
  private func pictures(of section: Section, _ base: WebURL?) -> [PictureReference] {
    section.items.flatMap { context.references(to: $0.images, base: base) }
  }

  /// The sign that a section's listing has further pages and the catalog file no paging; nil when there is none.
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

  /// A section that cannot be used, as an empty one with the reason.
  private func row(of failed: FailedSection) -> DecodedSection {
    DecodedSection(
      key: failed.key ?? "",
      title: failed.key ?? "",
      subtitle: nil,
      skipped: SectionNotes(failure: failed.reason).text
    )
  }

  /// A section's items with their pictures, which stand one item after the other in `pictures`.
  private func records(of section: Section, _ pictures: [PictureReference]) -> [ItemRecord] {
    let items = section.items
    var records: [ItemRecord] = []
    records.reserveCapacity(items.count)
    var rest = pictures[...]
    // By place: a copy of an item costs more than to look at it.
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

  /// The URL of the page that follows one that was just decoded, from the page itself or by the catalog's rule;
  /// text that is no URL is returned unchanged.
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

/// Keeps the items of a page's listings in the index while the page's next windows are decoded.
///
/// Many windows share a transaction: items are found by their digests, and as these are scattered, each transaction
/// rewrites most of that index.
final class ItemWriter: Sendable {
  private struct Kept {
    var listings: [ListingDraft] = []
    /// Items that no transaction has taken yet, in order.
    var waiting: [ListedRecords] = []
    /// Their bytes.
    var bytes = 0
  }

  private let index: Index
  private let queue = DispatchQueue(label: "larder.items")
  /// Held for the whole transaction, so only the queue may use it.
  private let kept = Mutex(Kept())
  /// Why the index could not be written; nothing is kept after that.
  private let failure = Mutex<LarderError?>(nil)
  /// How many windows wait, or are at work, before who decodes them has to wait: more than a transaction takes, so that
  /// neither waits for the other.
  private let places = DispatchSemaphore(value: 10)
  /// Items that were kept, for who adds to let go of.
  ///
  /// That thread also made them: memory that another one frees has both wait for the allocator's lock.
  private let spent = Mutex<[ListedRecords]>([])

  /// How many bytes of items make a transaction.
  private let batch: Int

  /// A lane into an index.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - batch: How many bytes of items make a transaction.
  init(_ index: Index, batch: Int = 16 << 20) {
    self.index = index
    self.batch = batch
  }

  /// Keeps further items; waits while too many windows are under way.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - listing: The listing that they belong to, counted from 0.
  /// - Throws: ``LarderError`` when the index could not be written.
  func add(_ items: [ItemRecord], to listing: Int = 0) throws(LarderError) {
    places.wait()
    letGo()
    queue.async { [self] in
      kept.withLock { take(ListedRecords(listing: listing, items: items), into: &$0) }
      places.signal()
    }
    try demandSuccess()
  }

  /// Waits until all items are kept.
  ///
  /// - Returns: The listings that they make.
  /// - Throws: ``LarderError`` when the index could not be written.
  func finish() throws(LarderError) -> [ListingDraft] {
    let listings = queue.sync {
      kept.withLock { kept in
        commit(&kept)
        return kept.listings
      }
    }
    letGo()
    try demandSuccess()
    return listings
  }

  private func letGo() {
    var items: [ListedRecords] = []
    spent.withLock { swap(&$0, &items) }
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
    spent.withLock { $0 += kept.waiting }
    kept.waiting.removeAll(keepingCapacity: true)
    kept.bytes = 0
  }
}
