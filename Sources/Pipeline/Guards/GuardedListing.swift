import Base
import Cache
import Catalog

/// The items that a section shows after the guards have judged it by itself.
///
/// A section is a list of items.
///
/// The guards are checks that reject a change if it looks like a fault of the shop, for example the removal of most
/// items. The items of a section are stored in the index as a listing.
struct GuardedListing: Sendable {
  /// The listing to show.
  var listing: ListingID
  /// The ids of the last run's items that the shop no longer lists, in the order of the last run.
  var vanished: [String] = []
  /// The fields that made a guard reject the new listing, because no item has them any more, or all items have the same
  /// value in them.
  ///
  /// The array is empty if the listing was accepted, or was rejected for another reason.
  var findings: [FieldGuard.Finding] = []
  /// Whether the new listing was rejected, so that the last good one is shown instead.
  var isWithheld = false
  /// The ids of items that the shop lists but that cannot be read.
  ///
  /// Their last good versions are shown.
  var unread: [String] = []
}

extension RunContext {
  /// Decides which listing to show for a section.
  ///
  /// If the new listing looks like a fault, the last good listing is shown instead. The two are never mixed: the new
  /// listing is either shown or withheld, together with its new items and prices. Only items that the shop lists, but
  /// in a form that cannot be read, keep their last good versions beside the new items.
  ///
  /// - Parameters:
  ///   - listing: The items that the shop lists now.
  ///   - item: The catalog file's paths for the fields of items.
  ///   - unread: The ids of items that the shop lists but that cannot be read.
  ///   - shown: The listing of the last run.
  /// - Returns: The listing to show.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func guardListing(
    _ listing: ListingID,
    _ item: Mapping.Item,
    unread: Set<ExactText>,
    shown: ListingID?
  ) throws(LarderError) -> GuardedListing {
    guard let shown, shown != listing, !options.allowRemovals else {
      return GuardedListing(listing: listing)
    }
    let vanished = try index.vanished(from: shown, in: listing)
    let gone = vanished.filter { !unread.contains($0.exact) }
    let held = try index.itemCount(listing: shown)
    let isShrunk = ShrinkGuard.isSuspicious(section: held, vanished: gone.count)
    let findings = isShrunk ? [] : try findings(in: listing, item, shown: shown)
    if isShrunk || !findings.isEmpty {
      return GuardedListing(
        listing: shown,
        vanished: vanished,
        findings: findings,
        isWithheld: true
      )
    }
    let kept = vanished.filter { unread.contains($0.exact) }
    return GuardedListing(
      listing: kept.isEmpty ? listing : try index.union(of: listing, and: shown, keeping: kept),
      vanished: gone,
      unread: kept.sorted()
    )
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
