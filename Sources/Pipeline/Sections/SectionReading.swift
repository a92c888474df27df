import Base
import Cache
import Catalog
import Transport

/// The state of reading a source, page after page.
///
/// A source is a URL or file from which one section or several sections are read. A section is a list of items.
final class SectionReading: @unchecked Sendable {
  // SAFETY: Only one thread at a time uses a reading. Each request for a page passes it on to its completion. It is read
  // again when all sources have ended.

  /// The source's position in the catalog file, from 0.
  let position: Int
  /// The key of the source's section; nil if the source has several sections.
  let key: String?
  /// The source's first page.
  let start: DocumentSource
  /// The page that is being read.
  var next: DocumentSource
  /// The pages that were read so far.
  private(set) var pages: [SectionPage] = []
  /// The last page, if it was dropped because it had nothing new.
  private(set) var repeated: SectionPage?
  /// Whether any page has changed since the last run.
  var isNew = false
  /// A message that the source has more pages than the limit allows; nil if it has not.
  var ceiling: String?
  /// The reason why the page after the last one in `pages` could not be read; nil if no page failed.
  var broken: String?
  /// The error after which a cached page was used, because its `stale-if-error` directive allows that; nil if there was
  /// none. (RFC 5861, section 4)
  var excused: String?

  /// The names of pages that do not exist, by the server's answer.
  var gone: Set<String> = []
  private var hasLeftAlone = false
  private var asksAll = false
  /// The names of the pages that an unattended run requested.
  private var asked: Set<String> = []
  /// The texts by which the pages before the last one name their next pages.
  private var named: Set<String> = []
  /// The digests of the pages before the last one.
  private var digests: Set<Int64> = []
  /// The number of pages in a row, up to the last one, that say nothing new.
  private var old = 0

  /// Begins to read a source.
  init(position: Int, key: String?, start: DocumentSource, next: DocumentSource) {
    (self.position, self.key, self.start, self.next) = (position, key, start, next)
  }

  /// The host whose place the source takes.
  var host: String { start.host.map { "\($0)" } ?? "" }

  /// Adds a page that was read.
  func add(_ page: SectionPage) {
    if let last = pages.last?.document {
      if let next = last.next { named.insert(next) }
      if let digest = last.digest { digests.insert(digest) }
    }
    pages.append(page)
  }

  /// Drops the last page, because it had nothing new.
  func dropLast() { repeated = pages.popLast() }

  /// Whether to use the cached version of the next page without a request.
  ///
  /// An unattended run, which is one of `larder warm`, does not request a page that is fresh. However, if any page has
  /// changed, items may have moved from one page to another. All pages are then requested, including those that were
  /// used without a request before.
  ///
  /// - Parameter isFresh: Whether the cached page is fresh.
  /// - Returns: True if the page needs no request, or this run has already requested it. If false, the caller must
  ///   request it.
  func leavesAlone(isFresh: Bool) -> Bool {
    if asked.contains(next.name) { return true }
    guard isFresh, !asksAll else {
      asked.insert(next.name)
      return false
    }
    hasLeftAlone = true
    return true
  }

  /// Records that a page has changed or no longer exists.
  ///
  /// If pages were used without a request, the source is read again from its first page.
  ///
  /// - Returns: Whether that is so.
  func noteChange() -> Bool {
    asksAll = true
    guard hasLeftAlone else { return false }
    hasLeftAlone = false
    (pages, named, digests, old) = ([], [], [], 0)
    next = start
    return true
  }
}

/// One page of a source.
///
/// This run or an earlier one decoded it.
struct SectionPage: Sendable {
  /// The page's row in the index.
  var document: DocumentEntry
  /// Its sections, in the order of the page.
  var sections: [DecodedSection]
}

// The decision which page of a source to read next. A run uses it, and so does the plan that `--dry-run` prints.
extension SectionReading {
  /// The next step after a page.
  enum Step: Sendable {
    /// There is no further page, so the source is complete.
    case complete
    /// The last page had nothing new, so it is dropped and the source is complete. Some shops start again with their
    /// first items after the last page, or return the same page for every request.
    case repeats
    /// The page to read next.
    case next(DocumentSource)
    /// There is a further page, but reading it would exceed the limit. The text is a message about that.
    case beyondLimit(DocumentSource, String)
    /// There is a further page, but its address is not a URL.
    case invalid(TransferFailure)
  }

  /// Returns the step after the last page.
  ///
  /// Call it once for each page, because it notes the page's items.
  ///
  /// - Parameters:
  ///   - rule: The catalog file's rule for pages; nil if the source has only one page.
  ///   - index: The index that stores the items of the pages.
  ///   - parser: The URL parser.
  /// - Returns: The step.
  /// - Throws: ``LarderError``, with code `damaged` if an item of the page cannot be read.
  func step(
    by rule: PagingRule?,
    in index: Index,
    _ parser: any URLParsing
  ) throws(LarderError) -> Step {
    guard let rule, let last = pages.last else { return .complete }
    for section in last.sections { try index.demandWhole(section.listing) }
    if try isRepeat(last, by: rule, in: index) { return .repeats }
    guard let text = last.document.next, text != start.name, !named.contains(text) else {
      return .complete
    }
    let following: DocumentSource
    do throws(TransferFailure) {
      following = try source(at: text, by: rule, parser)
    } catch {
      return .invalid(error)
    }
    guard pages.count < rule.limit else {
      return .beyondLimit(
        following,
        "cannot read all of section \(key ?? "all"): it continues after \(rule.limit) pages; "
          + "raise paging.limit in the catalog file"
      )
    }
    try index.notePage(last.sections, of: position, isFirst: pages.count == 1)
    return .next(following)
  }

  /// Whether the last page has the same bytes as an earlier one, or lists only items that they list too.
  ///
  /// If each page names the next one, a page can list further forms of earlier items, and be followed by new ones. A page
  /// of whose elements a filter leaves none says nothing about the next page.
  private func isRepeat(
    _ page: SectionPage,
    by rule: PagingRule,
    in index: Index
  ) throws(LarderError) -> Bool {
    guard pages.count > 1 else { return false }
    let isKnown = page.document.digest.map(digests.contains) ?? false
    // Pages whose `Link` header fields name different next pages can have the same body.
    if isKnown, rule.step != .link { return true }
    let hasNew = try hasNewItems(page, in: index)
    if rule.isCounted, hasNew == false { return true }
    let isFiltered =
      hasNew == nil && !isKnown
      && page.sections.contains { SectionNotes($0.skipped).listed ?? 0 > 0 }
    old = hasNew == true || isFiltered ? 0 : old + 1
    return old == Self.mostOld
  }

  /// The number of pages without new items that end a listing in which each page names the next one, and the number of
  /// empty pages that end any listing.
  private static let mostOld = 3

  /// Whether a page lists an item that no earlier page lists; nil if it lists none.
  private func hasNewItems(_ page: SectionPage, in index: Index) throws(LarderError) -> Bool? {
    var count = 0
    for section in page.sections {
      let isNew = try index.lists(
        newItemsIn: section.listing,
        of: position,
        section: section.key
      )
      if isNew { return true }
      count += try index.itemCount(listing: section.listing)
    }
    return count > 0 ? false : nil
  }

  /// The page that a text in the index names; see ``NextPage``.
  private func source(
    at text: String,
    by rule: PagingRule,
    _ parser: any URLParsing
  ) throws(TransferFailure) -> DocumentSource {
    guard let value = NextPage.value(in: text), let place = rule.place,
      case .query(let query) = next
    else { return next.moved(to: try parser.parse(text, relativeTo: nil)) }
    return .query(try query.page(kept: value, at: place, parser))
  }
}

/// A section, joined from all pages of its source.
struct JoinedSection: Sendable {
  /// The section, with the items of all pages.
  var section: DecodedSection
  /// The findings about all pages.
  var notes = SectionNotes()
  /// The number of items that were left out because an earlier page lists them.
  var repeats = 0
  /// The warning that the pages list fewer items than the shop announces; nil if they list all of them, or the shop
  /// announces no total.
  var shortfall: String?
  /// The listings of the pages.
  fileprivate var listings: [ListingID] = []
  /// The number of items on the pages so far, readable or not, and the number that the pages say they list.
  fileprivate var (elements, listed) = (0, 0)

  /// Makes a section of one page.
  init(section: DecodedSection) { self.section = section }
}

extension SectionReading {
  /// Joins the pages.
  ///
  /// If a section is on several pages, its items are written to the index as one listing.
  ///
  /// - Parameter index: The index.
  /// - Returns: The usable sections, in the order of the pages, and the others with their positions on their pages.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func joined(in index: Index) throws(LarderError) -> (
    sections: [JoinedSection], failed: [(section: DecodedSection, position: Int)]
  ) {
    var places: [String: Int] = [:]
    var sections: [JoinedSection] = []
    var failed: [(section: DecodedSection, position: Int)] = []
    for page in pages {
      for (position, section) in page.sections.enumerated() {
        var own = SectionNotes(section.skipped)
        guard own.failure == nil else {
          failed.append((section, position))
          continue
        }
        let skipped = own.skipped.count { $0.lost == .item }
        let count = try index.itemCount(listing: section.listing) + skipped
        let place = places[section.key] ?? sections.count
        if place == sections.count {
          places[section.key] = place
          sections.append(JoinedSection(section: section))
          sections[place].notes = own
        } else {
          // Convert an item's position on this page to its position in the whole section.
          for row in own.skipped.indices {
            own.skipped[row].index = own.skipped[row].index.map { $0 + sections[place].elements }
          }
          sections[place].notes.add(own)
        }
        sections[place].listings.append(section.listing)
        sections[place].elements += count
        sections[place].listed += own.listed ?? count
      }
    }
    for section in repeated?.sections ?? [] {
      guard let place = places[section.key] else { continue }
      sections[place].repeats += try index.itemCount(listing: section.listing)
    }
    for place in sections.indices {
      let count = sections[place].listed + sections[place].repeats
      if let total = sections[place].notes.total, total > count, key != nil {
        sections[place].shortfall =
          "the shop announces \(total) items, but its pages list only \(count); "
          + "check paging in the catalog file"
      }
      let whole = try index.joinListings(sections[place].listings)
      sections[place].section.listing = whole.listing
      sections[place].repeats += whole.repeats
      let (key, reason) = (sections[place].section.key, SkippedItem.duplicateID)
      let changed = whole.changed.map {
        SyncReport.Skipped(section: key, id: $0, lost: .item, reason: reason)
      }
      sections[place].notes.add(skipped: changed)
    }
    return (sections, failed)
  }
}
