import FoundationEssentials

/// An item that has a place, as GeoJSON. (RFC 7946)
package struct PlaceFeature: Encodable {
  private var type = "Feature"
  /// The item's id. (RFC 7946, section 3.2)
  private let id: String
  private let geometry: Point
  private let properties: Properties

  /// The items that have a place, as an array of features.
  ///
  /// - Parameters:
  ///   - items: The items, also those without a place.
  ///   - catalog: The catalog's name.
  /// - Returns: One JSON array.
  /// - Throws: `EncodingError`, for no item that was read from a catalog.
  package static func list(_ items: [ShownItem], catalog: String) throws -> [UInt8] {
    try items.compactMap { Self($0, catalog: catalog, picture: $0.thumbnail?.path) }.jsonLine()
  }

  /// A feature; nil for an item without a place.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - catalog: The catalog's name.
  ///   - picture: Where its small picture lies.
  init?(_ item: ShownItem, catalog: String, picture: String?) {
    guard let place = item.item.coordinate else { return nil }
    id = item.item.id
    // Longitude first. (RFC 7946, section 3.1.1)
    geometry = Point(coordinates: [place.longitude, place.latitude])
    properties = Properties(
      catalog: catalog,
      section: item.sections.first ?? "",
      id: item.item.id,
      title: item.item.title,
      address: item.item.address,
      picture: picture
    )
  }

  private struct Point: Encodable {
    var type = "Point"
    var coordinates: [Double]
  }

  private struct Properties: Encodable {
    var catalog: String
    var section: String
    var id: String
    var title: String
    var address: String?
    var picture: String?

    enum Key: String, CodingKey { case catalog, section, id, title, address, picture }

    func encode(to encoder: any Encoder) throws {
      var body = encoder.container(keyedBy: Key.self)
      try body.encode(catalog, forKey: .catalog)
      try body.encode(section, forKey: .section)
      try body.encode(id, forKey: .id)
      try body.encode(title, forKey: .title)
      try body.encode(address, forKey: .address)
      try body.encode(picture, forKey: .picture)
    }
  }
}
