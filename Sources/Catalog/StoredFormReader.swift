/// Reads back what `StoredFormWriter` wrote; anything else is damage.
struct StoredFormReader {
  /// The object to read from.
  private let node: JSONNode
  /// What is read, for messages.
  private let subject: String

  /// Parses stored bytes that must hold one object.
  init(_ bytes: [UInt8], subject: String) throws(CatalogError) {
    node = try JSONDocument(parsing: bytes, of: subject, depthLimit: 8).root
    self.subject = subject
    guard node.kind == .object else { throw fault("expected an object") }
  }

  /// A string that must be there.
  func text(_ name: String) throws(CatalogError) -> String {
    guard let text = node[name]?.text else { throw fault("expected text in \(name)") }
    return text
  }

  /// A string that may be absent.
  func optionalText(_ name: String) throws(CatalogError) -> String? {
    try node[name] == nil ? nil : text(name)
  }

  /// A list of strings.
  func texts(_ name: String) throws(CatalogError) -> [String] {
    var texts: [String] = []
    for element in try list(name) {
      guard let text = element.text else { throw fault("expected texts in \(name)") }
      texts.append(text)
    }
    return texts
  }

  /// A list of strings that may be absent.
  func optionalTexts(_ name: String) throws(CatalogError) -> [String]? {
    try node[name] == nil ? nil : texts(name)
  }

  /// A price that may be absent.
  func optionalPrice(_ name: String) throws(CatalogError) -> Price? {
    guard let node = node[name] else { return nil }
    return try price(node, in: name)
  }

  /// A list of prices.
  func prices(_ name: String) throws(CatalogError) -> [Price] {
    var prices: [Price] = []
    for element in try list(name) { prices.append(try price(element, in: name)) }
    return prices
  }

  /// The pictures.
  func images(_ name: String) throws(CatalogError) -> [ImageReference] {
    var images: [ImageReference] = []
    for element in try list(name) {
      guard let role = element["role"]?.text.flatMap(ImageReference.Role.init(rawValue:)),
        let url = element["url"]?.text
      else { throw fault("expected pictures in \(name)") }
      images.append(ImageReference(role: role, url: url))
    }
    return images
  }

  /// Texts by name.
  func dictionary(_ name: String) throws(CatalogError) -> [String: String] {
    guard let node = node[name], node.kind == .object else {
      throw fault("expected an object in \(name)")
    }
    var texts: [String: String] = [:]
    for (key, value) in node.members {
      guard let text = value.text else { throw fault("expected texts in \(name)") }
      texts[key] = text
    }
    return texts
  }

  /// Texts by name that may be absent.
  func optionalDictionary(_ name: String) throws(CatalogError) -> [String: String]? {
    try node[name] == nil ? nil : dictionary(name)
  }

  /// Fields that were lost, which may be absent.
  func optionalLostFields(_ name: String) throws(CatalogError) -> [LostField]? {
    guard node[name] != nil else { return nil }
    var fields: [LostField] = []
    for element in try list(name) {
      guard let reason = element["reason"]?.text else { throw fault("expected faults in \(name)") }
      fields.append(LostField(field: element["field"]?.text, reason: reason))
    }
    return fields
  }

  private func list(_ name: String) throws(CatalogError) -> [JSONNode] {
    guard let node = node[name], node.kind == .array else {
      throw fault("expected a list in \(name)")
    }
    return node.elements
  }

  private func price(_ node: JSONNode, in name: String) throws(CatalogError) -> Price {
    guard let units = node["minorUnits"]?.integer, let currency = node["currency"]?.text else {
      throw fault("expected a price in \(name)")
    }
    return Price(minorUnits: units, currency: currency)
  }

  private func fault(_ reason: String) -> CatalogError {
    CatalogError(.storedForm, subject: subject, reason: reason)
  }
}
