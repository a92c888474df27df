import Cache
import Catalog

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
  init(_ reading: SectionReading, _ index: Index) throws(CacheError) {
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
