/// An item on sale, with the fields that the shop's list of items has.
public struct StoreItem: Hashable, Sendable, Codable {
  /// The shop's own identifier of the item.
  ///
  /// An item that is in two sections has the same id in both.
  public var id: String
  /// The item's name.
  public var title: String
  /// A short text about the item.
  public var description: String?
  /// Labels such as "이벤트특가" (event price), in the order of the shop's response.
  public var badges: [String] = []
  /// The ways to deliver the item, in the order of the shop's response.
  public var deliveryTypes: [String] = []
  /// The price before a reduction; nil if the response has none.
  public var normalPrice: Price?
  /// The price to pay; nil if the response has none.
  ///
  /// It can be above `normalPrice`, because the data of shops contains such contradictions.
  public var salePrice: Price?
  /// The location of the item, for example of a branch; nil if the response has none.
  public var coordinate: Coordinate?
  /// The address of the item; nil if the response has none.
  public var address: String?
  /// The item's pictures: the thumbnails first, and then the others in the order of the shop's response.
  public var images: [ImageReference] = []
  /// The values of placeholders in the request for the item's detail, by the names of the placeholders.
  ///
  /// For example, `{"slug": "blue-cup"}` for the URL `products/{slug}`. Nil if the request needs only the id.
  public var placeValues: [String: String]?
}

extension StoreItem {
  /// The price before a reduction if it is above the price to pay, in the same currency.
  package var struckPrice: Price? {
    guard let normalPrice, let salePrice, normalPrice.isAbove(salePrice) else { return nil }
    return normalPrice
  }

  /// The item as compact JSON.
  ///
  /// Equal items give the same bytes, and fields without a value are left out.
  public func encoded() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("id", id)
      $0.member("title", title)
      $0.member("description", ifPresent: description)
      $0.member("badges", badges)
      $0.member("deliveryTypes", deliveryTypes)
      $0.member("normalPrice", ifPresent: normalPrice)
      $0.member("salePrice", ifPresent: salePrice)
      $0.member("coordinate", ifPresent: coordinate?.text)
      $0.member("address", ifPresent: address)
      $0.member("images", images)
      $0.member("placeValues", ifPresent: placeValues)
    }
    return writer.bytes
  }

  /// Reads the output of ``encoded()``, or the same JSON written by another encoder.
  ///
  /// - Parameter bytes: One JSON object.
  /// - Throws: ``CatalogError`` when the bytes are not such an object.
  public init(decoding bytes: [UInt8]) throws(CatalogError) {
    let node = try JSONNode(stored: bytes, subject: "stored item")
    self.init(
      id: try node.stored("id", \.text),
      title: try node.stored("title", \.text),
      description: try node.optional("description", \.text),
      badges: try node.stored("badges") { $0.list(\.text) },
      deliveryTypes: try node.stored("deliveryTypes") { $0.list(\.text) },
      normalPrice: try node.optional("normalPrice", Price.init(stored:)),
      salePrice: try node.optional("salePrice", Price.init(stored:)),
      coordinate: try node.optional("coordinate", \.text).flatMap { Coordinate(text: $0) },
      address: try node.optional("address", \.text),
      images: try node.stored("images") { $0.list(ImageReference.init(stored:)) },
      placeValues: try node.optional("placeValues", \.texts)
    )
  }
}

/// A location on earth in degrees. (WGS 84)
public struct Coordinate: Hashable, Sendable, Codable {
  /// Degrees north, from -90 to 90.
  public let latitude: Double
  /// Degrees east, from -180 to 180.
  public let longitude: Double

  /// Makes a location, or returns nil if a coordinate is out of range.
  public init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Latitude and longitude with a space between them, such as `37.57 126.98`.
  var text: String { "\(latitude) \(longitude)" }

  /// Parses the output of ``text``.
  init?(text: String) {
    let parts = text.split(separator: " ").compactMap { Double($0) }
    guard parts.count == 2 else { return nil }
    self.init(latitude: parts[0], longitude: parts[1])
  }
}

extension FieldReader {
  /// Reads the location of an item from degrees that are numbers or texts.
  ///
  /// - Parameters:
  ///   - north: The paths that can lead to the latitude; the first that leads to a value counts.
  ///   - east: The paths that can lead to the longitude.
  /// - Returns: The location, or nil if both values are absent or one of them is not valid.
  mutating func coordinate(_ north: [JSONPath], _ east: [JSONPath]) -> Coordinate? {
    let faultCount = faults.count
    let (latitude, longitude) = (degree(north, limit: 90), degree(east, limit: 180))
    if let latitude, let longitude { return Coordinate(latitude: latitude, longitude: longitude) }
    // If one of the values was not valid, `degree` has recorded this, and no second fault is added.
    guard faults.count == faultCount else { return nil }
    if longitude != nil { note(north.first, "the item has a longitude and no latitude") }
    if latitude != nil { note(east.first, "the item has a latitude and no longitude") }
    return nil
  }

  private mutating func degree(_ paths: [JSONPath], limit: Double) -> Double? {
    guard let (path, value) = first(paths) else { return nil }
    guard let number = Self.plainText(value).flatMap({ Double($0.trimmed) }) else {
      return fail(path, "expected a number of degrees")
    }
    guard (-limit...limit).contains(number) else {
      return fail(path, "\(number) is not between -\(Int(limit)) and \(Int(limit)) degrees")
    }
    return number
  }
}

/// A picture of an item: its URL and its role.
public struct ImageReference: Hashable, Sendable, Codable {
  /// The part of a shop's page where a picture appears.
  public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
    /// The small picture in a list.
    case thumbnail
    /// The large picture at the top of a detail.
    case top
    /// One of the pictures of the gallery.
    case gallery
    /// A part of the long description, often text in the form of a picture.
    case section
  }

  /// The picture's role.
  public let role: Role
  /// The URL exactly as the shop's response has it.
  ///
  /// It can be relative.
  public let url: String

  /// Makes a reference.
  public init(role: Role, url: String) {
    self.role = role
    self.url = url
  }
}

/// A named list of items in a catalog, such as "cups".
public struct Section: Hashable, Sendable, Codable {
  /// The section's name in the cache and on the command line.
  public var key: String
  /// The section's name for display.
  public var title: String
  /// A line of text under the title.
  public var subtitle: String?
  /// The items in the order of the shop's response.
  ///
  /// The same id can occur more than once.
  public var items: [StoreItem] = []
}
