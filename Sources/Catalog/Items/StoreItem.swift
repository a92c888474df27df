/// An item on sale, as a section lists it.
public struct StoreItem: Hashable, Sendable, Codable {
  /// The store's own identifier of the item.
  ///
  /// An item that is in two sections has the same id in both.
  public var id: String
  /// The item's name.
  public var title: String
  /// A short text about the item.
  public var description: String?
  /// Labels such as "이벤트특가" (event price), in the feed's order.
  public var badges: [String]
  /// How the item can be delivered, in the feed's order.
  public var deliveryTypes: [String]
  /// The price before a reduction; nil when the feed has none.
  public var normalPrice: Price?
  /// The price to pay.
  ///
  /// It may be above `normalPrice`, because feeds contain contradictions.
  public var salePrice: Price?
  /// The item's location, if the feed gives one.
  public var coordinate: Coordinate?
  /// The item's address, if the feed gives one.
  public var address: String?
  /// The item's pictures: thumbnails first, then the others in the feed's order.
  public var images: [ImageReference]
  /// The values for the placeholders in the request for the item's detail, by name; nil when the id is enough.
  public var placeValues: [String: String]?

  /// Makes an item; parameters for fields that the feed lacks may be left out.
  public init(
    id: String,
    title: String,
    description: String? = nil,
    badges: [String] = [],
    deliveryTypes: [String] = [],
    normalPrice: Price? = nil,
    salePrice: Price? = nil,
    coordinate: Coordinate? = nil,
    address: String? = nil,
    images: [ImageReference] = [],
    placeValues: [String: String]? = nil
  ) {
    self.id = id
    self.title = title
    self.description = description
    self.badges = badges
    self.deliveryTypes = deliveryTypes
    self.normalPrice = normalPrice
    self.salePrice = salePrice
    self.coordinate = coordinate
    self.address = address
    self.images = images
    self.placeValues = placeValues
  }
}

extension StoreItem {
  /// The item as compact JSON.
  ///
  /// Equal items give the same bytes, and absent values have no key.
  public func encoded() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("id", id)
      $0.member("title", title)
      if let description {
        $0.member("description", description)
      }
      $0.member("badges", badges)
      $0.member("deliveryTypes", deliveryTypes)
      if let normalPrice {
        $0.name("normalPrice")
        $0.value(normalPrice)
      }
      if let salePrice {
        $0.name("salePrice")
        $0.value(salePrice)
      }
      if let coordinate {
        $0.member("coordinate", coordinate.text)
      }
      if let address {
        $0.member("address", address)
      }
      $0.name("images")
      $0.value(images)
      if let placeValues {
        $0.name("placeValues")
        $0.value(placeValues)
      }
    }
    return writer.bytes
  }

  /// Reads the output of ``encoded()``, or the same JSON written by another encoder.
  ///
  /// - Parameter bytes: One JSON object.
  /// - Throws: ``CatalogError`` when the bytes are anything else.
  public init(decoding bytes: [UInt8]) throws(CatalogError) {
    let reader = try StoredFormReader(bytes, subject: "stored item")
    self.init(
      id: try reader.text("id"),
      title: try reader.text("title"),
      description: try reader.optionalText("description"),
      badges: try reader.texts("badges"),
      deliveryTypes: try reader.texts("deliveryTypes"),
      normalPrice: try reader.optionalPrice("normalPrice"),
      salePrice: try reader.optionalPrice("salePrice"),
      coordinate: try reader.optionalText("coordinate").flatMap { Coordinate(text: $0) },
      address: try reader.optionalText("address"),
      images: try reader.images("images"),
      placeValues: try reader.optionalDictionary("placeValues")
    )
  }
}

/// The location of a shop, a branch or an item, in degrees. (WGS 84)
public struct Coordinate: Hashable, Sendable, Codable {
  /// Degrees north, from -90 to 90.
  public let latitude: Double
  /// Degrees east, from -180 to 180.
  public let longitude: Double

  /// Makes a location; nil when a coordinate is out of range.
  public init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Latitude and longitude with a space between them, as the cache's index stores them.
  var text: String { "\(latitude) \(longitude)" }

  /// Parses the output of ``text``.
  init?(text: String) {
    let parts = text.split(separator: " ").compactMap { Double($0) }
    guard parts.count == 2 else { return nil }
    self.init(latitude: parts[0], longitude: parts[1])
  }
}

extension FieldReader {
  /// The location from the degrees at two lists of paths; the degrees may be numbers or texts.
  ///
  /// Nil when both values are absent, or one is not valid.
  mutating func coordinate(_ north: [JSONPath], _ east: [JSONPath]) -> Coordinate? {
    let faultCount = faults.count
    let degrees = (degree(north, limit: 90), degree(east, limit: 180))
    switch degrees {
    case (let latitude?, let longitude?):
      return Coordinate(latitude: latitude, longitude: longitude)
    case (nil, nil): return nil
    // If a value was refused above, the fault is already recorded.
    case (nil, _) where faults.count == faultCount:
      return fail(north.first, "the item has a longitude and no latitude")
    case (_, nil) where faults.count == faultCount:
      return fail(east.first, "the item has a latitude and no longitude")
    default: return nil
    }
  }

  private mutating func degree(_ paths: [JSONPath], limit: Double) -> Double? {
    guard let (path, value) = first(paths) else { return nil }
    guard let number = value.real ?? value.integer.map(Double.init) ?? Self.number(in: value)
    else {
      return fail(path, "expected a number of degrees")
    }
    guard (-limit...limit).contains(number) else {
      return fail(path, "\(number) is not between -\(Int(limit)) and \(Int(limit)) degrees")
    }
    return number
  }

  private static func number(in value: JSONNode) -> Double? {
    guard let text = value.text, let first = text.firstIndex(where: { $0 != " " }),
      let last = text.lastIndex(where: { $0 != " " })
    else { return nil }
    return Double(text[first...last])
  }
}

/// A picture of an item, and its role.
public struct ImageReference: Hashable, Sendable, Codable {
  /// The part of a page where a picture appears.
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
  /// The URL exactly as the feed wrote it; may be relative.
  public let url: String

  /// Makes a reference.
  public init(role: Role, url: String) {
    self.role = role
    self.url = url
  }
}

/// A named part of a catalog with its items in the feed's order.
public struct Section: Hashable, Sendable, Codable {
  /// The section's name in the cache and on the command line.
  public var key: String
  /// The section's name for display.
  public var title: String
  /// A line of text under the title.
  public var subtitle: String?
  /// The items in order; the same id may occur more than once.
  public var items: [StoreItem]

  /// Makes a section.
  public init(key: String, title: String, subtitle: String? = nil, items: [StoreItem] = []) {
    self.key = key
    self.title = title
    self.subtitle = subtitle
    self.items = items
  }
}
