/// A field of a listed item that a mapping may name, beside the id and the title that every item has.
public enum ItemField: String, CaseIterable, Hashable, Sendable, Codable {
  /// A short text about the item.
  case description
  /// Labels, for example "new" or "sale".
  case badges
  /// How the item can be delivered.
  case deliveryTypes
  /// The price before a reduction.
  case normalPrice
  /// The price to pay.
  case salePrice
  /// Degrees north.
  case latitude
  /// Degrees east.
  case longitude
  /// The address, as text.
  case address
  /// The small picture in a list.
  case thumbnail = "images.thumbnail"
  /// The large picture.
  case top = "images.top"
  /// The pictures of the gallery.
  case gallery = "images.gallery"
  /// Parts of the long description.
  case section = "images.section"

  /// The role of the pictures, if the field holds pictures; otherwise nil.
  public var role: ImageReference.Role? {
    switch self {
    case .thumbnail: .thumbnail
    case .top: .top
    case .gallery: .gallery
    case .section: .section
    default: nil
    }
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
    case .thumbnail, .top, .gallery, .section: item.images.contains { $0.role == role }
    }
  }
}

extension Mapping.Item {
  /// The alternative paths to a field in the feed.
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
    case .thumbnail: images[.thumbnail]
    case .top: images[.top]
    case .gallery: images[.gallery]
    case .section: images[.section]
    }
  }
}

extension ListingDecoder {
  /// The fields that the catalog file names but none of these elements has.
  ///
  /// An empty list counts as a value: it says, for example, that an item has no badges. `null`, empty text and
  /// unreadable values do not count.
  func absentFields(of items: [StoreItem], in elements: [JSONNode])
    throws(CatalogError) -> Set<ItemField>
  {
    // If no item could be read, every field counts as absent.
    guard !items.isEmpty || elements.isEmpty else { return Set(mapping.item.given) }
    var absent: Set<ItemField> = []
    for field in mapping.item.given where !items.contains(where: field.isHeld) {
      let paths = mapping.item.paths(of: field)
      if try !Self.isEmptyList(paths, in: elements) { absent.insert(field) }
    }
    return absent
  }

  private static func isEmptyList(
    _ paths: [JSONPath],
    in elements: [JSONNode]
  ) throws(CatalogError) -> Bool {
    for element in elements {
      for path in paths where try path.leadsToEmptyList(in: element) { return true }
    }
    return false
  }
}

extension JSONPath {
  /// Whether the path ends at an empty list, or would lead through one.
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

/// A field of a detail that a mapping may name.
public enum DetailField: Hashable, Sendable {
  /// The text about the item.
  case description
  /// The item's prices.
  case prices
  /// The pictures of one role.
  case images(ImageReference.Role)
  /// A further text with this name.
  case note(String)

  /// The field as the catalog file calls it: `detail.images.top`.
  public var name: String {
    switch self {
    case .description: "detail.description"
    case .prices: "detail.prices"
    case .images(let role): "detail.images.\(role.rawValue)"
    case .note(let name): "detail.notes.\(name)"
    }
  }

  /// Whether a detail has a value in this field.
  public func isHeld(by detail: ItemDetail) -> Bool {
    switch self {
    case .description: detail.description != nil
    case .prices: !detail.prices.isEmpty
    case .images(let role): detail.images.contains { $0.role == role }
    case .note(let name): detail.notes[name] != nil
    }
  }
}

extension Mapping.Detail {
  /// The fields that have paths, in the order in which a detail is written.
  public var fields: [DetailField] {
    let all: [DetailField] =
      [.description, .prices] + ImageReference.Role.allCases.map(DetailField.images)
      + notes.map { .note($0.name) }
    return all.filter { !paths(of: $0).isEmpty }
  }

  /// The alternative paths to a field in the feed.
  public func paths(of field: DetailField) -> [JSONPath] {
    switch field {
    case .description: description
    case .prices: prices.map(\.path)
    case .images(let role): images[role]
    case .note(let name): notes.first { $0.name == name }?.paths ?? []
    }
  }
}

extension ItemDetail {
  /// Copies some fields from another version of this detail.
  ///
  /// - Parameters:
  ///   - fields: The fields to take from `old`.
  ///   - old: The other version of the detail.
  /// - Returns: The detail with those fields replaced; its pictures are in the order of their roles.
  public func keeping(_ fields: [DetailField], of old: ItemDetail) -> ItemDetail {
    var detail = self
    for field in fields {
      switch field {
      case .description: detail.description = old.description
      case .prices: detail.prices = old.prices
      case .images(let role): detail.images += old.images.filter { $0.role == role }
      case .note(let name): detail.notes[name] = old.notes[name]
      }
    }
    let images = detail.images
    detail.images = ImageReference.Role.allCases.flatMap { role in
      images.filter { $0.role == role }
    }
    return detail
  }
}
