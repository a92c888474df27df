import Cache
import Catalog

/// A listing that is shown and the feed's new one, put together by their ids.
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
  private let union: ShrinkGuard.Union

  /// Enough items that the queries are no cost, few enough to be held at once.
  private static let batch = 512

  /// Puts two listings together.
  ///
  /// - Parameters:
  ///   - shown: What the last run left.
  ///   - listing: What the feed lists.
  ///   - index: Where both are.
  ///   - shrinks: Whether items stay that the feed no longer lists.
  ///   - stays: Which of these, by their ids.
  /// - Throws: ``CacheError`` when the index cannot be read.
  init(
    of shown: ListingID,
    and listing: ListingID,
    _ index: Index,
    shrinks: Bool = true,
    where stays: (String) -> Bool = { _ in true }
  ) throws(CacheError) {
    let (held, fed) = (try Side(shown, index), try Side(listing, index))
    (self.shown, incoming) = (held, fed)
    guard shrinks else {
      union = ShrinkGuard.Union(incoming: fed.ids.count)
      return
    }
    union = ShrinkGuard.union(of: held.ids, and: fed.ids) { stays(held.ids[$0]) }
  }

  /// The ids of the items that the feed no longer lists and that stay.
  var withheld: [String] { union.withheld.map { shown.ids[$0] } }

  /// Whether some item stands in both.
  var sharesItems: Bool {
    (0..<incoming.ids.count).contains { shown.ids.first(like: $0, in: incoming.ids) != nil }
  }

  /// Keeps the items of both as a listing.
  ///
  /// - Parameters:
  ///   - index: Where they are kept.
  ///   - fields: What the feed's items take from their earlier versions.
  /// - Returns: The listing.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  func keep(in index: Index, restoring fields: [ItemField] = []) throws(CacheError) -> ListingID {
    let lane = ItemLane(index)
    var rest = union.order[...]
    while !rest.isEmpty {
      let records = try records(rest.prefix(Self.batch), index, fields)
      rest = rest.dropFirst(Self.batch)
      try lane.add(records)
    }
    return try index.keepListing(lane.finish().first ?? ListingDraft())
  }

  private func records(
    _ sources: ArraySlice<ShrinkGuard.Union.Source>,
    _ index: Index,
    _ fields: [ItemField]
  ) throws(CacheError) -> [ItemRecord] {
    let versions = sources.map { source in
      switch source {
      case .incoming(let place): incoming.versions[place]
      case .held(let place): shown.versions[place]
      }
    }
    var records = try index.items(versions, of: incoming.listing)
    guard !fields.isEmpty else { return records }
    for (number, source) in sources.enumerated() {
      guard case .incoming(let place) = source,
        let earlier = shown.ids.first(like: place, in: incoming.ids),
        let old = try index.items([shown.versions[earlier]], of: shown.listing).first
      else { continue }
      records[number] = ItemRecord(
        FieldGuard.restore(
          fields,
          of: try records[number].storeItem(),
          from: try old.storeItem()
        )
      )
    }
    return records
  }
}
