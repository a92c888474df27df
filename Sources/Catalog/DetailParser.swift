/// Reads of `detail:` in a catalog file how details are asked for.
enum DetailParser {
  /// The rule, and what the items of a listing fill its places with.
  struct Asking {
    /// Where details are.
    var rule: DetailRule
    /// Where in an item the values of places are, beside the id.
    var values: [Mapping.NoteRule]
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - node: The value of `detail`.
  ///   - mapping: How details are read.
  /// - Returns: The rule with the values that it needs.
  /// - Throws: ``CatalogError`` with line, key and what was expected.
  static func parse(_ node: YAMLNode, mapping: Mapping) throws(CatalogError) -> Asking {
    let members = try node.mapping()
    try members.checkKeys(.detail)
    let url = try members.required("url")
    let template = try CatalogFileParser.url(url)
    try check(template, url)
    guard mapping.detail != nil else {
      throw node.error(
        "the format has no details",
        expected: "a mapping of details",
        remedy: "spell out description, prices, images or notes here, or leave detail out"
      )
    }
    var rule = DetailRule(urlTemplate: template)
    rule.request = try members["request"].map { node throws(CatalogError) in
      try RequestParser.parse(node)
    }
    let names = rule.places.subtracting([.id]).map(\.rawValue).sorted()
    let given = try given(members["values"], of: names)
    var values: [Mapping.NoteRule] = []
    for name in names {
      let member = try JSONPath(parsing: "$['\(name)']")
      values.append(Mapping.NoteRule(name: name, paths: given[name] ?? [member]))
    }
    return Asking(rule: rule, values: values)
  }

  /// Refuses braces in a URL that are no place.
  private static func check(_ template: String, _ node: YAMLNode) throws(CatalogError) {
    let places = Placeholder.all(in: template)
    let rest = Placeholder.fill(template, Set(places)) { _, _ in "" }.replacing("${", with: "")
    guard let open = rest.firstIndex(of: "{") else { return }
    throw node.error(
      "expected {id} or {NAME}, found \"\(rest[open...].prefix(40))\"",
      expected: "{id}",
      remedy: "a name is of letters, digits, - and _"
    )
  }

  /// The paths under `values`, by the names of places.
  private static func given(
    _ node: YAMLNode?,
    of names: [String]
  ) throws(CatalogError) -> [String: [JSONPath]] {
    var given: [String: [JSONPath]] = [:]
    for member in try node?.mapping().members ?? [] {
      guard names.contains(member.name) else {
        throw member.key.error(
          "no place {\(member.name)} in url or body",
          expected: names.isEmpty ? "a place in url or body" : names.joined(separator: ", "),
          nearestKey: nearest(to: member.name, in: names),
          remedy: member.name == "id" ? "{id} is what item.id finds" : nil
        )
      }
      given[member.name] = try member.value.paths()
    }
    return given
  }
}
