/// Reads the products that a shop publishes for search engines, in JSON-LD or in an HTML page.
///
/// A page can have them as JSON-LD in scripts, as microdata or as Open Graph. Microdata is read only if the JSON-LD has
/// no products, and Open Graph only if neither of the two has any. (schema.org/Product; JSON-LD 1.1, section 7
/// "Embedding JSON-LD in HTML Documents")
enum LinkedData {
  /// Converts a response to plain JSON, such as `{"title": "Cups", "items": [{"sku": "C1", "name": "Cup"}]}`.
  ///
  /// A script that is not JSON is skipped. If the script mentions products, `items` has a text with the reason.
  ///
  /// - Throws: ``CatalogError`` if the response is neither JSON nor HTML, or if it has neither products nor an empty
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

  /// Refuses a body without products.
  static func demandProducts(in body: [UInt8]) throws(CatalogError) {
    let found = try products(in: body, "the response")
    if found.items.isEmpty { throw found.nothingFound("the response") }
  }

  /// Whether a body is an HTML page instead of JSON.
  static func isPage(_ body: [UInt8]) -> Bool {
    JSONText(body).first == UInt8(ascii: "<")
  }

  /// Whether a body looks like JSON-LD, or is a page with data for search engines.
  ///
  /// The result is true even if there are no products.
  static func appears(in body: [UInt8]) -> Bool {
    if isPage(body) { return (try? PageData.read(body, "page"))?.hasData == true }
    guard let root = try? JSONDocument(parsing: body).root else { return false }
    let nodes = root.kind == .array ? Array(root.elements.prefix(10)) : [root]
    return nodes.contains { $0["@context"] != nil || $0["@graph"] != nil || $0["@type"] != nil }
  }

  /// The products in a body.
  ///
  /// There can be none.
  static func products(
    in body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> LinkedProducts {
    guard isPage(body) else {
      let root = try JSONDocument(parsing: body, of: subject).root
      return try LinkedProducts(in: [root], of: body.count)
    }
    var roots: [JSONNode] = []
    let page = try PageData.read(body, subject, within: limits)
    var scripts = LinkedProducts.Scripts(count: page.scripts.count)
    for (number, script) in page.scripts.enumerated() {
      try limits.demandTime(subject)
      let text = unwrapped(script[...])
      guard !text.isEmpty else { continue }
      do throws(CatalogError) {
        roots.append(try JSONDocument(parsing: Array(text), of: "block \(number + 1)").root)
      } catch {
        let place = error.line.map { "line \($0)" + (error.column.map { ", column \($0)" } ?? "") }
        let reason =
          "the page's JSON-LD block \(number + 1) is not JSON: "
          + [place, error.reason].compactMap(\.self).joined(separator: ": ")
        scripts.faults.append((reason, text.firstRange(of: Array("Product".utf8)) != nil))
      }
    }
    var products = try LinkedProducts(in: roots, of: body.count, scripts: scripts)
    // Many shops publish a product in all three forms. JSON-LD usually has the most fields.
    if products.items.isEmpty, page.microdata.hasItems {
      let json = try page.microdata.json(subject)
      roots.append(try JSONDocument(parsing: json, of: "microdata").root)
      products = try LinkedProducts(in: roots, of: body.count, scripts: scripts)
    }
    if products.items.isEmpty, let product = page.openGraph.product {
      try products.take(product)
    }
    if let canonical = page.canonical { products.identify(by: canonical) }
    return products
  }

  /// The text of a script without the marks around it, such as `<!--`, that hide it from old browsers and from XHTML.
  private static func unwrapped(_ script: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = script
    var length: Int
    repeat {
      length = text.count
      text = text.drop { $0 <= 0x20 }
      while let last = text.last, last <= 0x20 { text.removeLast() }
      for mark in ["<!--", "-->", "//", "/*", "*/", "<![CDATA[", "]]>", ";", "\u{FEFF}"] {
        if text.starts(with: mark.utf8) { text.removeFirst(mark.utf8.count) }
        if text.reversed().starts(with: mark.utf8.reversed()) { text.removeLast(mark.utf8.count) }
      }
    } while text.count < length
    return text
  }
}

/// An index of the objects in JSON-LD, which are called nodes, by their `@id`.
///
/// All nodes with the same `@id` describe the same thing. Therefore a reference such as `{"@id": "#cup"}` has the
/// members of all nodes with this id. References are followed one step at a time, so that circles of references do no
/// harm. (JSON-LD 1.1, section 3.3)
struct LinkedGraph {
  /// The maximum number of nodes with the same `@id` that are merged.
  ///
  /// Further ones are ignored.
  private static let mostParts = 8

  private var nodes: [String: [JSONNode]] = [:]
  /// The first eight types that occur in the data.
  private(set) var types: [String] = []

  /// Makes an index of the given nodes and of all nodes inside them.
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
    for (name, value) in members where name != "@context" { visit(value) }
  }

  /// Merges a node with all other nodes that have the same `@id`.
  ///
  /// If both have a member, the value of the given node counts.
  ///
  /// - Throws: ``CatalogError`` with code `path-work` if all merges together take too many steps for the size of the
  ///   document.
  func node(_ json: JSONNode) throws(CatalogError) -> LinkedNode {
    var node = LinkedNode(id: Self.id(of: json))
    try node.add(json)
    for part in node.id.flatMap({ nodes[$0] }) ?? [] where part != json {
      if try !node.contradicts(part) { try node.add(part) }
    }
    return node
  }

  /// The plain value of the first of these members that the thing has, or nil if it has none.
  ///
  /// If the value is a list, it is the first element of the list.
  func value(_ names: String..., of node: LinkedNode) throws(CatalogError) -> RecordValue? {
    for name in names {
      guard let json = node[name], let value = try RecordValue(json, in: self) else { continue }
      return value.first
    }
    return nil
  }

  /// The id by which other nodes refer to a node, or nil if the node has no id.
  static func id(of node: JSONNode) -> String? {
    guard node.kind == .object, let id = (node["@id"] ?? node["id"])?.text, !id.isEmpty else {
      return nil
    }
    return id
  }

  /// The types of a node, such as `Product`, without their prefix.
  static func types(of node: JSONNode) -> [String] {
    node.kind == .object ? (node["@type"] ?? node["type"]).map(plainTexts) ?? [] : []
  }

  fileprivate static func plainTexts(_ value: JSONNode) -> [String] {
    (value.kind == .array ? Array(value.elements.prefix(20)) : [value]).compactMap(\.text)
      .map(plain)
  }

  /// A name of schema.org without its prefix.
  ///
  /// For example, `https://schema.org/InStock` becomes `InStock`.
  static func plain(_ name: String) -> String {
    let prefix = prefixes.first { name.hasPrefix($0) }
    return prefix.map { String(name.dropFirst($0.count)) } ?? name
  }

  private static let prefixes = [
    "https://schema.org/", "http://schema.org/", "schema:", "https://www.schema.org/",
    "http://www.schema.org/",
  ]
}

/// One thing in JSON-LD, with the merged members of all nodes that describe it.
///
/// The names of the members are without a prefix.
struct LinkedNode {
  /// The `@id`, or nil if the thing has none, so that nothing can refer to it.
  let id: String?
  /// The names of the members, in the order of their addition.
  private(set) var names: [String] = []
  private var values: [String: JSONNode] = [:]

  /// Members that a variant does not take from its group.
  static let ownMembers: Set<String> = [
    "sku", "productID", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "url",
    "productGroupID", "variesBy",
  ]

  fileprivate init(id: String?) {
    self.id = id
  }

  /// Adds the members of the group that a variant belongs to, except those that the variant already has.
  mutating func inherit(from group: LinkedNode) {
    for name in group.names where values[name] == nil && !Self.ownMembers.contains(name) {
      names.append(name)
      values[name] = group.values[name]
    }
  }

  /// Whether a node describes another thing, although it has the same `@id`.
  ///
  /// Some shops give all products of a page the same id by mistake. Their SKUs or names differ.
  fileprivate func contradicts(_ node: JSONNode) throws(CatalogError) -> Bool {
    try node.countLook()
    return ["sku", "name"].contains { name in
      guard let own = values[name]?.text, let other = node[name]?.text else { return false }
      return own != other
    }
  }

  /// Adds the members of a node, except those that the thing already has.
  fileprivate mutating func add(_ node: JSONNode) throws(CatalogError) {
    let members = node.members
    // Copying a member counts as eight steps, because it takes longer than a step of a path.
    try node.document.count(steps: 8 * (1 + members.count))
    for (name, value) in members where !value.isEmpty {
      let plain = LinkedGraph.plain(name)
      if values[plain] == nil {
        names.append(plain)
        values[plain] = value
      }
    }
  }

  /// The types of the thing, such as `Product`, without their prefix.
  var types: [String] { (values["@type"] ?? values["type"]).map(LinkedGraph.plainTexts) ?? [] }

  /// The value of a member, or nil if it is absent or empty.
  subscript(name: String) -> JSONNode? { values[name] }

  /// The values of a member.
  ///
  /// If its value is a list, these are the elements of the list.
  func all(_ name: String) -> [JSONNode] {
    guard let value = values[name] else { return [] }
    if value.kind == .array { return value.elements.filter { !$0.isEmpty } }
    for list in ["@list", "@set"] {
      if let elements = value[list]?.elements { return elements }
    }
    return [value]
  }
}

extension JSONNode {
  /// The plain value of a node, or nil if the node is a list or a thing.
  ///
  /// If the node is an object, it is the object's `@value`. Otherwise, it is the node itself.
  var scalar: JSONNode? {
    guard let value = kind == .object ? self["@value"] : self,
      value.kind != .object, value.kind != .array
    else { return nil }
    return value
  }

  /// A word of schema.org or a URL, which shops write as a text or as a reference.
  var word: String? { (scalar?.text ?? LinkedGraph.id(of: self))?.trimmed }
}

extension RecordValue {
  /// Converts a text, a number, `true` or `false`, a thing that has a name, or a list of these.
  ///
  /// The result is nil for other values.
  init?(_ node: JSONNode, in graph: LinkedGraph) throws(CatalogError) {
    var values: [RecordValue] = []
    for element in node.kind == .array ? node.elements : [node] {
      if let value = try RecordValue(single: element, in: graph) { values.append(value) }
    }
    guard let first = values.first else { return nil }
    self = values.count == 1 ? first : .list(values)
  }

  /// Converts a text, which can be a URL.
  init(text: String) {
    self = .text(Self.isAddress(text) ? Self.address(text) : PageText.withoutEntities(text))
  }

  private init?(single node: JSONNode, in graph: LinkedGraph) throws(CatalogError) {
    switch node.kind {
    case .integer: self = .integer(node.integer ?? 0)
    case .real: self = .real(node.real ?? 0)
    case .boolean: self = .text(node.boolean == true ? "true" : "false")
    case .string:
      guard let text = node.text?.trimmed, !text.isEmpty else { return nil }
      self.init(text: text)
    case .object:
      // The object is a value with its language or type, such as `{"@value": "Cup", "@language": "en"}`, or a thing
      // such as a brand. (JSON-LD 1.1, section 9.5)
      var value = node.scalar
      if value == nil { value = try graph.node(node).all("name").first?.scalar }
      guard let value else { return nil }
      try self.init(single: value, in: graph)
    case .array, .null: return nil
    }
  }

  /// Whether a text is a URL.
  ///
  /// If so, its entities are not decoded, because `&copy=1` can be a part of its query.
  private static func isAddress(_ text: String) -> Bool {
    text.contains("://") || text.hasPrefix("/")
  }

  /// A URL with each `&amp;` replaced by `&`, because shops with HTML templates write `&amp;`.
  static func address(_ text: String) -> String { text.replacing("&amp;", with: "&") }
}
