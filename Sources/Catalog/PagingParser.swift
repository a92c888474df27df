/// Reads `paging:` of a catalog file.
enum PagingParser {
  /// The keys of which one says how pages are told apart.
  private static let steps = ["page", "parameter", "offset", "cursor", "next", "link"]

  static func parse(_ node: YAMLNode) throws(CatalogError) -> PagingRule {
    let mapping = try node.mapping()
    try mapping.checkKeys(.paging)
    var given = steps.filter { mapping[$0] != nil }
    // `from` alone: what it leads to goes where {cursor} stands in the URL or body.
    if given.isEmpty, mapping["from"] != nil { given = ["from"] }
    guard given.count == 1, let step = given.first, let value = mapping[step] else {
      let words = steps.filter { $0 != "parameter" }.joined(separator: ", ")
      throw node.error("expected one of \(words)", expected: words)
    }
    try check(mapping, step)
    return PagingRule(
      try self.step(step, value, mapping),
      size: try mapping["size"].map(size),
      limit: try mapping["limit"]?.number(in: 1...1_000_000) ?? 1000
    )
  }

  private static func step(
    _ step: String,
    _ value: YAMLNode,
    _ mapping: YAMLMapping
  ) throws(CatalogError) -> PagingRule.Step {
    switch step {
    case "offset": return .offset(name: try parameter(value), first: try first(mapping) ?? 0)
    case "cursor":
      return .cursor(name: try parameter(value), from: try mapping.required("from").path())
    case "from": return .cursor(name: nil, from: try value.path())
    case "next": return .next(try value.path())
    case "link":
      guard try value.text() == "true" else {
        throw value.error("expected true", expected: "true")
      }
      return .link
    default:
      return .page(name: try parameter(value), first: try first(mapping) ?? 1)
    }
  }

  private static func first(_ mapping: YAMLMapping) throws(CatalogError) -> Int? {
    try mapping["first"]?.number(in: 0...1_000_000)
  }

  /// Refuses keys that go with another way of paging.
  private static func check(_ mapping: YAMLMapping, _ step: String) throws(CatalogError) {
    for (key, owners) in [
      ("first", ["page", "parameter", "offset"]), ("from", ["cursor", "from"]),
    ] {
      guard let value = mapping[key], !owners.contains(step) else { continue }
      throw value.error("goes with \(owners[0]), not with \(step)")
    }
  }

  private static func size(_ node: YAMLNode) throws(CatalogError) -> PagingRule.Size {
    let mapping = try node.mapping()
    try mapping.checkKeys(.size)
    return PagingRule.Size(
      name: try parameter(mapping.required("name")),
      value: try mapping.required("value").number(in: 1...1_000_000)
    )
  }

  private static func parameter(_ node: YAMLNode) throws(CatalogError) -> String {
    let name = try node.filledText()
    guard name.utf8.allSatisfy({ $0 > 0x20 && !"&=#?".utf8.contains($0) }) else {
      throw node.error("\"\(name)\" is not a query parameter", expected: "a name")
    }
    return name
  }
}
