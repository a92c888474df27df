/// How the details of items are requested: `detail:` in a catalog file.
///
/// A detail is a document about one item, which has more fields than the item has in a list. For example, the URL
/// `https://shop.example/detail/{id}` is requested for each item, with the item's id instead of `{id}`.
public struct DetailRule: Hashable, Sendable {
  /// The URL with placeholders such as `{id}`.
  ///
  /// If neither the URL nor the body has a placeholder, one document has the details of all items.
  public let urlTemplate: String
  /// How details are requested; nil means a plain GET.
  public let request: RequestRule?
  /// The placeholders in the URL and the body, which values of an item replace.
  public let places: Set<Placeholder>

  /// Makes a rule from its parts.
  init(urlTemplate: String, request: RequestRule? = nil) {
    self.urlTemplate = urlTemplate
    self.request = request
    places = Set(Placeholder.all(in: urlTemplate)).union(request?.itemPlaces ?? [])
  }

  /// Whether one document has the details of all items.
  public var isShared: Bool { places.isEmpty }

  /// The values of the placeholders for an item.
  ///
  /// - Parameters:
  ///   - id: The item's id.
  ///   - fields: The values of other placeholders, by the names of the placeholders; see ``StoreItem/placeValues``.
  /// - Returns: The values by placeholder. Placeholders without a value are left out.
  public func values(of id: String, _ fields: [String: String]?) -> [Placeholder: String] {
    var values: [Placeholder: String] = [:]
    for place in places { values[place] = place == .id ? id : fields?[place.rawValue] }
    return values
  }

  /// The URL of an item's detail.
  ///
  /// All characters of a value except the unreserved ones are percent-encoded, so that no value can add a segment to
  /// the path. (RFC 3986, section 2.3)
  ///
  /// - Parameters:
  ///   - values: The values by placeholder.
  ///   - resolved: The template as an absolute URL; nil to fill the template as it is written.
  /// - Returns: The URL, or nil if a segment of the path would be `.` or `..`. Servers treat these segments as folders
  ///   even if the dots are percent-encoded. (RFC 3986, section 6.2.2.2)
  public func url(
    filling values: [Placeholder: String],
    in resolved: URLTemplate? = nil
  ) -> String? {
    hasDotSegment(values) ? nil : (resolved ?? URLTemplate(urlTemplate)).filled(with: values)
  }

  private func hasDotSegment(_ values: [Placeholder: String]) -> Bool {
    guard values.values.contains(where: { $0.utf8.allSatisfy { $0 == UInt8(ascii: ".") } }) else {
      return false
    }
    let path = urlTemplate.prefix { $0 != "?" && $0 != "#" }
    return path.split(separator: "/").contains { segment in
      let filled = Placeholder.fill(url: String(segment), with: values)
      return filled != segment && [".", ".."].contains(filled)
    }
  }
}

/// Reads `detail:` of a catalog file.
enum DetailParser {
  /// Reads how details are requested.
  ///
  /// - Parameters:
  ///   - node: The value of `detail`.
  ///   - mapping: The file's mapping, which must say how details are read.
  /// - Returns: The rule, and the paths from an item to the values of the placeholders other than `{id}`.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
  static func parse(
    _ node: YAMLNode,
    mapping: Mapping
  ) throws(CatalogError) -> (rule: DetailRule, values: [Mapping.NoteRule]) {
    let members = try node.mapping(.detail)
    let url = try members.required("url")
    let template = try CatalogFileParser.url(url)
    try check(template, url)
    guard mapping.detail != nil else {
      throw node.error(
        "the format has no details",
        remedy: "spell out description, prices, images or notes here, or leave detail out"
      )
    }
    let request = try members["request"].map { node throws(CatalogError) in
      try RequestParser.parse(node)
    }
    let rule = DetailRule(urlTemplate: template, request: request)
    let names = rule.places.subtracting([.id]).map(\.rawValue).sorted()
    let given = try given(members["values"], of: names)
    var values: [Mapping.NoteRule] = []
    for name in names {
      let member = try JSONPath(parsing: "$['\(name)']")
      values.append(Mapping.NoteRule(name: name, paths: given[name] ?? [member]))
    }
    return (rule, values)
  }

  /// Refuses braces in a URL that are not a placeholder.
  private static func check(_ template: String, _ node: YAMLNode) throws(CatalogError) {
    let rest = Placeholder.fill(template) { _, _ in "" }.replacing("${", with: "")
    guard let open = rest.firstIndex(of: "{") else { return }
    throw node.error(
      "expected {id} or {NAME}, found \"\(rest[open...].prefix(40))\"",
      remedy: "a name has only letters, digits, - and _"
    )
  }

  /// Reads `values:`, which has the path to the value of a placeholder by the placeholder's name.
  private static func given(
    _ node: YAMLNode?,
    of names: [String]
  ) throws(CatalogError) -> [String: [JSONPath]] {
    var given: [String: [JSONPath]] = [:]
    for member in try node?.mapping().members ?? [] {
      guard names.contains(member.name) else {
        throw member.key.error(
          "no place {\(member.name)} in url or body",
          remedy: member.name == "id" ? "{id} is the value of item.id" : nil
        )
      }
      given[member.name] = try member.value.paths()
    }
    return given
  }
}
