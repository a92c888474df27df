import Cache
import Catalog
import Transport

/// A section that the pages of its source were joined to.
struct JoinedSection: Sendable {
  /// The section, with the items of all pages.
  var section: DecodedSection
  /// The pages that list it, by number.
  var pages: [Int] = []
  /// How many items were left out because an earlier page listed them.
  var repeats = 0
}

extension SectionStage {
  /// Reads the page that follows the last one, or completes the source when there is none.
  ///
  /// Where the feed goes in circles, or serves the same page whatever it is asked for, what has been
  /// read is all there is.
  func goOn(_ reading: Reading) throws(CacheError) {
    var reading = reading
    guard let rule = context.catalog.paging, let last = reading.pages.last else {
      return try complete(reading)
    }
    if reading.pages.count == 1 { _ = reading.progress.visit(reading.start.name) }
    guard try reading.progress.take(last.document, last.sections, of: context.index) else {
      reading.pages.removeLast()
      return try complete(reading)
    }
    guard let text = last.document.next, reading.progress.visit(text) else {
      return try complete(reading)
    }
    let url: WebURL
    do throws(TransferFailure) {
      url = try context.transport.parse(text, relativeTo: nil)
    } catch {
      context.failures.note(.section, id: key(of: reading.position), error)
      return fail(reading, error.description)
    }
    guard reading.pages.count < rule.limit else {
      let words =
        "cannot read all of section \(key(of: reading.position) ?? "all"): it goes on behind "
        + "\(rule.limit) pages; raise limit under paging in the catalog file"
      reading.ceiling = words
      context.failures.note(
        SyncReport.Failure(
          stage: .section,
          id: key(of: reading.position),
          url: url.redacted,
          reason: FailureReason.pageLimit.rawValue,
          attempts: 0,
          detail: words
        )
      )
      return try complete(reading)
    }
    reading.next = .web(url)
    page(reading)
  }

  /// The URL of the page that follows one that was just read, as its own word or the catalog's rule has
  /// it; what is no URL comes as it is written.
  func nextPage(after reading: Reading, listing: DecodedListing) -> String? {
    guard let rule = context.catalog.paging, case .web(let start) = reading.start,
      case .web(let last) = reading.next,
      let text = rule.nextPage(
        afterReading: reading.pages.count + 1,
        of: start.text,
        listing: listing
      )
    else { return nil }
    let url =
      try? rule.isNamedByBody
      ? context.parse(named: text, relativeTo: last)
      : context.transport.parse(text, relativeTo: last)
    return url?.asSecure(as: last).text ?? text
  }

  /// Joins the pages section by section: each listing is read once, and each joined one written once.
  ///
  /// Sections that cannot be used come apart, with their position in the response.
  func join(
    _ reading: Reading
  ) throws(CacheError) -> (
    joined: [JoinedSection], failed: [(section: DecodedSection, position: Int)]
  ) {
    var joined: [JoinedSection] = []
    var failed: [(section: DecodedSection, position: Int)] = []
    var places: [String: Int] = [:]
    var listings: [[Int64]] = []
    var notes: [SectionNotes] = []
    var elements: [Int] = []
    for (number, page) in reading.pages.enumerated() {
      for (position, section) in page.sections.enumerated() {
        var own = SectionNotes(section.skipped)
        if own.failure != nil {
          failed.append((section, position))
          continue
        }
        let place = places[section.key] ?? joined.count
        if place == joined.count {
          places[section.key] = place
          joined.append(JoinedSection(section: section))
          listings.append([])
          notes.append(own)
          elements.append(0)
        } else {
          // Places on a page count on from the elements before it.
          for row in own.skipped.indices {
            own.skipped[row].index = own.skipped[row].index.map { $0 + elements[place] }
          }
          notes[place].add(own)
        }
        joined[place].pages.append(number)
        listings[place].append(section.listing)
        elements[place] += try context.index.itemCount(listing: section.listing) + own.lost
      }
    }
    for place in joined.indices {
      joined[place].repeats = reading.progress.repeats(of: joined[place].section.key)
      guard joined[place].pages.count > 1 else { continue }
      let whole = try context.index.joinListings(listings[place])
      joined[place].section.listing = whole.listing
      joined[place].section.skipped = notes[place].text
      joined[place].repeats += whole.repeats
    }
    return (joined, failed)
  }
}

extension FailureReason {
  /// A listing that has more pages than the catalog file lets larder read.
  static let pageLimit = FailureReason(rawValue: "page-limit")
}
