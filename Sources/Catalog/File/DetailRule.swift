/// How the details of items are requested.
public struct DetailRule: Hashable, Sendable {
  /// The URL with placeholders such as `{id}`.
  ///
  /// Without a placeholder in URL or body, one document holds all details.
  public var urlTemplate: String { didSet { places = Self.places(urlTemplate, request) } }
  /// How details are requested; nil means a plain GET.
  public var request: RequestRule? { didSet { places = Self.places(urlTemplate, request) } }
  /// The placeholders in URL and body, which are replaced by an item's values.
  public private(set) var places: Set<Placeholder>

  /// Makes a rule.
  public init(urlTemplate: String, request: RequestRule? = nil) {
    self.urlTemplate = urlTemplate
    self.request = request
    places = Self.places(urlTemplate, request)
  }

  private static func places(_ urlTemplate: String, _ request: RequestRule?) -> Set<Placeholder> {
    Set(Placeholder.all(in: urlTemplate)).union(request?.itemPlaces ?? [])
  }

  /// Whether one document holds the details of all items.
  public var isShared: Bool { places.isEmpty }

  /// The values of the placeholders for an item.
  ///
  /// - Parameters:
  ///   - id: The item's id.
  ///   - fields: The values of the item's fields that are placeholders, by name.
  /// - Returns: The values by placeholder; placeholders without a value are left out.
  public func values(of id: String, _ fields: [String: String]?) -> [Placeholder: String] {
    var values: [Placeholder: String] = [:]
    for place in places { values[place] = place == .id ? id : fields?[place.rawValue] }
    return values
  }

  /// The URL of an item's detail if only the item's id is known; see ``url(filling:)``.
  public func url(for id: String) -> String? { url(filling: [.id: id]) }

  /// The URL of an item's detail.
  ///
  /// Each value becomes one segment of the path, or a part of a segment.
  ///
  /// All characters of a value except the unreserved ones are percent-encoded. (RFC 3986, section 2.3)
  ///
  /// - Parameter values: The values by placeholder.
  /// - Returns: The URL as text; nil when a segment would be `.` or `..`, because a server would read even an escaped
  ///   one as a folder. (RFC 3986, section 6.2.2.2)
  public func url(filling values: [Placeholder: String]) -> String? {
    // A segment can become `.` or `..` only if one of the values consists of dots.
    let hasDots = values.values.contains { $0.utf8.allSatisfy { $0 == UInt8(ascii: ".") } }
    if hasDots, makesDotSegment(of: values) { return nil }
    return Placeholder.fill(url: urlTemplate, with: values)
  }

  /// Whether a path segment with placeholders would become `.` or `..` with these values.
  private func makesDotSegment(of values: [Placeholder: String]) -> Bool {
    let path = urlTemplate.prefix { $0 != "?" && $0 != "#" }
    return path.split(separator: "/").contains { segment in
      let filled = Placeholder.fill(url: String(segment), with: values)
      return filled != segment && [".", ".."].contains(filled)
    }
  }
}

/// Reads `detail:` of a catalog file: how details are requested.
enum DetailParser {
  /// A parsed rule, and the fields of a listing's items that replace its placeholders.
  struct Asking {
    /// How details are requested.
    var rule: DetailRule
    /// The paths in an item to the values of the placeholders, other than the id.
    var values: [Mapping.NoteRule]
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - node: The value of `detail`.
  ///   - mapping: How details are read.
  /// - Returns: The rule, with the paths to the values of its placeholders.
  /// - Throws: ``CatalogError`` with line, key and the expected value.
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

  /// Refuses braces in a URL that are not a placeholder.
  private static func check(_ template: String, _ node: YAMLNode) throws(CatalogError) {
    let places = Placeholder.all(in: template)
    let rest = Placeholder.fill(template, Set(places)) { _, _ in "" }.replacing("${", with: "")
    guard let open = rest.firstIndex(of: "{") else { return }
    throw node.error(
      "expected {id} or {NAME}, found \"\(rest[open...].prefix(40))\"",
      expected: "{id}",
      remedy: "a name has only letters, digits, - and _"
    )
  }

  /// The paths under `values`, by placeholder name.
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
          remedy: member.name == "id" ? "{id} is the value of item.id" : nil
        )
      }
      given[member.name] = try member.value.paths()
    }
    return given
  }
}
