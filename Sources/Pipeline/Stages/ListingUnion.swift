import Cache
import Catalog

/// A listing that is shown and the feed's new one, compared and put together by their ids.
///
/// The items themselves are read when they are kept, some at a time: a guard that steps in costs no second catalog.
struct ListingUnion {
  /// A listing's ids, and the versions of its items.
  private struct Side {
    let listing: ListingID
    let ids: PackedIDs
    let versions: [ItemVersion]

    init(_ listing: ListingID, _ index: Index) throws(CacheError) {
      let (versions, keys) = try index.packedItems(listing: listing)
      (self.listing, self.versions, ids) = (listing, versions, PackedIDs(zeroEnded: keys))
      guard ids.count == versions.count else {
        throw CacheError(
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

  /// Enough items that the queries are no cost, few enough to be held at once.
  private static let batch = 512

  /// Compares two listings.
  ///
  /// - Parameters:
  ///   - shown: What the last run left.
  ///   - listing: What the feed lists.
  ///   - index: Where both are.
  /// - Throws: ``CacheError`` when the index cannot be read.
  init(of shown: ListingID, and listing: ListingID, _ index: Index) throws(CacheError) {
    (self.shown, incoming) = (try Side(shown, index), try Side(listing, index))
    self.index = index
  }

  /// How many items the feed lists.
  var listed: Int { incoming.ids.count }

  /// The ids of the items shown that the feed does not list, in order.
  var vanished: [String] {
    ShrinkGuard.vanished(of: shown.ids, from: incoming.ids).map { shown.ids[$0] }
  }

  /// What becomes of the feed's listing.
  ///
  /// - Parameter unread: The ids of items that the feed lists and that cannot be read.
  /// - Returns: The verdict.
  func verdict(unread: Set<String>) -> ShrinkGuard.Verdict {
    ShrinkGuard.judge(held: shown.ids, incoming: incoming.ids) {
      !unread.isEmpty && unread.contains(shown.ids[$0])
    }
  }

  /// The feed's items with some of those that it no longer lists.
  func union(keeping kept: Set<String>) -> ShrinkGuard.Union {
    ShrinkGuard.union(of: shown.ids, and: incoming.ids) { kept.contains(shown.ids[$0]) }
  }

  /// The ids of the items that a union keeps.
  func withheld(_ union: ShrinkGuard.Union) -> [String] { union.withheld.map { shown.ids[$0] } }

  /// Keeps the items of a union as a listing.
  ///
  /// - Parameter union: The items.
  /// - Returns: The listing.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  func keep(_ union: ShrinkGuard.Union) throws(CacheError) -> ListingID {
    let lane = ItemLane(index)
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
