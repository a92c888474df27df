import Cache
import Catalog
import Transport

/// Writes to the index what pages were decoded to.
struct PageWriter: Sendable {
  let context: RunContext
  let last: LastSections
  /// Told of a section's pictures before its listing is written.
  let ahead: @Sendable ([PictureReference]) -> Void

  /// Has the items of a page's next window kept, which are then held no more.
  ///
  /// - Parameters:
  ///   - window: what the window was decoded to.
  ///   - base: what references in it are relative to.
  ///   - reading: the pages before it.
  ///   - draft: the page so far.
  ///   - lane: where the page's items are kept.
  /// - Throws: ``CacheError`` when the index cannot be written.
  func keep(
    _ window: DecodedListing,
    base: WebURL?,
    after reading: SectionReading,
    in draft: inout PageDraft,
    on lane: ItemLane
  ) throws(CacheError) {
    draft.add(window: window)
    // Only the last section goes on in another window.
    let first = draft.listing.sections.count - window.sections.count
    for (place, section) in window.sections.enumerated() {
      try lane.add(records(of: section, pictures(of: section, base)), to: first + place)
    }
  }

  /// Writes a page, while its pictures are already on their way.
  ///
  /// - Parameters:
  ///   - draft: what the page was decoded to.
  ///   - document: its row, with the page that follows only where a header named it.
  ///   - base: what references in it are relative to.
  ///   - reading: the pages before it.
  /// - Returns: The page.
  /// - Throws: ``CacheError`` when the index cannot be written.
  func write(
    _ draft: PageDraft,
    _ document: DocumentEntry,
    base: WebURL?,
    after reading: SectionReading
  ) throws(CacheError) -> SectionPage {
    let listing = draft.listing
    var document = document
    let unfollowed = unfollowed(listing, link: document.next, reading)
    let isPaged =
      reading.key != nil && context.catalog.paging(ofSource: reading.position) != nil
    let pictures = listing.sections.map { self.pictures(of: $0, base) }
    document.next = nextPage(after: reading, document, listing)
    if !listing.givenUp.isEmpty {
      // Read anew when it is next asked for: more may be allowed to be lost then.
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
