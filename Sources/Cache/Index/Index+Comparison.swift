import Base
import GRDB

/// The SQL statements that compare two listings.
///
/// The joins begin at the table that is named first. `ComparisonTests` checks that no statement scans a table.
enum ComparisonQuery: String, CaseIterable {
  /// The items between two places of the listing ?1 that the listing ?2 does not have, or has in another version, which
  /// is the last column.
  ///
  /// If ?2 is 0, which no listing has as its number, nothing is searched for.
  case differences = """
    SELECT i.key, l.item, CASE WHEN ?2 <> 0 THEN (SELECT v.row FROM item v \
    CROSS JOIN listing_item n INDEXED BY listing_member ON n.listing = ?2 AND n.item = v.row WHERE v.key = i.key) END \
    FROM listing_item l LEFT JOIN item i ON i.row = l.item \
    WHERE l.listing = ?1 AND l.place >= ?3 AND l.place < ?4 AND (?2 = 0 OR NOT EXISTS \
    (SELECT 1 FROM listing_item n INDEXED BY listing_member WHERE n.listing = ?2 AND n.item = l.item)) \
    ORDER BY l.place
    """
  /// Counts those ids of the JSON array ?1 that no listing of the JSON array ?2 has.
  case unlisted = """
    SELECT count(*) FROM json_each(?1) AS own WHERE own.value NOT IN (SELECT v.key FROM json_each(?2) AS some \
    CROSS JOIN listing_item n ON n.listing = some.value CROSS JOIN item v ON v.row = n.item)
    """
  /// The items of the listing ?2, with items of the listing ?1 that it does not have under any version.
  ///
  /// Each of these follows the item that it followed in ?1. If ?3 is not NULL, only those are taken whose ids are in
  /// this JSON array.
  case union = """
    WITH old AS MATERIALIZED (SELECT l.place, l.item, coalesce(
      (SELECT n.place FROM listing_item n INDEXED BY listing_member WHERE n.listing = ?2 AND n.item = l.item),
      (SELECT n.place FROM item i CROSS JOIN item v ON v.key = i.key CROSS JOIN listing_item n INDEXED BY listing_member
        ON n.listing = ?2 AND n.item = v.row WHERE i.row = l.item)) AS now FROM listing_item l WHERE l.listing = ?1),
    stepped AS (SELECT *, count(now) OVER (ORDER BY place) AS step FROM old),
    anchored AS (SELECT *, coalesce(max(now) OVER (PARTITION BY step), -1) AS anchor FROM stepped)
    SELECT item FROM (SELECT place AS anchor, 0 AS side, 0 AS place, item FROM listing_item WHERE listing = ?2
      UNION ALL SELECT anchor, 1, place, item FROM anchored WHERE now IS NULL AND (?3 IS NULL
        OR (SELECT key FROM item WHERE row = anchored.item) IN (SELECT value FROM json_each(?3))))
    ORDER BY anchor, side, place
    """
}

/// An item of a listing that another listing does not have in the same version.
package struct ListingDifference: Sendable {
  /// The item's id.
  package let id: String
  /// The version in the listing.
  package let version: ItemVersion
  /// The version in the other listing; nil if it does not have the item.
  package let other: ItemVersion?
  /// The JSON of `version` and of `other`; nil if it was not asked for, or if there are not two versions.
  package let bodies: (own: [UInt8], other: [UInt8])?
}

extension Index {
  /// Calls `body` with each item of a listing that another listing does not have in the same version, in order.
  ///
  /// The memory does not grow with the listings. A writer can commit between two calls.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - other: The other listing. If it is nil, all items differ.
  ///   - reading: Whether to read the JSON of items that both listings have.
  ///   - body: Called with each item.
  /// - Throws: ``LarderError``, with code `damaged` if an item is missing, and the errors of `body`.
  package func forEachDifference(
    of listing: ListingID,
    from other: ListingID?,
    reading: Bool = false,
    _ body: (ListingDifference) throws(LarderError) -> Void
  ) throws(LarderError) {
    for first in stride(from: 0, to: try itemCount(listing: listing), by: Self.comparedAtOnce) {
      let differences = try read { db in
        let rows = try RowStatement(db, ComparisonQuery.differences.rawValue)
        let end = first + Self.comparedAtOnce
        return try rows.all(listing, other?.rawValue ?? 0, first, end) { row in
          guard let id = row.text(0) else { throw gone("an item", listing) }
          let version = ItemVersion(rawValue: row.number(1))
          let other = row.optionalNumber(2).map(ItemVersion.init)
          var bodies: (own: [UInt8], other: [UInt8])?
          if reading, let other, let own = try Self.body(version, db),
            let before = try Self.body(other, db)
          {
            bodies = (own, before)
          }
          return ListingDifference(id: id, version: version, other: other, bodies: bodies)
        }
      }
      for difference in differences { try body(difference) }
    }
  }

  /// The number of items that one query compares.
  ///
  /// Their JSON is in memory together. A transaction for each item would take 10 µs for system calls alone.
  private static let comparedAtOnce = 1 << 12

  /// The ids of a listing's items that another listing does not have, in order.
  ///
  /// - Throws: ``LarderError``, with code `damaged` if an item is missing.
  package func vanished(
    from listing: ListingID,
    in other: ListingID
  ) throws(LarderError) -> [String] {
    var vanished: [String] = []
    try forEachDifference(of: listing, from: other) { difference in
      if difference.other == nil { vanished.append(difference.id) }
    }
    return vanished
  }

  /// The number of ids that none of several listings has.
  ///
  /// An id that is given twice counts twice.
  package func unlistedCount(
    of ids: [String],
    in listings: [ListingID]
  ) throws(LarderError) -> Int {
    try read { db in
      let (ids, listings) = (try Self.json(ids), try Self.json(listings.map(\.rawValue)))
      return try db.first(ComparisonQuery.unlisted.rawValue, ids, listings) { Int($0.number(0)) }
        ?? 0
    }
  }

  static func json(_ values: some Encodable) throws -> String {
    String(decoding: try values.jsonLine(), as: UTF8.self)
  }

  /// Stores a listing together with items of an older one that it does not have.
  ///
  /// Each of these follows the item that it followed in the older listing.
  ///
  /// - Parameters:
  ///   - listing: The listing.
  ///   - old: The older listing.
  ///   - kept: The ids of the items that are added; nil for all.
  /// - Returns: The listing with both.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func union(
    of listing: ListingID,
    and old: ListingID,
    keeping kept: [String]? = nil
  ) throws(LarderError) -> ListingID {
    try write { db in
      let rows = try RowStatement(db, ComparisonQuery.union.rawValue)
      rows.restart(old, listing, try kept.map { try Self.json($0) })
      return try ListingWriter.keep(selecting: rows, in: db)
    }
  }
}
