import Base
import Cache
import Catalog
import Synchronization
import Transport

/// The state of reading a source of sections, page after page.
struct SectionReading: Sendable {
  /// The source's position among the catalog's sources.
  let position: Int
  /// The key of the source's section; nil when the source combines several sections.
  let key: String?
  /// The source's first page.
  let start: DocumentSource
  /// The page that is being read.
  var next: DocumentSource
  /// The pages read so far.
  var pages: [SectionPage] = []
  let progress = PagingProgress()
  /// Whether any page has changed.
  var isNew = false
  /// The message about further pages beyond the limit, which were not read.
  var ceiling: String?
  /// The reason why the pages after the last page in `pages` could not be fetched; nil when there is none.
  var broken: String?
  /// The error after which cached pages were used, as their origin allows with `stale-if-error`. (RFC 5861, section 4)
  var excused: String?

  /// A reading of the same source that starts at its first page again.
  var anew: SectionReading {
    var reading = self
    reading.pages = []
    reading.next = start
    return reading
  }
}

/// One page of a source, decoded in this run or an earlier one.
struct SectionPage: Sendable {
  /// The page's row.
  var document: DocumentEntry
  /// Its decoded sections, in the page's order.
  var sections: [DecodedSection]
  /// The pictures of each section, if the page was decoded in this run.
  var references: [String: [PictureReference]]?
}

/// Decides which page of a source to read next; used by a run and by its plan (`--dry-run`).
struct PageSequence {
  /// The catalog file's paging rule; nil when its sources have one page.
  let rule: PagingRule?
  /// The index that has the pages.
  let index: Index
  /// The URL parser.
  let parser: any URLParsing

  /// The step after a page.
  enum Step: Sendable {
    /// No further page: the source is complete.
    case complete
    /// No further page, because the last one had nothing new: the feed starts again from its beginning, or returns
    /// the same page for every request.
    case repeats
    /// A further page to read.
    case next(DocumentSource)
    /// A further page beyond the limit, and a message about it.
    case beyondLimit(DocumentSource, String)
    /// A further page that cannot be fetched, because its address is not a URL.
    case invalid(TransferFailure)
  }

  /// The step after the last page of a reading; also records that page, unless it repeats earlier ones.
  func step(after reading: SectionReading) throws(LarderError) -> Step {
    guard let rule, let last = reading.pages.last else {
      return .complete
    }
    if reading.pages.count == 1 { _ = reading.progress.visit(reading.start.name) }
    guard try reading.progress.take(last.document, last.sections, of: index) else {
      return .repeats
    }
    guard let text = last.document.next, reading.progress.visit(text) else { return .complete }
    let next: DocumentSource
    do throws(TransferFailure) {
      next = try source(at: text, after: reading.next)
    } catch {
      return .invalid(error)
    }
    guard reading.pages.count < rule.limit else {
      return .beyondLimit(
        next,
        "cannot read all of section \(reading.key ?? "all"): it has more than \(rule.limit) pages; "
          + "raise paging.limit in the catalog file"
      )
    }
    return .next(next)
  }

  /// The page that a text in the index stands for; see ``NextPage`` for such texts.
  private func source(
    at text: String,
    after last: DocumentSource
  ) throws(TransferFailure) -> DocumentSource {
    guard let value = NextPage.value(in: text), let place = rule?.place,
      case .query(let query) = last
    else { return last.moved(to: try parser.parse(text, relativeTo: nil)) }
    return .query(try query.page(kept: value, at: place, parser))
  }
}

extension FailureReason {
  /// The listing has more pages than the limit in the catalog file.
  static let pageLimit = FailureReason(rawValue: "page-limit")
}

/// Tracks the pages of one source: detects when they begin to repeat, and decides which pages need no request.
///
/// An unattended run does not request a fresh page. But if any page has changed, items may have moved between pages.
/// So all pages are then requested, including those that were skipped before.
///
/// This is a class so that the ids of many thousand items are not copied with each reading.
final class PagingProgress: Sendable {
  /// The pages read since the first one; a restart clears them.
  private struct Read {
    var pages = 0
    var visited: Set<String> = []
    var digests: Set<Int64> = []
    var ids: [String: Set<String>] = [:]
    var elements: [String: Int] = [:]
    var repeats: [String: Int] = [:]
  }

  private struct Progress {
    var read = Read()
    /// The pages that were requested.
    var asked: Set<String> = []
    /// The pages that the origin says it does not have.
    var gone: Set<String> = []
    var hasLeftAlone = false
    var asksAll = false
  }

  private let state = Mutex(Progress())

  /// Whether to use a cached page without a request; if false, the caller must request the page now.
  ///
  /// - Parameters:
  ///   - name: The page's name.
  ///   - isFresh: Whether the cached page is fresh.
  /// - Returns: Whether to use the cached page; true also for a page that this run has already requested.
  func leavesAlone(_ name: String, isFresh: Bool) -> Bool {
    state.withLock { state in
      if state.asked.contains(name) { return true }
      guard isFresh, !state.asksAll else {
        state.asked.insert(name)
        return false
      }
      state.hasLeftAlone = true
      return true
    }
  }

  /// Whether the origin answered that it does not have a page.
  func isGone(_ name: String) -> Bool { state.withLock { $0.gone.contains(name) } }

  /// Records that a page has changed or no longer exists.
  ///
  /// - Parameters:
  ///   - name: The page's name.
  ///   - isGone: Whether it no longer exists.
  /// - Returns: Whether reading must restart, because earlier pages were used without a request.
  func noteChange(of name: String, isGone: Bool = false) -> Bool {
    state.withLock { state in
      if isGone { state.gone.insert(name) }
      state.asksAll = true
      guard state.hasLeftAlone else { return false }
      state.hasLeftAlone = false
      state.read = Read()
      return true
    }
  }

  /// Records that a page is to be read; false when it was read before.
  func visit(_ name: String) -> Bool {
    state.withLock { $0.read.visited.insert(name).inserted }
  }

  /// The number of elements of a section on the pages before the current one.
  func elements(of section: String) -> Int {
    state.withLock { $0.read.elements[section] ?? 0 }
  }

  /// The number of a section's items on pages that had nothing new.
  func repeats(of section: String) -> Int {
    state.withLock { $0.read.repeats[section] ?? 0 }
  }

  /// Records a page, unless it repeats earlier ones: it has the same bytes as one of them, or only known items.
  ///
  /// - Parameters:
  ///   - document: The page's row.
  ///   - sections: Its decoded sections.
  ///   - index: The index that has their listings.
  /// - Returns: Whether the page was recorded.
  /// - Throws: ``LarderError`` when the index cannot be read.
  func take(
    _ document: DocumentEntry,
    _ sections: [DecodedSection],
    of index: Index
  ) throws(LarderError) -> Bool {
    var listed: [String: [String]] = [:]
    var elements: [String: Int] = [:]
    for section in sections {
      let keys = try index.itemKeys(listing: section.listing)
      listed[section.key] = keys
      elements[section.key] = keys.count + SectionNotes(section.skipped).lost
    }
    return state.withLock { state in
      state.read.pages += 1
      let isCopy = document.digest.map { !state.read.digests.insert($0).inserted } ?? false
      let isOld = listed.allSatisfy { key, ids in
        ids.allSatisfy { state.read.ids[key]?.contains($0) == true }
      }
      let count = listed.values.reduce(0) { $0 + $1.count }
      if isCopy || state.read.pages > 1 && isOld && count > 0 {
        for (key, ids) in listed { state.read.repeats[key, default: 0] += ids.count }
        return false
      }
      for (key, ids) in listed { state.read.ids[key, default: []].formUnion(ids) }
      for (key, count) in elements { state.read.elements[key, default: 0] += count }
      return true
    }
  }
}

/// A section, joined from the pages of its source.
struct JoinedSection: Sendable {
  /// The section, with the items of all pages.
  var section: DecodedSection
  /// The numbers of the pages that list it.
  var pages: [Int] = []
  /// The number of items that were left out because an earlier page had listed them.
  var repeats = 0
  /// The total that the listing announces, and the number of items on its pages; nil unless the number is smaller than
  /// the total.
  var shortfall: (total: Int, listed: Int)?
}

/// The sections of a source, joined from all its pages.
struct JoinedPages: Sendable {
  /// An unusable section.
  struct Failed: Sendable {
    var section: DecodedSection
    /// Its position in the response.
    var position: Int
  }

  /// The sections, in the order of the pages.
  private(set) var sections: [JoinedSection] = []
  /// The unusable sections.
  private(set) var failed: [Failed] = []

  /// Joins the pages of a reading; reads each listing once, and writes each joined one once.
  init(_ reading: SectionReading, _ index: Index) throws(LarderError) {
    var places: [String: Int] = [:]
    var listings: [[ListingID]] = []
    var notes: [SectionNotes] = []
    var elements: [Int] = []
    var listed: [Int] = []
    for (number, page) in reading.pages.enumerated() {
      for (position, section) in page.sections.enumerated() {
        var own = SectionNotes(section.skipped)
        if own.failure != nil {
          failed.append(Failed(section: section, position: position))
          continue
        }
        let place = places[section.key] ?? sections.count
        if place == sections.count {
          places[section.key] = place
          sections.append(JoinedSection(section: section))
          listings.append([])
          notes.append(own)
          elements.append(0)
          listed.append(0)
        } else {
          // Convert positions on this page to positions in the whole section.
          for row in own.skipped.indices {
            own.skipped[row].index = own.skipped[row].index.map { $0 + elements[place] }
          }
          notes[place].add(own)
        }
        sections[place].pages.append(number)
        listings[place].append(section.listing)
        let skipped = own.skipped.count { $0.lost == .item }
        let count = try index.itemCount(listing: section.listing) + skipped
        elements[place] += count
        listed[place] += own.listed ?? count
      }
    }
    for place in sections.indices {
      sections[place].repeats = reading.progress.repeats(of: sections[place].section.key)
      let count = listed[place] + sections[place].repeats
      if let total = notes[place].total, total > count, reading.key != nil {
        sections[place].shortfall = (total, count)
      }
      guard sections[place].pages.count > 1 else { continue }
      let whole = try index.joinListings(listings[place])
      sections[place].section.listing = whole.listing
      sections[place].section.skipped = notes[place].text
      sections[place].repeats += whole.repeats
    }
  }
}
