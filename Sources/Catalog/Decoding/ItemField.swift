/// An optional field of an item in a list.
///
/// The id and the title are not among these fields, because every item has them.
public enum ItemField: String, CaseIterable, Hashable, Sendable, Codable {
  /// A short text about the item.
  case description
  /// Labels, for example "new" or "sale".
  case badges
  /// The ways to deliver the item, for example "dawn delivery".
  case deliveryTypes
  /// The price before a reduction.
  case normalPrice
  /// The price to pay.
  case salePrice
  /// The latitude of the item's place, in degrees north.
  case latitude
  /// The longitude of the item's place, in degrees east.
  case longitude
  /// The address, as text.
  case address
  /// The small picture that is shown in a list.
  case thumbnail = "images.thumbnail"
  /// The large picture at the top of the item's page.
  case top = "images.top"
  /// The pictures of the gallery on the item's page.
  case gallery = "images.gallery"
  /// The pictures that are parts of the long description.
  case section = "images.section"

  /// The role of the pictures if this is a field of pictures, otherwise nil.
  public var role: ImageReference.Role? {
    ImageReference.Role.allCases.first { rawValue == "images.\($0.rawValue)" }
  }

  /// Whether an item has a value in this field.
  public func isHeld(by item: StoreItem) -> Bool {
    switch self {
    case .description: item.description != nil
    case .badges: !item.badges.isEmpty
    case .deliveryTypes: !item.deliveryTypes.isEmpty
    case .normalPrice: item.normalPrice != nil
    case .salePrice: item.salePrice != nil
    case .latitude, .longitude: item.coordinate != nil
    case .address: item.address != nil
    case .thumbnail, .top, .gallery, .section:
      role.map { role in item.images.contains { $0.role == role } } ?? false
    }
  }
}

extension Mapping.Item {
  /// The paths to a field in the shop's response.
  ///
  /// The first path that leads to a value counts.
  public func paths(of field: ItemField) -> [JSONPath] {
    switch field {
    case .description: description
    case .badges: badges
    case .deliveryTypes: deliveryTypes
    case .normalPrice: normalPrice.map(\.path)
    case .salePrice: salePrice.map(\.path)
    case .latitude: latitude
    case .longitude: longitude
    case .address: address
    case .thumbnail, .top, .gallery, .section: field.role.map { images[$0] } ?? []
    }
  }
}

extension ListingDecoder {
  /// The fields that have paths in the catalog file, but no value in any item.
  ///
  /// An empty list is a value, because it says, for example, that an item has no badges. `null`, empty text and
  /// unreadable values are no values. Elements that are no items do not count: parts of a listing with such elements
  /// alone would otherwise have other fields than the whole.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - elements: The elements of the response that the items were read from.
  /// - Returns: The fields; all of them if there are no items.
  /// - Throws: ``CatalogError`` if a path cannot be followed.
  func absentFields(of items: [StoreItem], in elements: [JSONNode])
    throws(CatalogError) -> Set<ItemField>
  {
    var absent: Set<ItemField> = []
    for field in mapping.item.given where !items.contains(where: field.isHeld) {
      if try !mapping.item.paths(of: field).leadToEmptyList(in: elements) { absent.insert(field) }
    }
    return absent
  }
}

extension [JSONPath] {
  /// Whether one of the paths leads to an empty list in one of the values.
  func leadToEmptyList(in nodes: [JSONNode]) throws(CatalogError) -> Bool {
    for node in nodes {
      for path in self where try path.leadsToEmptyList(in: node) { return true }
    }
    return false
  }
}

extension JSONPath {
  /// Whether the path leads to an empty list, or cannot go on because a value on its way is an empty list.
  func leadsToEmptyList(in node: JSONNode) throws(CatalogError) -> Bool {
    var path = self
    while true {
      let values = try path.values(in: node)
      if !values.isEmpty {
        return values.allSatisfy { $0.kind == .array && $0.elements.isEmpty }
      }
      guard path.segments.count > 1 else { return false }
      path = JSONPath(description: description, segments: path.segments.dropLast())
    }
  }
}

/// A field of a detail, which is the document about one item with more data than the item has in a list.
public struct DetailField: Hashable, Sendable {
  /// The name of the field in the catalog file, for example `detail.images.top`.
  public var name: String
  /// The paths to the field in the shop's response.
  ///
  /// The first path that leads to a value counts.
  public var paths: [JSONPath]
}

extension Mapping.Detail {
  /// The fields that have paths in the catalog file, in the order of a stored detail.
  public var fields: [DetailField] {
    let pictures = ImageReference.Role.allCases.map { ("images.\($0.rawValue)", images[$0]) }
    let all =
      [("description", description), ("prices", prices.map(\.path))] + pictures
      + notes.map { ("notes.\($0.name)", $0.paths) }
    return all.filter { !$0.1.isEmpty }.map { DetailField(name: "detail.\($0.0)", paths: $0.1) }
  }
}

extension ItemDetail {
  /// The ``DetailField/name`` of each field in which the detail has a value.
  package var fieldNames: Set<String> {
    var names = Set(images.map(\.role)).map { "images.\($0.rawValue)" }
    names += notes.keys.map { "notes.\($0)" }
    if description != nil { names.append("description") }
    if !prices.isEmpty { names.append("prices") }
    return Set(names.map { "detail.\($0)" })
  }
}
