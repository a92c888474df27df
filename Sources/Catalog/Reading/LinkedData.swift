/// Products as shops publish them for search engines: JSON-LD, alone or in an HTML page, microdata and Open Graph.
///
/// The products become `{"title": …, "items": [{"sku": …, "name": …, "price": …, "image": […]}]}`; see
/// ``LinkedProducts``. (schema.org/Product; JSON-LD 1.1, section 7 "Embedding JSON-LD in HTML Documents")
enum LinkedData {
  /// A body as JSON that a mapping reads.
  ///
  /// Microdata is read if the JSON-LD has no products, and Open Graph if the microdata has none either. A block of a page
  /// that is not JSON is skipped. If it mentions products, a text with the reason takes the place of an item.
  ///
  /// - Throws: ``CatalogError`` when the body is neither JSON-LD nor HTML, and when it has no products and no empty
  ///   list of products.
  static func json(
    of body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> [UInt8] {
    let products = try products(in: body, subject, within: limits)
    guard !products.items.isEmpty || !products.unreadable.isEmpty || products.hasEmptyList else {
      throw products.nothingFound(subject)
    }
    return products.json
  }

  /// Whether a body is a page rather than JSON.
  static func isPage(_ body: [UInt8]) -> Bool {
    JSONText(body).first == UInt8(ascii: "<")
  }

  /// Whether a body looks like JSON-LD or a page with data about a thing, with or without products.
  static func appears(in body: [UInt8]) -> Bool {
    if isPage(body) { return (try? PageData.read(body, "page"))?.hasData == true }
    guard let root = try? JSONDocument(parsing: body).root else { return false }
    let nodes = root.kind == .array ? Array(root.elements.prefix(10)) : [root]
    return nodes.contains { $0["@context"] != nil || $0["@graph"] != nil || $0["@type"] != nil }
  }

  /// The products of a body; there may be none.
  static func products(
    in body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> LinkedProducts {
    guard isPage(body) else {
      let root = try JSONDocument(parsing: body, of: subject).root
      return try LinkedProducts(in: [root], of: body.count, place: .json)
    }
    var roots: [JSONNode] = []
    var faults: [LinkedProducts.Unreadable] = []
    let page = try PageData.read(body, subject, within: limits)
    for (number, script) in page.scripts.enumerated() {
      try limits.demandTime(subject)
      let text = unwrapped(script[...])
      guard !text.isEmpty else { continue }
      do throws(CatalogError) {
        roots.append(try JSONDocument(parsing: Array(text), of: "block \(number + 1)").root)
      } catch {
        faults.append(LinkedProducts.Unreadable(error, block: number + 1, of: text))
      }
    }
    let place = LinkedProducts.Place.page(blocks: page.scripts.count, faults)
    var products = try LinkedProducts(in: roots, of: body.count, place: place)
    // Many themes publish a product in all three forms, and most of it in JSON-LD.
    if products.items.isEmpty, page.microdata.hasItems {
      let json = try page.microdata.json(of: body.count, subject)
      roots.append(try JSONDocument(parsing: json, of: "microdata").root)
      products = try LinkedProducts(in: roots, of: body.count, place: place)
    }
    if products.items.isEmpty, let json = page.openGraph.json {
      roots.append(try JSONDocument(parsing: json, of: "Open Graph").root)
      products = try LinkedProducts(in: roots, of: body.count, place: place)
    }
    if let canonical = page.canonical { products.identify(by: canonical) }
    return products
  }

  /// A script's text without the comments and CDATA marks that pages put around it for old browsers and for XHTML.
  private static func unwrapped(_ script: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = script
    var length: Int
    repeat {
      length = text.count
      text = text.drop { $0 <= 0x20 }
      while let last = text.last, last <= 0x20 || last == UInt8(ascii: ";") { text.removeLast() }
      for mark in ["<!--", "//", "/*", "*/", "<![CDATA[", "\u{FEFF}"]
      where text.starts(with: mark.utf8) {
        text.removeFirst(mark.utf8.count)
      }
      for mark in ["-->", "//", "/*", "*/", "]]>"]
      where text.reversed().starts(with: mark.utf8.reversed()) {
        text.removeLast(mark.utf8.count)
      }
    } while text.count < length
    return text
  }
}

/// An index of the nodes of JSON-LD by their `@id`.
///
/// Nodes with the same `@id` are one thing (JSON-LD 1.1, section 3.3). A reference `{"@id": …}` therefore has the
/// members of all nodes with that id. References are followed only when needed and one step at a time, so cycles do no
/// harm.
struct LinkedGraph {
  /// At most this many nodes with the same `@id` are merged.
  private static let mostParts = 8

  private var nodes: [String: [JSONNode]] = [:]
  /// The group that refers to a variant, by the variant's `@id`.
  private(set) var groups: [String: JSONNode] = [:]
  /// The offer that refers to a product, by the product's `@id`.
  private(set) var offers: [String: JSONNode] = [:]
  /// The types in the data, in the order of their first mention.
  private(set) var types: [String] = []

  /// Indexes the given nodes and every node inside them.
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

  /// Merges a node with the nodes of the same `@id`.
  ///
  /// The values of the node itself take precedence.
  ///
  /// - Throws: ``CatalogError`` with code `path-work` when this takes more steps than a body of this size allows.
  func node(_ json: JSONNode) throws(CatalogError) -> LinkedNode {
    var node = LinkedNode(id: Self.id(of: json))
    try node.add(json)
    for part in node.id.flatMap({ nodes[$0] }) ?? [] where !part.isSamePlace(as: json) {
      if try !node.contradicts(part) { try node.add(part) }
    }
    return node
  }

  /// The id of a node, by which other nodes refer to it.
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

  /// A schema.org name without its prefix: `https://schema.org/InStock` is `InStock`.
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

/// One thing in JSON-LD: the merged members of its nodes, under their names without prefix.
struct LinkedNode {
  /// The id; nil for a node without an id, to which nothing can refer.
  let id: String?
  /// The names of the members, in order.
  private(set) var names: [String] = []
  private var values: [String: JSONNode] = [:]

  fileprivate init(id: String?) {
    self.id = id
  }

  /// Whether a node with the same `@id` describes another thing.
  ///
  /// Some templates give all products of a page the same id.
  fileprivate func contradicts(_ node: JSONNode) throws(CatalogError) -> Bool {
    try node.countLook()
    return ["sku", "name"].contains { name in
      guard let own = values[name]?.text, let other = node[name]?.text else { return false }
      return own != other
    }
  }

  /// Adds the members of a node; a member that already has a value keeps it.
  fileprivate mutating func add(_ node: JSONNode) throws(CatalogError) {
    let members = node.members
    // Copying a member takes longer than a step of a path.
    try node.document.count(steps: 8 * (1 + members.count))
    for (name, value) in members where !value.isEmpty {
      let plain = LinkedGraph.plain(name)
      if values[plain] == nil {
        names.append(plain)
        values[plain] = value
      }
    }
  }

  /// The thing's types without their prefix.
  var types: [String] { (values["@type"] ?? values["type"]).map(LinkedGraph.plainTexts) ?? [] }

  /// The value of a member; nil when it is absent or empty.
  subscript(name: String) -> JSONNode? { values[name] }

  /// The values of a member, with lists flattened.
  func all(_ name: String) -> [JSONNode] {
    guard let value = values[name] else { return [] }
    if value.kind == .array { return value.elements.filter { !$0.isEmpty } }
    for list in ["@list", "@set"] {
      if let elements = value[list]?.elements { return elements }
    }
    return [value]
  }
}

/// A value of JSON-LD, converted to plain JSON.
enum LinkedValue: Equatable {
  case text(String)
  case integer(Int)
  case real(Double)
  case list([LinkedValue])

  /// Converts a text, a number, a typed value, a list of these, or a thing with a name; nil for anything else.
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
      // A value with a language or a type (JSON-LD 1.1, section 9.5), or a thing such as a brand.
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

  /// The node itself or its `@value`; nil for a list or a thing.
  private static func scalar(_ node: JSONNode) -> JSONNode? {
    guard let value = node.kind == .object ? node["@value"] : node,
      value.kind != .object, value.kind != .array
    else { return nil }
    return value
  }

  /// The text, if the value is a text; otherwise nil.
  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The first element if the value is a list; otherwise the value itself.
  var first: LinkedValue {
    if case .list(let values) = self, let first = values.first { first } else { self }
  }

  /// The value as a number; nil when it is not a plain number.
  var number: Double? {
    switch self {
    case .text(let text): Double(text)
    case .integer(let number): Double(number)
    case .real(let number): number
    case .list: nil
    }
  }

  /// Whether a text is a URL; in a URL, `&copy=1` is not a character reference.
  static func isAddress(_ text: String) -> Bool {
    text.contains("://") || text.hasPrefix("/")
  }

  /// A URL without the escapes from a shop's HTML template: `&amp;` becomes `&`.
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
