import Base
import Cache
import Catalog

/// The items that a section shows after the guards have judged it.
///
/// A section is a list of items.
///
/// The guards are checks that reject a change if it looks like a fault of the shop, for example the removal of most
/// items. The items of a section are stored in the index as a listing.
struct GuardedListing: Sendable {
  /// The listing to show.
  var listing: ListingID
  /// The ids of items that the shop no longer lists and the guards kept.
  var withheld: [String] = []
  /// The fields that made a guard reject the new listing, because no item has them any more, or all items have the same
  /// value in them.
  ///
  /// The array is empty if the listing was accepted, or was rejected for another reason.
  var findings: [FieldGuard.Finding] = []
  /// Whether the new listing was rejected as a whole, so that the last good one is shown instead.
  var isWhole = false
  /// The ids of items that the shop lists but that cannot be read.
  ///
  /// Their last good versions are shown.
  var unread: [String] = []
}

extension RunContext {
  /// Decides which listing to show for a section.
  ///
  /// If the new listing as a whole looks like a fault, the last good listing is shown. Otherwise, the new listing is
  /// shown, together with items of the last run whose removal looks like a fault.
  ///
  /// - Parameters:
  ///   - listing: The items that the shop lists now.
  ///   - item: The catalog file's paths for the fields of items.
  ///   - unread: The ids of items that the shop lists but that cannot be read.
  ///   - shown: The listing of the last run.
  /// - Returns: The listing to show, with the kept items.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func guardListing(
    _ listing: ListingID,
    _ item: Mapping.Item,
    unread: Set<String>,
    shown: ListingID?
  ) throws(LarderError) -> GuardedListing {
    guard let shown, shown != listing, !options.allowRemovals else {
      return GuardedListing(listing: listing)
    }
    let union = try ListingUnion(of: shown, and: listing, index)
    let verdict = union.verdict(unread: unread)
    var guarded = GuardedListing(listing: shown, isWhole: true)
    if verdict != .withhold {
      guarded.findings = try findings(in: listing, item, shown: shown)
    }
    if verdict == .withhold || !guarded.findings.isEmpty {
      guarded.withheld = union.vanished
      return guarded
    }
    guard case .keep(let kept) = verdict else { return GuardedListing(listing: listing) }
    return GuardedListing(listing: try union.keep(kept), withheld: union.withheld(kept))
  }

  /// Adds items of the last run that the shop no longer lists to an accepted listing.
  ///
  /// - Parameters:
  ///   - gone: The ids of the items to add.
  ///   - shown: The listing of the last run.
  ///   - listing: The accepted listing.
  /// - Returns: The listing to show, and the ids of the added items.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func keep(
    _ gone: Set<String>,
    of shown: ListingID,
    beside listing: ListingID
  ) throws(LarderError) -> (listing: ListingID, kept: [String]) {
    let both = try ListingUnion(of: shown, and: listing, index)
    let union = both.union(keeping: gone)
    let kept = both.withheld(union)
    return kept.isEmpty ? (listing, []) : (try both.keep(union), kept)
  }

  /// Keeps the last good versions of items that the shop lists but that cannot be read.
  ///
  /// An unreadable item is matched by its id. If its id is unreadable too, it can be any of the items that the shop
  /// seems to have removed. The items that the last run kept for this reason are therefore kept again, at most as many
  /// as there are unreadable items without an id. If there are more of these than in the last run, one further item is
  /// kept for each additional one.
  ///
  /// - Parameters:
  ///   - notes: The unreadable items and fields.
  ///   - shown: The listing of the last run.
  ///   - last: The unreadable items of the last run.
  ///   - guarded: The listing to show. The items are added to it.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func keepUnread(
    _ notes: SectionNotes,
    of shown: ListingID,
    last: LastReport.Skips,
    in guarded: inout GuardedListing
  ) throws(LarderError) {
    guard shown != guarded.listing, !options.allowRemovals else { return }
    let listed = Set(try index.itemKeys(listing: guarded.listing))
    let gone = try index.itemKeys(listing: shown).filter { !listed.contains($0) }
    guard !gone.isEmpty else { return }
    let named = notes.unreadIDs
    let unnamed =
      notes.skipped.count { $0.lost == .item && $0.id == nil } + notes.omitted.unread
    let again = gone.filter { last.unread.contains($0) && !named.contains($0) }.prefix(unnamed)
    let new = gone.filter { !last.unread.contains($0) && !named.contains($0) }
      .prefix(max(0, unnamed - last.unnamed))
    let kept = named.intersection(gone).union(again).union(new)
    guard !kept.isEmpty else { return }
    guarded.listing = try keep(kept, of: shown, beside: guarded.listing).listing
    guarded.unread = kept.sorted()
  }

  /// Compares the fields of a listing's items with those of the last run.
  ///
  /// Returns the fields that all items lost, and the fields that now have the same value in all items.
  ///
  /// The comparison stops when it is certain that there are none. For a normal listing, the first few items are enough.
  private func findings(
    in listing: ListingID,
    _ item: Mapping.Item,
    shown: ListingID
  ) throws(LarderError) -> [FieldGuard.Finding] {
    let count = try index.itemCount(listing: listing)
    var fields = FieldGuard(held: try sample(of: shown), item, count: count)
    var (first, size) = (0, 8)
    while !fields.isSettled, first < count {
      let records = try index.items(listing: listing, from: first, count: size)
      fields.add(try records.storeItems())
      first += size
      size = min(512, 2 * size)
    }
    return fields.findings
  }

  /// Every n-th item of a listing.
  ///
  /// The number n is chosen so that there are 100 to 200 items. If the listing has fewer than 200 items, all of them
  /// are returned.
  private func sample(of listing: ListingID) throws(LarderError) -> [StoreItem] {
    let count = try index.itemCount(listing: listing)
    let places = stride(from: 0, to: count, by: max(1, count / 100))
    return try index.items(listing: listing, at: places).compactMap { try? $0.storeItem() }
  }
}

/// Compares the listing of the last run with the new one by the ids of their items, and merges the two.
///
/// The items themselves are not read.
struct ListingUnion {
  private struct Side {
    let listing: ListingID
    let ids: PackedIDs
    let versions: [ItemVersion]

    init(_ listing: ListingID, _ index: Index) throws(LarderError) {
      let (versions, keys) = try index.packedItems(listing: listing)
      (self.listing, self.versions, ids) = (listing, versions, PackedIDs(zeroEnded: keys))
      guard ids.count == versions.count else {
        throw LarderError(
          .damaged,
          "cannot read listing \(listing.rawValue): \(ids.count) ids for \(versions.count) items",
          remedy: .repair
        )
      }
    }
  }

  private let shown: Side
  private let incoming: Side
  private let index: Index

  /// Compares two listings.
  ///
  /// - Parameters:
  ///   - shown: The listing of the last run.
  ///   - listing: The new listing.
  ///   - index: The index that stores both.
  /// - Throws: ``LarderError`` when the index cannot be read.
  init(of shown: ListingID, and listing: ListingID, _ index: Index) throws(LarderError) {
    (self.shown, incoming) = (try Side(shown, index), try Side(listing, index))
    self.index = index
  }

  /// The ids of items of the last run that the shop no longer lists, in the order of the last run.
  var vanished: [String] {
    ShrinkGuard.vanished(of: shown.ids, from: incoming.ids).map { shown.ids[$0] }
  }

  /// Decides about the new listing.
  ///
  /// - Parameter unread: The ids of items that the shop lists but that cannot be read.
  /// - Returns: The verdict.
  func verdict(unread: Set<String>) -> ShrinkGuard.Decision {
    ShrinkGuard.judge(held: shown.ids, incoming: incoming.ids) {
      !unread.isEmpty && unread.contains(shown.ids[$0])
    }
  }

  /// The items of the new listing, together with some items of the last run that the shop no longer lists.
  func union(keeping kept: Set<String>) -> ShrinkGuard.Union {
    ShrinkGuard.union(of: shown.ids, and: incoming.ids) { kept.contains(shown.ids[$0]) }
  }

  /// The ids of the items in a union that the shop no longer lists.
  func withheld(_ union: ShrinkGuard.Union) -> [String] { union.withheld.map { shown.ids[$0] } }

  /// Stores the items of a union in the index, as a listing.
  ///
  /// - Parameter union: The items.
  /// - Returns: The listing.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func keep(_ union: ShrinkGuard.Union) throws(LarderError) -> ListingID {
    try index.keepListing(
      of: union.order.map { source in
        switch source {
        case .incoming(let place): incoming.versions[place]
        case .held(let place): shown.versions[place]
        }
      }
    )
  }
}
