import Base
import Cache
import Catalog
import Synchronization
import Transport

/// A source of sections that is being read, page after page.
struct SectionReading: Sendable {
  /// Its position among the catalog's sources.
  let position: Int
  /// The key of the section that it is; nil when it combines several.
  let key: String?
  /// Its first page.
  let start: DocumentSource
  /// The page that is being read.
  var next: DocumentSource
  /// The pages read so far.
  var pages: [SectionPage] = []
  let progress = PagingProgress()
  /// Whether any page changed.
  var isNew = false
  /// Why there are pages that were not read.
  var ceiling: String?
  /// The reason why the pages after the last one could not be fetched.
  var broken: String?
  /// The error that held pages stand in for, as their origin lets them. (RFC 5861, section 4)
  var excused: String?

  /// The same from its first page on.
  var anew: SectionReading {
    var reading = self
    reading.pages = []
    reading.next = start
    return reading
  }
}

/// One page of a source, decoded now or before.
struct SectionPage: Sendable {
  /// The page's row.
  var document: DocumentEntry
  /// Its decoded sections, in its order.
  var sections: [DecodedSection]
  /// The pictures of each section when the page was decoded just now.
  var references: [String: [PictureReference]]?
}

/// Which page of a source follows another, in a run and in its plan.
struct PageSequence {
  /// The catalog's rule; nil when its sources have one page.
  let rule: PagingRule?
  /// Where the pages are.
  let index: Index
  /// How URLs are read.
  let parser: any URLParsing

  /// The step after a page that was just read.
  enum Step: Sendable {
    /// No page: the source is complete.
    case complete
    /// No page: the last one brought nothing new. The feed loops, or serves the same page for every request.
    case repeats
    /// A page to read.
    case next(DocumentSource)
    /// A page after the last one that may be read, and a sentence that says so.
    case beyondLimit(DocumentSource, String)
    /// Text that is no URL: the page cannot be fetched.
    case invalid(TransferFailure)
  }

  /// The step after the last page of a reading, which is accepted unless it repeats earlier ones.
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
        "cannot read all of section \(reading.key ?? "all"): it goes on behind \(rule.limit) pages; "
          + "raise limit under paging in the catalog file"
      )
    }
    return .next(next)
  }

  /// The page that the index names by this text.
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
  /// A listing that has more pages than the catalog file lets larder read.
  static let pageLimit = FailureReason(rawValue: "page-limit")
}

/// The pages of one source so far, so that reading ends where they begin to repeat, and the pages that
/// need no request.
///
/// An unattended run leaves a page alone while it is fresh. Once one page has changed, items may have moved
/// between pages: all of them are then asked for, those that were left alone too.
///
/// A class: a reading is handed on from page to page, and the ids of many thousand items with it.
final class PagingProgress: Sendable {
  /// The pages since the first, which a restart forgets.
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
    /// The pages that the origin was asked for.
    var asked: Set<String> = []
    /// The pages that the origin says it does not have.
    var gone: Set<String> = []
    var hasLeftAlone = false
    var asksAll = false
  }

  private let state = Mutex(Progress())

  /// Whether a held page is taken as it is; if not, the caller asks for it now.
  ///
  /// - Parameters:
  ///   - name: the page.
  ///   - isFresh: whether it is fresh.
  /// - Returns: True also for one that this run asked for already.
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

  /// Whether the origin was asked for a page and does not have it.
  func isGone(_ name: String) -> Bool { state.withLock { $0.gone.contains(name) } }

  /// Notes that a page changed, or went.
  ///
  /// - Parameters:
  ///   - name: the page.
  ///   - isGone: whether it went.
  /// - Returns: Whether reading restarts, because earlier pages were skipped.
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

  /// Notes that a page is asked for; false when it was before.
  func visit(_ name: String) -> Bool {
    state.withLock { $0.read.visited.insert(name).inserted }
  }

  /// How many elements the pages before the current one list for a section.
  func elements(of section: String) -> Int {
    state.withLock { $0.read.elements[section] ?? 0 }
  }

  /// How many items of a section came with pages that brought nothing new.
  func repeats(of section: String) -> Int {
    state.withLock { $0.read.repeats[section] ?? 0 }
  }

  /// Takes a page in, unless it repeats earlier ones: it has the bytes of one, or items and none that
  /// is new.
  ///
  /// - Parameters:
  ///   - document: The page's row.
  ///   - sections: Its decoded sections.
  ///   - index: Where their listings are.
  /// - Returns: Whether the page is taken in.
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

/// A section that the pages of its source were joined to.
struct JoinedSection: Sendable {
  /// The section, with the items of all pages.
  var section: DecodedSection
  /// The pages that list it, by number.
  var pages: [Int] = []
  /// How many items were left out because an earlier page listed them.
  var repeats = 0
  /// How many items the listing says that it has and how many its pages list, when these are fewer.
  var shortfall: (total: Int, listed: Int)?
}

/// All pages of a source, joined section by section.
struct JoinedPages: Sendable {
  /// A section that cannot be used.
  struct Failed: Sendable {
    var section: DecodedSection
    /// Its position in the response.
    var position: Int
  }

  /// The sections, in the order of the pages.
  private(set) var sections: [JoinedSection] = []
  /// Those that cannot be used.
  private(set) var failed: [Failed] = []

  /// Joins the pages that were read: each listing is read once, and each joined one written once.
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
          // Places on a page count on from the elements before it.
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
