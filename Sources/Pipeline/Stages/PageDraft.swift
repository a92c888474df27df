import Cache
import Catalog

/// A page that was decoded, whole or window by window, and is not written yet.
struct PageDraft: Sendable {
  /// What it was decoded to; of a page in windows without the items.
  private(set) var listing = DecodedListing(sections: [], elementCount: 0)
  /// By section, the fields that have paths, and that no item has a value in.
  private(set) var valueless: [String: Set<ItemField>] = [:]
  /// By section, in the order of ``listing``, the items of a page in windows, which are in the index already; nil
  /// for a page that was decoded whole.
  var kept: [ListingDraft]?

  /// Adds what was decoded.
  ///
  /// - Parameters:
  ///   - part: the page, with all items.
  ///   - item: where the fields of an item are.
  mutating func add(_ part: DecodedListing, _ item: Mapping.Item) {
    note(part, item)
    listing.append(part)
  }

  /// Adds a window of the page, all but its items: these are kept elsewhere.
  ///
  /// - Parameters:
  ///   - window: the page's next window, with all items.
  ///   - item: where the fields of an item are.
  mutating func add(window: DecodedListing, _ item: Mapping.Item) {
    note(window, item)
    var rest = window
    for place in rest.sections.indices { rest.sections[place].items = [] }
    listing.append(rest)
  }

  private mutating func note(_ part: DecodedListing, _ item: Mapping.Item) {
    for section in part.sections {
      let own = item.fieldsWithoutValue(in: section.items)
      valueless[section.key] = valueless[section.key]?.intersection(own) ?? own
    }
  }

  /// Leaves the rest of the page's section unread: too much of it is lost.
  mutating func giveUp() { listing.givenUp.formUnion(listing.sections.map(\.key)) }

  /// Leaves as absent what no section has, once all are there.
  mutating func settleAbsence() { listing.settleAbsence() }
}
