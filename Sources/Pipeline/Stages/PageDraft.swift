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
  ///   - part: the page, or its next window, with all items.
  ///   - item: where the fields of an item are.
  mutating func add(_ part: DecodedListing, _ item: Mapping.Item) {
    for section in part.sections {
      let own = item.fieldsWithoutValue(in: section.items)
      valueless[section.key] = valueless[section.key]?.intersection(own) ?? own
    }
    listing.append(part)
  }

  /// Leaves as absent what no section has, once all are there.
  mutating func settleAbsence() { listing.settleAbsence() }

  /// Lets go of the items, for they are kept.
  mutating func dropItems() {
    for place in listing.sections.indices { listing.sections[place].items = [] }
  }
}
