/// The nodes of JSON-LD, found by their `@id`.
///
/// Nodes of one `@id` are one thing (JSON-LD 1.1, section 3.3), so a reference `{"@id": …}` has what stands elsewhere
/// under that id. Nothing is followed but on demand and one step at a time: cycles do no harm.
struct LinkedGraph {
  /// How many nodes of one `@id` are put together.
  private static let mostParts = 8

  private var nodes: [String: [JSONNode]] = [:]
  /// By a variant's `@id`, the group that refers to it.
  private(set) var groups: [String: JSONNode] = [:]
  /// By a product's `@id`, the offer that refers to it.
  private(set) var offers: [String: JSONNode] = [:]
  /// The types that there are, in the order of their first mention.
  private(set) var types: [String] = []

  /// Looks at every node below some roots.
  init(_ roots: [JSONNode]) {
    for root in roots { visit(root) }
  }

  private mutating func visit(_ node: JSONNode) {
    guard node.kind == .object else {
      for element in node.elements { visit(element) }
      return
    }
    for type in Self.types(of: node) where types.count < 8 && !types.contains(type) {
      types.append(type)
    }
    let members = node.members
    if let id = Self.id(of: node), members.count > 1, nodes[id, default: []].count < Self.mostParts
    {
      nodes[id, default: []].append(node)
    }
    for (name, value) in members where name != "@context" {
      switch Self.plain(name) {
      case "hasVariant": note(value, in: &groups, as: node)
      case "itemOffered": note(value, in: &offers, as: node)
      default: break
      }
      visit(value)
    }
  }

  private func note(_ value: JSONNode, in table: inout [String: JSONNode], as node: JSONNode) {
    for target in value.kind == .array ? value.elements : [value] {
      if let id = Self.id(of: target), table[id] == nil { table[id] = node }
    }
  }

  /// A node with what stands under its `@id` elsewhere, its own words first.
  ///
  /// - Throws: ``CatalogError`` with code `path-work` when more is looked up than a body of this size needs.
  func node(_ json: JSONNode) throws(CatalogError) -> LinkedNode {
    var node = LinkedNode(id: Self.id(of: json))
    try node.add(json)
    for part in node.id.flatMap({ nodes[$0] }) ?? [] where !part.isSamePlace(as: json) {
      if try !node.contradicts(part) { try node.add(part) }
    }
    return node
  }

  /// What a node is called, by which others refer to it.
  static func id(of node: JSONNode) -> String? {
    guard node.kind == .object, let id = (node["@id"] ?? node["id"])?.text, !id.isEmpty else {
      return nil
    }
    return id
  }

  /// The types of a node without their prefix.
  static func types(of node: JSONNode) -> [String] {
    node.kind == .object ? (node["@type"] ?? node["type"]).map(plainTexts) ?? [] : []
  }

  fileprivate static func plainTexts(_ value: JSONNode) -> [String] {
    (value.kind == .array ? Array(value.elements.prefix(20)) : [value]).compactMap(\.text)
      .map(plain)
  }

  /// A name of schema.org's without its prefix: `https://schema.org/InStock` is `InStock`.
  static func plain(_ name: String) -> String {
    for prefix in ["https://schema.org/", "http://schema.org/", "schema:"]
    where name.hasPrefix(prefix) {
      return String(name.dropFirst(prefix.count))
    }
    for prefix in ["https://www.schema.org/", "http://www.schema.org/"]
    where name.hasPrefix(prefix) {
      return String(name.dropFirst(prefix.count))
    }
    return name
  }
}

/// One thing of JSON-LD: the members that its nodes have, by their plain names.
struct LinkedNode {
  /// What it is called; nil when nothing can refer to it.
  let id: String?
  /// The names in their order.
  private(set) var names: [String] = []
  private var values: [String: JSONNode] = [:]

  fileprivate init(id: String?) {
    self.id = id
  }

  /// Whether a node of the same `@id` is another thing all the same: templates give all products of a page one.
  fileprivate func contradicts(_ node: JSONNode) throws(CatalogError) -> Bool {
    try node.countLook()
    return ["sku", "name"].contains { name in
      guard let own = values[name]?.text, let other = node[name]?.text else { return false }
      return own != other
    }
  }

  /// Adds the members of a node; what is there already and says something stays.
  fileprivate mutating func add(_ node: JSONNode) throws(CatalogError) {
    let members = node.members
    // Taking a member over costs more than a step of a path.
    try node.document.count(steps: 8 * (1 + members.count))
    for (name, value) in members where !value.isEmpty {
      let plain = LinkedGraph.plain(name)
      if values[plain] == nil {
        names.append(plain)
        values[plain] = value
      }
    }
  }

  /// Its types without their prefix.
  var types: [String] { (values["@type"] ?? values["type"]).map(LinkedGraph.plainTexts) ?? [] }

  /// The value of a member; nil when it has none that says something.
  subscript(name: String) -> JSONNode? { values[name] }

  /// The values of a member, a list taken apart.
  func all(_ name: String) -> [JSONNode] {
    guard let value = values[name] else { return [] }
    if value.kind == .array { return value.elements.filter { !$0.isEmpty } }
    for list in ["@list", "@set"] {
      if let elements = value[list]?.elements { return elements }
    }
    return [value]
  }
}
