/// A field of a detail that a mapping may name.
public enum DetailField: Hashable, Sendable {
  /// The text about the item.
  case description
  /// What it costs.
  case prices
  /// The pictures that play a part.
  case images(ImageReference.Role)
  /// A further text, by its name.
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

  /// Whether a detail has a value here.
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

  /// Where the feed has a field: its alternatives.
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
  /// The detail with what another version of it has in some fields.
  ///
  /// - Parameters:
  ///   - fields: The fields.
  ///   - old: The other version.
  /// - Returns: The detail, its pictures in the order of their parts.
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
