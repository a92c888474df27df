import Base
import Cache
import Catalog
import Synchronization
import Transport

/// The state of reading a source, page after page.
///
/// A source is a URL or file from which one section or several sections are read. A section is a list of items.
struct SectionReading: Sendable {
  /// The source's position in the catalog file, from 0.
  let position: Int
  /// The key of the source's section; nil if the source has several sections.
  let key: String?
  /// The source's first page.
  let start: DocumentSource
  /// The page that is being read.
  var next: DocumentSource
  /// The pages that were read so far.
  var pages: [SectionPage] = []
  let progress = PagingProgress()
  /// Whether any page has changed since the last run.
  var isNew = false
  /// A message that the source has more pages than the limit allows; nil if it has not.
  var ceiling: String?
  /// The reason why the page after the last one in `pages` could not be read; nil if no page failed.
  var broken: String?
  /// The error after which a cached page was used, because its `stale-if-error` directive allows that; nil if there was
  /// none. (RFC 5861, section 4)
  var excused: String?

  /// A reading of the same source that starts at its first page again.
  var anew: SectionReading {
    var reading = self
    reading.pages = []
    reading.next = start
    return reading
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

/// Decides which page of a source to read next.
///
/// A run uses it, and so does the plan that `--dry-run` prints.
struct PageSequence {
  /// The catalog file's rule for pages; nil if the source has only one page.
  let rule: PagingRule?
  /// The index that stores the items of the pages.
  let index: Index
  /// The URL parser.
  let parser: any URLParsing

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

  /// Records the last page of a reading, unless it repeats earlier pages, and returns the next step.
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

  /// The page that a text in the index names; see ``NextPage``.
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
  /// The reason for a section with more pages than `paging.limit` in the catalog file.
  static let pageLimit = FailureReason(rawValue: "page-limit")
}

/// Keeps track of the pages of one source.
///
/// It detects when pages begin to repeat, and decides which pages need no request.
///
/// An unattended run, which is one of `larder warm`, does not request a page that is fresh. However, if any page has
/// changed, items may have moved from one page to another. All pages are then requested, including those that were used
/// without a request before.
///
/// This is a class, so that a copy of the reading does not copy the ids of thousands of items.
final class PagingProgress: Sendable {
  /// Data about the pages that were read.
  ///
  /// It is cleared if reading starts again at the first page.
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
    /// The pages that do not exist, by the server's answer.
    var gone: Set<String> = []
    var hasLeftAlone = false
    var asksAll = false
  }

  private let state = Mutex(Progress())

  /// Whether to use a cached page without a request.
  ///
  /// If false, the caller must request the page.
  ///
  /// - Parameters:
  ///   - name: The page's name.
  ///   - isFresh: Whether the cached page is fresh.
  /// - Returns: True if the page needs no request, or this run has already requested it.
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

  /// Whether the server answered that a page does not exist.
  func isGone(_ name: String) -> Bool { state.withLock { $0.gone.contains(name) } }

  /// Records that a page has changed or no longer exists.
  ///
  /// - Parameters:
  ///   - name: The page's name.
  ///   - isGone: Whether it no longer exists.
  /// - Returns: Whether to read the source again from its first page, because pages were used without a request.
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

  /// Records that a page is about to be read.
  ///
  /// Returns false if it was read before.
  func visit(_ name: String) -> Bool {
    state.withLock { $0.read.visited.insert(name).inserted }
  }

  /// The number of items of a section, readable or not, on the pages before the current one.
  func elements(of section: String) -> Int {
    state.withLock { $0.read.elements[section] ?? 0 }
  }

  /// The number of items of a section on pages that were dropped because they had nothing new.
  func repeats(of section: String) -> Int {
    state.withLock { $0.read.repeats[section] ?? 0 }
  }

  /// Records a page, unless it repeats earlier ones.
  ///
  /// A page repeats earlier pages if it has the same bytes as one of them, or lists only items that they list too.
  ///
  /// - Parameters:
  ///   - document: The page's row.
  ///   - sections: Its sections.
  ///   - index: The index that stores the items of the sections.
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

/// A section, joined from all pages of its source.
struct JoinedSection: Sendable {
  /// The section, with the items of all pages.
  var section: DecodedSection
  /// The positions of the pages that have a part of the section.
  var pages: [Int] = []
  /// The number of items that were left out because an earlier page lists them.
  var repeats = 0
  /// The total number of items that the shop announces, and the number that the pages list.
  ///
  /// Nil if the pages list all of them, or the shop announces no total.
  var shortfall: (total: Int, listed: Int)?
}

/// The sections of a source, joined from all its pages.
struct JoinedPages: Sendable {
  /// An unusable section.
  struct Failed: Sendable {
    var section: DecodedSection
    /// Its position on its page.
    var position: Int
  }

  /// The usable sections, in the order of the pages.
  private(set) var sections: [JoinedSection] = []
  /// The unusable sections.
  private(set) var failed: [Failed] = []

  /// Joins the pages of a reading.
  ///
  /// If a section is on several pages, its items are written to the index as one listing.
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
          // Convert an item's position on this page to its position in the whole section.
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
