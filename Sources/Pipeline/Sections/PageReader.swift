import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// Decodes pages of sections, and writes them to the index.
///
/// A section is a list of items. A source is a URL or file from which one section or several sections are read,
/// possibly in several pages. In the index, the items of a section are stored as a listing.
///
/// A small page is decoded as a whole. A large page is decoded in windows, which are parts with whole items, so that it
/// is never in memory as a whole.
struct PageReader: Sendable {
  let context: RunContext

  /// Decodes a page.
  ///
  /// The items of a window are written to the index while the next window is being decoded.
  ///
  /// If a window cannot be decoded, the whole body is decoded, because only that gives a correct error message.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - base: The URL that relative references in it refer to.
  ///   - reading: The source that it belongs to.
  /// - Returns: The decoded page, or the reason why it cannot be decoded.
  /// - Throws: ``LarderError`` when the index cannot be written.
  func read(
    _ body: DocumentBody,
    base: WebURL?,
    _ reading: SectionReading
  ) throws(LarderError) -> Result<PageDraft, CatalogError> {
    let decoder = ListingDecoder(
      context.catalog,
      position: reading.position,
      within: DecodingLimits(isStopped: context.isOver)
    )
    guard var windows = ListingWindows(body, for: decoder) else {
      return decode(body, decoder)
    }
    var draft = PageDraft()
    let isMany = context.catalog.isMany(source: reading.position)
    // If a section has several pages, one page does not show how many items the section has.
    let isPaged = context.catalog.paging(ofSource: reading.position) != nil
    let limit = isMany || isPaged ? nil : context.options.maxSkipped
    let lane = ItemWriter(context.index)
    while true {
      let part: DecodedListing
      do throws(CatalogError) {
        guard let next = try windows.next() else { break }
        part = next
      } catch {
        _ = try lane.finish()
        if error.code == .stopped { return .failure(error) }
        return decode(body, decoder)
      }
      // The lane stores the items.
      var rest = part
      for place in rest.sections.indices { rest.sections[place].items = [] }
      draft.listing.append(rest)
      // Only the page's last section so far continues in another window.
      let first = draft.listing.sections.count - part.sections.count
      for (place, section) in part.sections.enumerated() {
        try lane.add(records(of: section, base), to: first + place)
      }
      // Each element needs at least two bytes: one character and a comma.
      let most = draft.listing.elementCount + windows.bytesLeft / 2
      let lost = draft.listing.lost
      if lost > SkipTally.mostRows, limit?.isPassed(by: lost, of: most) == true {
        draft.isGivenUp = true
        break
      }
    }
    let kept = try lane.finish()
    // A field counts as absent only if no section has it.
    draft.listing.settleAbsence()
    // The sections are stored without items that repeat the id of an earlier item.
    for (place, listing) in kept.enumerated() {
      draft.listing.noteDuplicates(listing.repeats, in: draft.listing.sections[place].key)
    }
    draft.kept = kept
    // If no section is usable, decode the whole body, because this gives a reason for each section.
    return draft.listing.sections.isEmpty ? decode(body, decoder) : .success(draft)
  }

  /// Decodes a page as a whole.
  private func decode(_ body: DocumentBody, _ decoder: ListingDecoder) -> Result<
    PageDraft, CatalogError
  > {
    do throws(CatalogError) {
      var listing = try body.decoded(by: decoder.listing)
      listing.dropRepeats()
      return .success(PageDraft(listing: listing))
    } catch {
      return .failure(error)
    }
  }
}

/// A decoded page that is not yet written to the index.
struct PageDraft: Sendable {
  /// The decoded page; without its items if it was decoded in windows.
  var listing = DecodedListing()
  /// The items of each section, if the page was decoded in windows; nil otherwise.
  ///
  /// These items are already in the index.
  var kept: [ListingDraft]?
  /// Whether the rest of the page is not read, because too many items are unreadable.
  var isGivenUp = false
}

extension PageReader {
  /// Writes a page to the index.
  ///
  /// - Parameters:
  ///   - draft: The decoded page.
  ///   - document: The page's row. It has the URL of the next page only if a `Link` header field named it.
  ///   - base: The URL that relative references in it refer to.
  ///   - reading: The state of reading the source, with the pages before this one.
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
    let unfollowed =
      listing.invalidNext ?? unfollowed(listing, link: document.next, reading)
    let rule = reading.key == nil ? nil : context.catalog.paging(ofSource: reading.position)
    // Before a transform, the only list of a response can be another one than that of the items, and be on every page.
    let isListKnown =
      rule?.isCounted == false
      || context.catalog.mapping(ofSource: reading.position).transform == nil
    document.next = nextPage(after: reading, document, listing)
    if draft.isGivenUp {
      // Remove the ETag and Last-Modified date, so that the next run fetches and reads the page again. It may allow
      // more unreadable items.
      (document.digest, document.response, document.expiry) = (nil, nil, UnixTime(0))
    }
    let skipped = Dictionary(grouping: listing.skipped, by: \.section)
    var sections: [(section: DecodedSection, listing: NewListing)] = []
    var failed = listing.failed[...]
    for (place, section) in listing.sections.enumerated() {
      // Insert unusable sections at their positions on the page.
      while failed.first?.index == sections.count, let first = failed.popFirst() {
        sections.append((row(of: first), NewListing.items([])))
      }
      let notes = SectionNotes(
        skipped: (skipped[section.key] ?? []).map(SyncReport.Skipped.init),
        omitted: listing.omitted[section.key] ?? SkipTally(),
        isGivenUp: draft.isGivenUp,
        absent: ItemField.allCases.filter { listing.absent[section.key]?.contains($0) == true },
        unfollowed: unfollowed,
        total: rule == nil ? nil : listing.total,
        listed: rule != nil && isListKnown && (listing.total != nil || listing.elementCount == 0)
          ? listing.mostListed : nil
      )
      let items = draft.kept == nil ? records(of: section, base) : []
      let row = DecodedSection(
        key: section.key,
        title: section.title,
        subtitle: section.subtitle,
        skipped: notes.text
      )
      sections.append((row, draft.kept.map { .draft($0[place]) } ?? .items(items)))
    }
    for section in failed { sections.append((row(of: section), NewListing.items([]))) }
    let kept = try context.index.store(document, new: sections)
    return SectionPage(document: document, sections: kept)
  }

  /// A reason to assume that a section has further pages although the catalog file has no `paging`; nil if there is
  /// none.
  private func unfollowed(
    _ listing: DecodedListing,
    link: String?,
    _ reading: SectionReading
  ) -> String? {
    guard context.catalog.paging(ofSource: reading.position) == nil,
      !context.catalog.sections[reading.position].isOnePage
    else { return nil }
    return listing.unfollowed(hasNextLink: link != nil)
  }

  /// The row of an unusable section.
  ///
  /// It has no items, but the reason.
  private func row(of failed: FailedSection) -> DecodedSection {
    DecodedSection(
      key: failed.key ?? "",
      title: failed.key ?? "",
      subtitle: nil,
      skipped: SectionNotes(failure: failed.reason).text
    )
  }

  /// Makes the records of a section's items for the index.
  private func records(of section: Section, _ base: WebURL?) -> [NewItem] {
    section.items.map { item in
      var item = item
      let pictures = context.addresses(of: item.images, base: base)
      item.images.resolve(pictures)
      return NewItem(key: item.id, body: item.encoded(), pictures: pictures)
    }
  }

  /// The URL of the page after one that was just decoded.
  ///
  /// The page names it, or the catalog file's rule for pages yields it.
  ///
  /// If the page names it with text that is not a URL, the result is that text.
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
    // A page of empty sections is not empty.
    if reading.key == nil, rule.step == .page { listing.elementCount += listing.sections.count }
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

/// Writes the items of a page to the index in the background, while further windows of the page are being decoded.
///
/// Many windows share a transaction, because each transaction rewrites the pages of the index of items' ids that it
/// touches. If the ids are not in order, these are most of its pages.
final class ItemWriter: Sendable {
  private struct Kept {
    var listings: [ListingDraft] = []
    /// The items that are not yet written, in the page's order.
    var waiting: [(listing: Int, items: [NewItem])] = []
    /// The memory that the waiting items take, in bytes.
    var bytes = 0
  }

  private let index: Index
  private let queue = DispatchQueue(label: "larder.items")
  /// The items that are not yet written, and the listings that they belong to.
  ///
  /// Only the queue is allowed to use it, because it is locked during a whole transaction.
  private let kept = Mutex(Kept())
  /// The first error in writing the index.
  ///
  /// After an error, no further items are written.
  private let failure = Mutex<LarderError?>(nil)
  /// Limits the number of windows that wait or are being written.
  ///
  /// ``add(_:to:)`` blocks while there are too many.
  ///
  /// The limit is larger than the number of windows in a transaction, so that decoding and writing overlap.
  private let places = DispatchSemaphore(value: 8)
  /// The number of bytes of items that are written in one transaction.
  private let batch: Int

  /// Makes a writer for an index.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - batch: The number of bytes of items that are written in one transaction.
  init(_ index: Index, batch: Int = 20 << 20) {
    self.index = index
    self.batch = batch
  }

  /// Queues further items.
  ///
  /// Blocks while too many windows are waiting.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - listing: The position of the section that lists them, from 0.
  /// - Throws: ``LarderError`` when the index could not be written.
  func add(_ items: [NewItem], to listing: Int = 0) throws(LarderError) {
    places.wait()
    queue.async { [self] in
      kept.withLock { take(items, to: listing, into: &$0) }
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

  private func take(_ items: [NewItem], to listing: Int, into kept: inout Kept) {
    guard failure.withLock({ $0 == nil }) else { return }
    kept.waiting.append((listing, items))
    kept.bytes += items.reduce(0) { $0 + $1.byteCount }
    if kept.bytes >= batch { commit(&kept) }
  }

  private func commit(_ kept: inout Kept) {
    guard failure.withLock({ $0 == nil }), !kept.waiting.isEmpty else { return }
    do throws(LarderError) {
      try index.keep(kept.waiting, in: &kept.listings)
    } catch {
      failure.withLock { $0 = error }
    }
    kept.waiting.removeAll(keepingCapacity: true)
    kept.bytes = 0
  }
}
