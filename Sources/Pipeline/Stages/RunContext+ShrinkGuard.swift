import Cache
import Catalog

/// What is shown of a section after the guards: the feed's items, and what they kept from before.
struct GuardedListing: Sendable {
  /// What is shown.
  var listing: ListingID
  /// The ids of items that the feed no longer lists and that stay all the same.
  var withheld: [String] = []
  /// The fields that the feed has lost and that items keep from before.
  var kept: [ItemField] = []
  /// The ids of items that the feed lists, that cannot be read, and that stay as they were.
  var unread: [String] = []
}

extension RunContext {
  /// What to show of a section: the feed's items, and what they suddenly lost as if by a fault.
  ///
  /// - Parameters:
  ///   - listing: the feed's items.
  ///   - valueless: the guarded fields that none of them has a value in.
  ///   - shown: what the last run left.
  /// - Returns: The listing to show, with what was kept.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  func guardListing(
    _ listing: ListingID,
    valueless: Set<ItemField>,
    shown: ListingID?
  ) throws(CacheError) -> GuardedListing {
    guard let shown, shown != listing, !options.allowRemovals else {
      return GuardedListing(listing: listing)
    }
    let held = try index.itemCount(listing: shown)
    let listed = try index.itemCount(listing: listing)
    let shrinks = ShrinkGuard.isSuspicious(previous: held, incoming: listed)
    let lost =
      listed == 0 ? [] : FieldGuard.lostFields(of: valueless, sample: try sample(of: shown))
    guard shrinks || !lost.isEmpty else { return GuardedListing(listing: listing) }
    return try restore(shown, beside: listing, shrinks: shrinks, fields: lost)
  }

  /// Keeps of a listing that is shown what the feed's has lost: items, fields of items, or both.
  func restore(
    _ shown: ListingID,
    beside listing: ListingID,
    shrinks: Bool,
    fields: [ItemField] = []
  ) throws(CacheError) -> GuardedListing {
    let union = try ListingUnion(of: shown, and: listing, index, shrinks: shrinks)
    var guarded = GuardedListing(listing: listing)
    guarded.withheld = union.withheld
    if !fields.isEmpty, union.sharesItems { guarded.kept = fields }
    guard !guarded.withheld.isEmpty || !guarded.kept.isEmpty else { return guarded }
    guarded.listing = try union.keep(in: index, restoring: guarded.kept)
    return guarded
  }

  /// Keeps the last good versions of the few items that the feed lists and that cannot be read.
  ///
  /// They are known by their ids. Of those without one, as many of the items that went stay as could
  /// not be read for the first time, and those that stayed for that reason before.
  ///
  /// - Parameters:
  ///   - notes: what cannot be read.
  ///   - shown: what the last run left.
  ///   - last: what could not be read then.
  ///   - guarded: what is shown without them; they are added.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  func keepUnread(
    _ notes: SectionNotes,
    of shown: ListingID,
    last: LastSkips.Section,
    in guarded: inout GuardedListing
  ) throws(CacheError) {
    guard shown != guarded.listing, !options.allowRemovals else { return }
    let listed = Set(try index.itemKeys(listing: guarded.listing))
    let gone = try index.itemKeys(listing: shown).filter { !listed.contains($0) }
    guard !gone.isEmpty else { return }
    let ids = notes.skipped.filter { $0.lost == .item }.map(\.id)
    let named = Set(ids.compactMap(\.self))
    let unnamed = ids.count { $0 == nil } + notes.omitted.items
    let again = gone.filter { last.unread.contains($0) && !named.contains($0) }.prefix(unnamed)
    let new = gone.filter { !last.unread.contains($0) && !named.contains($0) }
      .prefix(max(0, unnamed - last.unnamed))
    let kept = named.intersection(gone).union(again).union(new)
    guard !kept.isEmpty else { return }
    let union = try ListingUnion(of: shown, and: guarded.listing, index) { id in
      listed.contains(id) || kept.contains(id)
    }
    guarded.listing = try union.keep(in: index)
    guarded.unread = kept.sorted()
  }

  /// Items of a listing, evenly spread and so few that a long one costs no more.
  private func sample(of listing: ListingID) throws(CacheError) -> [StoreItem] {
    let versions = try index.itemVersions(listing: listing).map(\.version)
    var sample: [StoreItem] = []
    for place in stride(from: 0, to: versions.count, by: max(1, versions.count / 100)) {
      let body = try index.item(version: versions[place])
      if let item = body.flatMap({ try? StoreItem(decoding: $0) }) { sample.append(item) }
    }
    return sample
  }
}
