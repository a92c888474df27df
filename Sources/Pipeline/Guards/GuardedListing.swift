import Base
import Cache
import Catalog

/// A section's listing after the guards: the feed's items, and the items that the guards kept.
///
/// The guards reject removals and other changes that look like a fault of the feed.
struct GuardedListing: Sendable {
  /// The listing to show.
  var listing: ListingID
  /// The ids of kept items that the feed no longer lists.
  var withheld: [String] = []
  /// The fields that made a guard reject the feed's whole listing: they are gone, or suspiciously uniform.
  ///
  /// Empty if the listing was accepted, or was rejected for another reason.
  var findings: [FieldGuard.Finding] = []
  /// Whether the last good listing replaces the feed's listing.
  var isWhole = false
  /// The ids of items that the feed lists but that cannot be read; their last good versions are kept.
  var unread: [String] = []
}

extension RunContext {
  /// Decides which listing to show for a section.
  ///
  /// If the feed's listing as a whole looks like a fault, the result is the last good listing. Otherwise, the result
  /// is the feed's listing and the items whose removal looks like a fault.
  ///
  /// - Parameters:
  ///   - listing: The feed's items.
  ///   - item: The mapping of their fields.
  ///   - unread: The ids of items that the feed lists but that cannot be read.
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

  /// Adds vanished items of the last listing to an otherwise accepted listing.
  ///
  /// - Parameters:
  ///   - gone: The ids of the items.
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

  /// Keeps the last good versions of items that the feed lists but that cannot be read.
  ///
  /// An unreadable item is matched by its id. If its id is unreadable too, it may be any of the vanished items. So
  /// items that were kept for this reason in the last run are kept again, up to the number of unreadable items without
  /// an id. If that number is larger than in the last run, one further vanished item is kept for each unit of the
  /// increase.
  ///
  /// - Parameters:
  ///   - notes: The unreadable items and fields.
  ///   - shown: The listing of the last run.
  ///   - last: The unreadable items and fields of the last run.
  ///   - guarded: The listing to show, to which the items are added.
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

  /// Compares a listing with the last one.
  ///
  /// Returns the fields that all items lost, and the fields in which all items have the same value.
  ///
  /// The comparison stops as soon as no fault is possible; for a normal listing, the first few items are enough.
  private func findings(
    in listing: ListingID,
    _ item: Mapping.Item,
    shown: ListingID
  ) throws(LarderError) -> [FieldGuard.Finding] {
    let versions = try index.versions(listing: listing)
    var fields = FieldGuard(held: try sample(of: shown), item, count: versions.count)
    var (rest, size) = (versions[...], 8)
    while !fields.isSettled, !rest.isEmpty {
      let records = try index.items(rest.prefix(size), of: listing)
      fields.add(try records.map { record throws(LarderError) in try record.storeItem() })
      rest = rest.dropFirst(size)
      size = min(512, 2 * size)
    }
    return fields.findings
  }

  /// A sample of 100 to 200 items of a listing, evenly spread; all items of a shorter listing.
  private func sample(of listing: ListingID) throws(LarderError) -> [StoreItem] {
    let versions = try index.versions(listing: listing)
    var sample: [StoreItem] = []
    for place in stride(from: 0, to: versions.count, by: max(1, versions.count / 100)) {
      let body = try index.item(version: versions[place])
      if let item = body.flatMap({ try? StoreItem(decoding: $0) }) { sample.append(item) }
    }
    return sample
  }
}

/// Compares the last listing with the feed's new one by their ids, and merges the two.
///
/// The items themselves are read only for a merge, in batches, so that no second copy of the catalog is in memory.
struct ListingUnion {
  /// A listing's ids, and the versions of its items.
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

  /// The number of items read by one query: large enough for speed, small enough for memory.
  private static let batch = 512

  /// Compares two listings.
  ///
  /// - Parameters:
  ///   - shown: The listing of the last run.
  ///   - listing: The feed's listing.
  ///   - index: The index that has both.
  /// - Throws: ``LarderError`` when the index cannot be read.
  init(of shown: ListingID, and listing: ListingID, _ index: Index) throws(LarderError) {
    (self.shown, incoming) = (try Side(shown, index), try Side(listing, index))
    self.index = index
  }

  /// The number of items that the feed lists.
  var listed: Int { incoming.ids.count }

  /// The ids of items of the last listing that the feed does not list, in the last listing's order.
  var vanished: [String] {
    ShrinkGuard.vanished(of: shown.ids, from: incoming.ids).map { shown.ids[$0] }
  }

  /// The decision about the feed's listing.
  ///
  /// - Parameter unread: The ids of items that the feed lists but that cannot be read.
  /// - Returns: The verdict.
  func verdict(unread: Set<String>) -> ShrinkGuard.Decision {
    ShrinkGuard.judge(held: shown.ids, incoming: incoming.ids) {
      !unread.isEmpty && unread.contains(shown.ids[$0])
    }
  }

  /// The feed's items, and some of the items that it no longer lists.
  func union(keeping kept: Set<String>) -> ShrinkGuard.Union {
    ShrinkGuard.union(of: shown.ids, and: incoming.ids) { kept.contains(shown.ids[$0]) }
  }

  /// The ids of the items in a union that the feed no longer lists.
  func withheld(_ union: ShrinkGuard.Union) -> [String] { union.withheld.map { shown.ids[$0] } }

  /// Stores the items of a union as a listing.
  ///
  /// - Parameter union: The items.
  /// - Returns: The listing.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func keep(_ union: ShrinkGuard.Union) throws(LarderError) -> ListingID {
    let lane = ItemWriter(index)
    var rest = union.order[...]
    while !rest.isEmpty {
      let versions = rest.prefix(Self.batch).map { source in
        switch source {
        case .incoming(let place): incoming.versions[place]
        case .held(let place): shown.versions[place]
        }
      }
      rest = rest.dropFirst(Self.batch)
      try lane.add(try index.items(versions, of: incoming.listing))
    }
    return try index.keepListing(lane.finish().first ?? ListingDraft())
  }
}
