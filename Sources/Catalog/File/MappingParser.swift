/// Reads the paths to items and their fields (``Mapping``) from catalog files and format files.
struct MappingParser {
  /// The keys of a catalog file or a section that belong to its mapping.
  private static let keys = CatalogKeys.section.names.filter {
    !["key", "title", "subtitle", "url", "each", "paging", "request"].contains($0)
  }

  /// Reads the mapping at the top level of a catalog file.
  ///
  /// It is the mapping of the file's format, changed by the keys that the file has too. Without a format, the file has
  /// the paths itself, or a transform makes items that larder can read. If a file has none of these, its format is
  /// `banchan`.
  static func parse(catalog: YAMLMapping) throws(CatalogError) -> Mapping {
    var mapping: Mapping
    if let base = try base(of: catalog) {
      mapping = base
    } else if try isSpelledOut(catalog) {
      let makesItems = try notation(of: catalog).makesItems
      for key in makesItems ? ["item"] : ["items", "item"]
      where try !sections(of: catalog, haveOneOf: [key, "format", "transform"]) {
        _ = try catalog.required(key)
      }
      mapping = Mapping(
        items: makesItems ? [try JSONPath(parsing: "$.items")] : [],
        item: Mapping.Item()
      )
    } else {
      mapping = try Format(named: "banchan").mapping()
    }
    try override(&mapping, with: catalog)
    return mapping
  }

  /// The mapping of the format or transform of a file or a section, or nil if it has neither.
  private static func base(of members: YAMLMapping) throws(CatalogError) -> Mapping? {
    if let format = members["format"] { return try Format(format).mapping() }
    return members["transform"] == nil ? nil : try OwnShape.mapping()
  }

  /// Whether a catalog file itself has paths to items and their fields, at its top level or in every section.
  private static func isSpelledOut(_ catalog: YAMLMapping) throws(CatalogError) -> Bool {
    if catalog["items"] != nil || catalog["item"] != nil { return true }
    guard try sections(of: catalog, haveOneOf: ["items"]) else { return false }
    return try sections(of: catalog, haveOneOf: ["item"])
  }

  /// Whether every section in the file's list of sections has one of these keys.
  private static func sections(
    of catalog: YAMLMapping,
    haveOneOf keys: [String]
  ) throws(CatalogError) -> Bool {
    guard let sections = catalog["sections"], sections.isList else { return false }
    for section in try sections.list() {
      let own = try section.mapping()
      guard keys.contains(where: { own[$0] != nil }) else { return false }
    }
    return true
  }

  /// Reads the mapping of a section.
  ///
  /// A format or a transform in the section replaces the mapping of the file. Other keys of the section change parts of
  /// the file's mapping. If the section has a format but no transform, a transform at the top level of the file
  /// replaces the transform of the format.
  ///
  /// - Parameters:
  ///   - section: The section.
  ///   - root: The top level of the file.
  ///   - catalog: The mapping of the file.
  /// - Returns: The mapping, or nil if the section has no keys of a mapping.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(
    section: YAMLMapping,
    of root: YAMLMapping,
    mapping catalog: Mapping
  ) throws(CatalogError) -> Mapping? {
    guard section.members.contains(where: { keys.contains($0.name) }) else { return nil }
    var mapping = try base(of: section) ?? catalog
    if section["format"] == nil {
      mapping.notation = catalog.notation
    } else if root["transform"] != nil {
      mapping.transform = catalog.transform
    }
    mapping.detail = catalog.detail
    mapping.item.placeValues = catalog.item.placeValues
    try override(&mapping, with: section, hasDetail: false)
    return mapping
  }

  /// Reads the mapping of a format file.
  static func parse(format: YAMLMapping) throws(CatalogError) -> Mapping {
    var mapping = Mapping(items: [try JSONPath(parsing: "$.items")], item: Mapping.Item())
    try override(&mapping, with: format)
    mapping.written = "format \(mapping.written)"
    // A format has paths to all fields that a shop of its system can have. A shop without such a field is not an error.
    mapping.item.given = []
    mapping.detail?.given = []
    return mapping
  }

  /// Reads the notation of responses: the keys `read`, `xml` and `table`.
  static func notation(of root: YAMLMapping) throws(CatalogError) -> BodyFormat {
    var notation = BodyFormat.json
    try override(&notation, with: root)
    return notation
  }

  /// Changes a notation by the keys that a file or a section has.
  private static func override(
    _ notation: inout BodyFormat,
    with root: YAMLMapping
  ) throws(CatalogError) {
    if let read = root.member("read") {
      let names = BodyFormat.Kind.allCases.map(\.rawValue)
      let name = read.isNull ? nil : try read.known("notation", in: names)
      notation.kind = name.flatMap(BodyFormat.Kind.init)
    }
    if let xml = root.member("xml") { notation.xml = xml.isNull ? nil : try xmlRule(xml) }
    if let table = root.member("table") {
      notation.table = table.isNull ? nil : try tableRule(table)
    }
  }

  private static func xmlRule(_ node: YAMLNode) throws(CatalogError) -> XMLRecords.Rule {
    let members = try node.mapping(.xml)
    return XMLRecords.Rule(
      records: try members["record"]?.texts() ?? [],
      roots: try members["roots"]?.texts() ?? [],
      plain: try members["plain"]?.texts() ?? []
    )
  }

  private static func tableRule(_ node: YAMLNode) throws(CatalogError) -> TableRecords.Rule {
    let members = try node.mapping(.table)
    return TableRecords.Rule(
      hasPlainNames: try members["names"]?.oneOf(["plain"]) != nil,
      lists: try members["lists"]?.texts() ?? []
    )
  }

  /// Changes a mapping by the keys that a file or a section has.
  private static func override(
    _ mapping: inout Mapping,
    with root: YAMLMapping,
    hasDetail: Bool = true
  ) throws(CatalogError) {
    if let transform = root.member("transform") {
      mapping.transform = transform.isNull ? nil : try transform.transform()
    }
    try override(&mapping.notation, with: root)
    if let none = root.member("none") { mapping.values.none = Set(try none.texts()) }
    if let text = root.member("text") {
      mapping.values.isHTML = try text.oneOf(["plain", "html"]) == "html"
    }
    if let records = root.member("records") {
      mapping.records = records.isNull ? nil : try records.transform(ofRecords: true)
    }
    if let items = root["items"] {
      mapping.items = try items.paths()
      guard !mapping.items.isEmpty else {
        throw items.error("expected a path, found an empty list")
      }
    }
    if let envelope = try root["envelope"]?.mapping(.envelope) {
      try envelope.read("title", into: &mapping.envelope.title)
      try envelope.read("subtitle", into: &mapping.envelope.subtitle)
      try envelope.read("status", into: &mapping.envelope.status)
    }
    if let item = try root["item"]?.mapping(.item) { try override(&mapping.item, with: item) }
    if hasDetail, let detail = try root["detail"]?.mapping(.detail) {
      try override(detailOf: &mapping, with: detail)
    }
    if hasDetail { mapping.detail?.values = mapping.values }
    for member in root.members where keys.contains(member.name) && member.name != "format" {
      mapping.written += "\(member.name) \(member.value.node.compact) "
    }
  }

  private static func override(
    _ item: inout Mapping.Item,
    with node: YAMLMapping
  ) throws(CatalogError) {
    try node.read("id", into: &item.id)
    try node.read("title", into: &item.title)
    try node.read("description", into: &item.description)
    try node.read("badges", into: &item.badges)
    try node.read("deliveryTypes", into: &item.deliveryTypes)
    try node.read("normalPrice", into: &item.normalPrice)
    try node.read("salePrice", into: &item.salePrice)
    try node.read("latitude", into: &item.latitude)
    try node.read("longitude", into: &item.longitude)
    try node.read("address", into: &item.address)
    try node.read("images", into: &item.images)
    for field in ItemField.allCases where node.has(field.rawValue) {
      if item.paths(of: field).isEmpty {
        item.given.remove(field)
      } else {
        item.given.insert(field)
      }
    }
    for (name, paths) in [("id", item.id), ("title", item.title)] where paths.isEmpty {
      _ = try node.required(name)
    }
  }

  private static func override(
    detailOf mapping: inout Mapping,
    with node: YAMLMapping
  ) throws(CatalogError) {
    // The other keys of `detail` say how details are requested.
    let read = node.members.filter { !["url", "request", "values"].contains($0.name) }
    guard !read.isEmpty else { return }
    var changed = mapping.detail ?? Mapping.Detail()
    try node.read("entries", into: &changed.entries)
    try node.read("id", into: &changed.id)
    try node.read("root", into: &changed.root)
    try node.read("description", into: &changed.description)
    try node.read("prices", into: &changed.prices)
    try node.read("images", into: &changed.images)
    if let notes = try node["notes"]?.mapping() {
      changed.notes = try notes.members.map { member throws(CatalogError) in
        Mapping.NoteRule(name: member.name, paths: try member.value.paths())
      }
    }
    changed.given = changed.given.union(
      changed.fields.filter { node.has(String($0.name.dropFirst("detail.".count))) }
    )
    .intersection(changed.fields)
    let root = try JSONPath(parsing: "$")
    if changed.entries.isEmpty { changed.entries = [root] }
    if changed.root.isEmpty { changed.root = [root] }
    mapping.detail = changed
    for member in read { mapping.written += "detail.\(member.name) \(member.value.node.compact) " }
  }
}

extension YAMLMapping {
  /// Replaces the paths to a field if this mapping has the field's key.
  ///
  /// `null` removes the paths.
  fileprivate func read(_ name: String, into paths: inout [JSONPath]) throws(CatalogError) {
    if let value = member(name) { paths = try value.paths() }
  }

  /// Replaces the rules for a price if this mapping has the price's key.
  ///
  /// `null` removes the rules.
  fileprivate func read(
    _ name: String,
    into rules: inout [Mapping.PriceRule]
  ) throws(CatalogError) {
    guard let value = member(name) else { return }
    rules = try value.each { node throws(CatalogError) in try node.priceRule() }
  }

  /// Replaces the rules for the pictures of each role that this mapping names.
  ///
  /// `null` removes the rules of all roles.
  fileprivate func read(
    _ name: String,
    into rules: inout Mapping.ImageRules
  ) throws(CatalogError) {
    guard let value = member(name) else { return }
    if value.isNull {
      rules = Mapping.ImageRules()
      return
    }
    let roles = try value.mapping(.images)
    for role in ImageReference.Role.allCases {
      if let paths = roles.member(role.rawValue) { rules[rules: role] = try paths.textsRules() }
    }
  }
}

extension YAMLNode {
  /// Reads the path to a price, or a rule such as `{path: $.price, minorUnits: true}`.
  func priceRule() throws(CatalogError) -> Mapping.PriceRule {
    guard isMapping else { return Mapping.PriceRule(path: try path()) }
    let mapping = try mapping(.price)
    let ways = ["scale", "divisor", "minorUnits"]
    let given = ways.filter { mapping[$0] != nil }
    guard given.count < 2 else {
      throw error("expected one of \(given.joined(separator: " and "))")
    }
    let isSplit = mapping["units"] != nil || mapping["nanos"] != nil
    if isSplit, let other = mapping["path"] ?? given.first.flatMap({ mapping[$0] }) {
      throw other.error("cannot be combined with units and nanos")
    }
    return Mapping.PriceRule(
      path: try mapping.required(isSplit ? "units" : "path").path(),
      scale: try given.first.flatMap { way throws(CatalogError) in try mapping[way]?.scale(way) },
      currency: try mapping["currency"]?.unit(),
      nanos: isSplit ? try mapping.required("nanos").path() : nil,
      none: Set(try mapping["none"]?.texts() ?? [])
    )
  }

  /// Reads the value of the key `scale`, `divisor` or `minorUnits`.
  private func scale(_ way: String) throws(CatalogError) -> Mapping.PriceRule.Scale? {
    switch way {
    case "scale":
      if try text().hasPrefix("$") { return .path(try path()) }
      return .fixed(try number(in: 0...9))
    case "divisor":
      if try text().hasPrefix("$") { return .divisor(try path()) }
      let divisor = try number(in: 1...1_000_000_000)
      guard let digits = (0...9).first(where: { powerOfTen($0) == divisor }) else {
        throw error("\(divisor) is not a power of ten")
      }
      return .fixed(digits)
    default: return try oneOf(["true", "false"]) == "true" ? .currency : nil
    }
  }

  /// Reads an ISO 4217 code, or a path to one.
  private func unit() throws(CatalogError) -> Mapping.PriceRule.Unit {
    let text = try text()
    if text.hasPrefix("$") { return .path(try path()) }
    guard Currency.codes.contains(text) else {
      throw error("\"\(text.prefix(40))\" is neither a path nor an ISO 4217 currency code")
    }
    return .code(text)
  }
}
