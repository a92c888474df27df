import Cache
import Catalog

/// A page that was decoded, whole or window by window, and is not written yet.
struct PageDraft: Sendable {
  /// What it was decoded to; of a page in windows without the items.
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
  /// - Throws: ``CacheError`` when the index cannot be read.
  mutating func dropRepeats(in index: Index) throws(CacheError) {
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
