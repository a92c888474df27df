import Base

@testable import Cache

extension Index {
  /// The pictures that the items of a listing refer to, in order.
  ///
  /// A picture that occurs twice is in the list twice. The key of a picture that has no row is zero.
  func pictures(listing: ListingID) throws(LarderError) -> [PictureID] {
    let query = """
      SELECT p.id FROM listing_item l CROSS JOIN item_picture s ON s.item = l.item \
      LEFT JOIN picture p ON p.row = s.picture WHERE l.listing = ?1 ORDER BY l.place, s.place
      """
    return try rows(query, listing) { PictureID($0.key(0)) }
  }
}
