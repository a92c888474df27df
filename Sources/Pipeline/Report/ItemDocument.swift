import Base
import Catalog

/// Encodes items as JSON, for `list --json`, `show --json`, the server and an export's `catalog.json`.
///
/// Every key is always present. An item belongs to sections, which are lists of items.
package enum ItemDocument {
  /// A JSON array of items.
  ///
  /// Each item has the section that lists it.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - place: Returns the URL of a picture on a server; nil if the document is not for a server. In a document for
  ///     a server, a picture's `url` is this URL, and its `source` is the URL at the shop.
  /// - Returns: JSON without a line end.
  /// - Throws: The encoder's error.
  package static func list(
    _ items: [ShownItem],
    at place: ((ShownPicture) -> String)? = nil
  ) throws -> [UInt8] {
    try items.map { Body(item: $0, place: place) }.jsonLine()
  }

  /// A JSON object for one item, with the keys of all its sections and its detail.
  ///
  /// See ``list(_:at:)`` for the URLs of its pictures.
  package static func show(
    _ item: ShownItem,
    at place: ((ShownPicture) -> String)? = nil
  ) throws -> [UInt8] {
    try Body(item: item, isListing: false, place: place).jsonLine()
  }

  /// An item as JSON.
  struct Body: Encodable {
    let item: ShownItem
    /// Whether the item is one of a list, so that it has one `section` instead of `sections` and a `detail`.
    var isListing = true
    /// Returns the URL of a picture on a server.
    ///
    /// If it is nil, the picture's URL at the shop is written.
    var place: ((ShownPicture) -> String)?

    enum Key: String, CodingKey {
      case id, section, sections, title, description, badges, deliveryTypes, normalPrice
      case salePrice, lowest30Days, latitude, longitude, address, stale, thumbnail, images, detail
    }

    func encode(to encoder: any Encoder) throws {
      var body = encoder.container(keyedBy: Key.self)
      let store = item.item
      try body.encode(store.id, forKey: .id)
      if isListing {
        try body.encode(item.sections.first, forKey: .section)
      } else {
        try body.encode(item.sections, forKey: .sections)
        try body.encode(ItemDocument.detail(of: item), forKey: .detail)
      }
      try body.encode(store.title, forKey: .title)
      try body.encode(store.description, forKey: .description)
      try body.encode(store.badges, forKey: .badges)
      try body.encode(store.deliveryTypes, forKey: .deliveryTypes)
      try body.encode(store.normalPrice, forKey: .normalPrice)
      try body.encode(store.salePrice, forKey: .salePrice)
      try body.encode(item.lowest30Days, forKey: .lowest30Days)
      try body.encode(store.coordinate?.latitude, forKey: .latitude)
      try body.encode(store.coordinate?.longitude, forKey: .longitude)
      try body.encode(store.address, forKey: .address)
      try body.encode(item.isStale, forKey: .stale)
      let images = item.pictures.map { Image(image: $0, place: place?($0)) }
      // An item can have several thumbnails.
      let first = images.firstIndex { $0.image.role == .thumbnail }
      try body.encode(first.map { images[$0] }, forKey: .thumbnail)
      try body.encode(images.indices.filter { $0 != first }.map { images[$0] }, forKey: .images)
    }
  }

  private struct Image: Encodable {
    let image: ShownPicture
    let place: String?

    enum Key: String, CodingKey { case role, url, source, path, sha256, bytes, type, state }

    func encode(to encoder: any Encoder) throws {
      var body = encoder.container(keyedBy: Key.self)
      try body.encode(image.role.rawValue, forKey: .role)
      try body.encode(place ?? image.url, forKey: .url)
      if place != nil { try body.encode(image.url, forKey: .source) }
      try body.encode(image.path, forKey: .path)
      try body.encode(image.sha256, forKey: .sha256)
      try body.encode(image.bytes, forKey: .bytes)
      try body.encode(image.type, forKey: .type)
      try body.encode(image.state.rawValue, forKey: .state)
    }
  }

  /// The value of the key `detail` in `show --json`; nil if the item has no detail.
  static func detail(of item: ShownItem) -> Detail? {
    item.detail.map { Detail(detail: $0, since: item.detailSince) }
  }

  /// A detail as JSON.
  ///
  /// A detail is the document about one item, with more data than the item has in a list.
  struct Detail: Encodable {
    fileprivate let detail: ItemDetail
    fileprivate let since: UnixTime?

    func encode(to encoder: any Encoder) throws {
      try encoder.write([
        "description": detail.description, "prices": detail.prices, "notes": detail.notes,
        "stale": since != nil, "since": since,
      ])
    }
  }
}
