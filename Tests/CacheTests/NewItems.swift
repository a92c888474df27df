@testable import Cache

extension NewItem {
  /// The item as the index returns it.
  var record: ItemRecord { ItemRecord(key: key, body: body) }
}

extension PictureAddress {
  /// The address of a picture whose identity is its URL.
  init(_ url: String) { self.init(id: PictureID(url: url), url: url, identity: url) }
}

extension Index {
  /// The pictures that the items of a listing show, in order.
  func pictures(listing: ListingID) throws -> [PictureID] {
    let sql = """
      SELECT p.id FROM listing_item l JOIN item_picture s ON s.item = l.item JOIN picture p ON p.row = s.picture \
      WHERE l.listing = ? ORDER BY l.place, s.place
      """
    return try rows(sql, listing) { PictureID($0.key(0)) }
  }
}
