/// Reads `request:` of a catalog file.
enum RequestParser {
  /// Reads how sections are requested; nil when there is no `request`.
  ///
  /// - Parameter members: The mapping that may have the key `request`: a file, a section or a format.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with line, key and what was expected.
  static func sections(_ members: YAMLMapping) throws(CatalogError) -> RequestRule? {
    try members.member("request").map { node throws(CatalogError) in
      try parse(node, filling: Placeholder.ofSections)
    }
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - node: The value of `request`; `null` is a plain GET.
  ///   - places: The places that requests fill; nil allows every place that the body has.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with line, key and what was expected.
  static func parse(
    _ node: YAMLNode,
    filling places: Set<Placeholder>? = nil
  ) throws(CatalogError) -> RequestRule {
    if node.isNull { return RequestRule() }
    let mapping = try node.mapping()
    try mapping.checkKeys(.request)
    let method = try mapping["method"].map(method) ?? (mapping["body"] == nil ? .get : .post)
    guard method == .post else {
      for key in ["type", "body"] {
        if let value = mapping[key] { throw value.error("goes with method POST") }
      }
      return RequestRule()
    }
    let rule = RequestRule(
      method: .post,
      type: try mapping["type"].map(type) ?? "application/json",
      body: try mapping.required("body").text()
    )
    if rule.isJSON, let body = mapping["body"] { try check(rule, body, places ?? rule.itemPlaces) }
    return rule
  }

  private static func method(_ node: YAMLNode) throws(CatalogError) -> RequestRule.Method {
    let text = try node.text()
    guard let method = RequestRule.Method(rawValue: text.uppercased()) else {
      throw node.error(
        "expected GET or POST, found \"\(text.prefix(40))\"",
        expected: "GET or POST"
      )
    }
    return method
  }

  private static func type(_ node: YAMLNode) throws(CatalogError) -> String {
    let text = try node.filledText()
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.contains("/") else {
      throw node.error(
        "\"\(text.prefix(40))\" is not a media type",
        expected: "a media type such as application/json"
      )
    }
    return text
  }

  /// Refuses a body that is no JSON once its places are filled.
  private static func check(
    _ rule: RequestRule,
    _ node: YAMLNode,
    _ places: Set<Placeholder>
  ) throws(CatalogError) {
    let samples = Dictionary(uniqueKeysWithValues: places.map { ($0, $0.isNumber ? "1" : "x") })
    do throws(CatalogError) {
      _ = try JSONDocument(parsing: rule.body(filling: samples), of: "the body")
    } catch {
      throw node.error(
        "the body is not JSON: \(error.reason)",
        expected: "JSON",
        remedy: "correct it, or say what it is by type"
      )
    }
  }
}
