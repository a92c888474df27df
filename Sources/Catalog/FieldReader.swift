/// Why a field cannot be used.
struct FieldFault: Error {
  /// The field as the feed calls it.
  let field: String?
  /// The cause.
  let reason: String
}

/// Reads fields of an object by their alternatives: the first that is not `null` counts.
struct FieldReader {
  /// The object that `$` stands for.
  let node: JSONNode
  /// The catalog's currency.
  let currency: String

  /// Text, or a whole number as text; nil when absent or empty.
  func identifier(_ paths: [JSONPath]) throws(FieldFault) -> String? {
    guard let (path, value) = first(paths) else { return nil }
    guard let text = Self.plainText(value) else {
      throw wrongType(path, value, "text or a number")
    }
    return text.isEmpty ? nil : text
  }

  /// Text; nil when absent or empty.
  func text(_ paths: [JSONPath]) throws(FieldFault) -> String? {
    guard let (path, value) = first(paths) else { return nil }
    guard let text = value.text else { throw wrongType(path, value, "text") }
    return text.isEmpty ? nil : text
  }

  /// Texts from one text, a list of texts, or a path that leads to several.
  func texts(_ paths: [JSONPath]) throws(FieldFault) -> [String] {
    var texts: [String] = []
    for path in paths {
      if path.isSingular {
        guard let value = path.firstValue(in: node), value.kind != .null else { continue }
        try append(value, at: path, to: &texts)
        return texts
      }
      let values = path.values(in: node).filter { $0.kind != .null }
      if values.isEmpty { continue }
      for value in values { try append(value, at: path, to: &texts) }
      return texts
    }
    return texts
  }

  private func append(
    _ value: JSONNode,
    at path: JSONPath,
    to texts: inout [String]
  ) throws(FieldFault) {
    guard value.kind == .array else { return try appendOne(value, at: path, to: &texts) }
    for element in value.elements where element.kind != .null {
      try appendOne(element, at: path, to: &texts)
    }
  }

  private func appendOne(
    _ value: JSONNode,
    at path: JSONPath,
    to texts: inout [String]
  ) throws(FieldFault) {
    guard let text = value.text else { throw wrongType(path, value, "text") }
    if !text.isEmpty { texts.append(text) }
  }

  /// A price; nil when absent or empty.
  func price(_ rules: [Mapping.PriceRule]) throws(FieldFault) -> Price? {
    for rule in rules {
      guard let value = rule.path.firstValue(in: node), value.kind != .null else { continue }
      return try price(value, rule)
    }
    return nil
  }

  /// Prices from one price, a list of them, or a path that leads to several.
  func prices(_ rules: [Mapping.PriceRule]) throws(FieldFault) -> [Price] {
    for rule in rules {
      let found = rule.path.values(in: node).filter { $0.kind != .null }
      guard !found.isEmpty else { continue }
      var prices: [Price] = []
      for value in found.flatMap({ $0.kind == .array ? $0.elements : [$0] })
      where value.kind != .null {
        if let price = try price(value, rule) { prices.append(price) }
      }
      return prices
    }
    return []
  }

  /// Pictures, role by role.
  func images(_ rules: Mapping.ImageRules) throws(FieldFault) -> [ImageReference] {
    var images: [ImageReference] = []
    for role in ImageReference.Role.allCases {
      let paths = rules[role]
      if paths.isEmpty { continue }
      for url in try texts(paths) { images.append(ImageReference(role: role, url: url)) }
    }
    return images
  }

  /// The first alternative that leads to something, with what it leads to.
  func first(_ paths: [JSONPath]) -> (path: JSONPath, value: JSONNode)? {
    for path in paths {
      if let value = path.firstValue(in: node), value.kind != .null { return (path, value) }
    }
    return nil
  }

  /// Text or a whole number, as text.
  static func plainText(_ value: JSONNode) -> String? {
    if let text = value.text { return text }
    if let integer = value.integer { return String(integer) }
    return value.real.flatMap { Int(exactly: $0) }.map(String.init)
  }

  private func price(_ value: JSONNode, _ rule: Mapping.PriceRule) throws(FieldFault) -> Price? {
    do throws(CatalogError) {
      if let scale = rule.scale { return try scaledPrice(value, rule, scale) }
      switch value.kind {
      case .integer: return try Price(value.integer ?? 0, currency: currency)
      case .real: return try Price(value.real ?? 0, currency: currency)
      case .string:
        guard let text = value.text, !text.utf8.allSatisfy({ $0 <= 0x20 }) else { return nil }
        return try Price(parsing: text, currency: currency)
      default: break
      }
    } catch {
      throw FieldFault(field: rule.path.lastName, reason: error.reason)
    }
    throw wrongType(rule.path, value, "a price")
  }

  private func scaledPrice(
    _ value: JSONNode,
    _ rule: Mapping.PriceRule,
    _ scale: Mapping.PriceRule.Scale
  ) throws(CatalogError) -> Price? {
    guard let text = Self.plainText(value) else { throw priceError("expected a whole number") }
    if text.isEmpty { return nil }
    guard let number = Int(text) else { throw priceError("\"\(text)\" is not a whole number") }
    switch scale {
    case .fixed(let scale): return try Price(number, scale: scale, currency: currency)
    case .path(let path):
      guard let scale = path.firstValue(in: node).flatMap(Self.plainText).flatMap({ Int($0) })
      else { throw priceError("\(path) says not how many digits are decimals") }
      return try Price(number, scale: scale, currency: currency)
    }
  }

  private func wrongType(
    _ path: JSONPath,
    _ value: JSONNode,
    _ expected: String
  ) -> FieldFault {
    FieldFault(
      field: path.lastName,
      reason: "expected \(expected), found \(value.kind.phrase)"
    )
  }
}

extension JSONNode.Kind {
  /// The kind with its article, for messages.
  var phrase: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .string: "text"
    case .integer, .real: "a number"
    case .boolean: "true or false"
    case .null: "null"
    }
  }
}
