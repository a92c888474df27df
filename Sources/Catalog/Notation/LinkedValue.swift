/// A value of JSON-LD on its way to plain JSON.
enum LinkedValue: Equatable {
  case text(String)
  case integer(Int)
  case real(Double)
  case list([LinkedValue])

  /// What a text, a number, a typed value, a list of these, or a thing with a name says in plain; nil when it says
  /// nothing.
  init?(_ node: JSONNode, in graph: LinkedGraph) throws(CatalogError) {
    guard node.kind == .array else {
      try self.init(single: node, in: graph)
      return
    }
    var values: [LinkedValue] = []
    for element in node.elements {
      if let value = try LinkedValue(single: element, in: graph) { values.append(value) }
    }
    guard let first = values.first else { return nil }
    self = values.count == 1 ? first : .list(values)
  }

  private init?(single node: JSONNode, in graph: LinkedGraph) throws(CatalogError) {
    switch node.kind {
    case .integer: self = .integer(node.integer ?? 0)
    case .real: self = .real(node.real ?? 0)
    case .boolean: self = .text(node.boolean == true ? "true" : "false")
    case .string:
      guard let text = node.text?.trimmed, !text.isEmpty else { return nil }
      self = .text(Self.isAddress(text) ? Self.address(text) : PageText.withoutEntities(text))
    case .object:
      // A value with a language or a type (JSON-LD 1.1, section 9.5), else a thing such as a brand.
      if let value = Self.scalar(node) {
        try self.init(single: value, in: graph)
        return
      }
      let name = try graph.node(node)["name"]
      guard let name, let value = Self.scalar(name.kind == .array ? name[0] ?? name : name) else {
        return nil
      }
      try self.init(single: value, in: graph)
    case .array, .null: return nil
    }
  }

  /// The value that a node is or has; nil for a list, and for a thing.
  private static func scalar(_ node: JSONNode) -> JSONNode? {
    guard let value = node.kind == .object ? node["@value"] : node,
      value.kind != .object, value.kind != .array
    else { return nil }
    return value
  }

  /// The text of a text; nil for anything else.
  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The first of a list, or the value itself.
  var first: LinkedValue {
    if case .list(let values) = self, let first = values.first { first } else { self }
  }

  /// What the value counts; nil for what is no plain number.
  var number: Double? {
    switch self {
    case .text(let text): Double(text)
    case .integer(let number): Double(number)
    case .real(let number): number
    case .list: nil
    }
  }

  /// Whether a text is a URL, in which `&copy=1` is no character reference.
  static func isAddress(_ text: String) -> Bool {
    text.contains("://") || text.hasPrefix("/")
  }

  /// A URL as it was before a shop's template escaped it.
  static func address(_ text: String) -> String { text.replacing("&amp;", with: "&") }

  func write(to writer: inout StoredFormWriter) {
    switch self {
    case .text(let text): writer.value(text)
    case .integer(let number): writer.value(number as Int?)
    case .real(let number): writer.value(number)
    case .list(let values): writer.array { for value in values { value.write(to: &$0) } }
    }
  }
}
