import Base

/// How to request the further pages of a list of items: `paging:` in a catalog file.
///
/// For example, `{page: p}` requests `list?p=1`, `list?p=2` and so on.
public struct PagingRule: Hashable, Sendable {
  /// The way to get from one page to the next.
  public var step: Step
  /// The query parameter that selects the page.
  ///
  /// It is nil for ``Step/next`` and ``Step/link``, and for a cursor that replaces the placeholder `{cursor}`.
  public var parameter: String?
  /// The value of the parameter for the first page, if ``Step/page`` or ``Step/offset`` counts; usually 1 or 0.
  public var first = 0
  /// The path in a response to the cursor or the URL of the next page; nil if responses have neither.
  public var path: JSONPath?
  /// The number of elements to request for each page; nil to request the shop's default.
  public var size: Size?
  /// The maximum number of pages to read.
  ///
  /// The caller that requests the pages enforces this limit. It reports a list that has more pages.
  public var limit = 1000

  /// The way to get from one page to the next.
  public enum Step: String, Hashable, Sendable {
    /// The parameter is the number of the page. The list ends with the first empty page.
    case page
    /// The parameter is the number of elements on all earlier pages. The list ends with the first empty page.
    case offset
    /// The parameter is a cursor, which the response with the previous page contains. A response without a cursor is
    /// the last page.
    case cursor
    /// The response contains the URL of the next page. A response without such a URL is the last page.
    case next
    /// The response's `Link` header has the URL of the next page, with `rel=next`. (RFC 8288)
    case link
  }

  /// A query parameter with the number of elements that a page should have.
  public struct Size: Hashable, Sendable {
    /// The name of the parameter.
    public var name: String
    /// The number of elements.
    public var value: Int
  }

  /// Whether the parameter is a number.
  package var isCounted: Bool { step == .page || step == .offset }

  /// The placeholder that can select the page in the section's URL or request body.
  ///
  /// If the URL or the body has this placeholder, no query parameter is added to the URL.
  public var place: Placeholder? {
    isCounted || step == .cursor ? Placeholder(rawValue: step.rawValue) : nil
  }

  /// The value of ``place`` for the first page.
  public var firstValue: String { isCounted ? String(first) : "" }

  /// Whether the URL or the body of a request has the placeholder ``place``.
  public func usesPlace(in url: String, _ request: RequestRule) -> Bool {
    place.map { $0.isIn(url) || $0.isIn(request.body) } ?? false
  }

  /// The URL of the first page.
  ///
  /// - Parameters:
  ///   - url: The section's URL.
  ///   - request: How the section is requested.
  /// - Returns: The URL with the query parameters of the rule. If the URL or the body has a placeholder, the parameter
  ///   for the same value is left out. Placeholders are not replaced yet.
  public func firstPage(of url: String, _ request: RequestRule = RequestRule()) -> String {
    let hasSize = Placeholder.size.isIn(url) || Placeholder.size.isIn(request.body)
    let added = hasSize ? nil : size
    let sized = added.map { Self.setting($0.name, to: String($0.value), in: url) } ?? url
    guard isCounted, let parameter, !usesPlace(in: url, request) else { return sized }
    return Self.setting(parameter, to: firstValue, in: sized)
  }

  /// The value of ``place`` for the next page.
  ///
  /// - Parameters:
  ///   - pagesRead: The number of pages that have been read, 1 or more.
  ///   - last: The value for the last page that was read.
  ///   - listing: The content of the last page that was read.
  /// - Returns: The value, or nil if there is no further page.
  public func nextValue(
    afterReading pagesRead: Int,
    last: String,
    listing: DecodedListing
  ) -> String? {
    switch step {
    case .page: return listing.listedCount > 0 ? String(first + pagesRead) : nil
    case .offset:
      // A page can have fewer elements than requested without being the last.
      let count =
        listing.elementCount == size?.value ? listing.elementCount : listing.listedCount
      return count > 0 ? String((Int(last) ?? first) + count) : nil
    case .cursor, .next, .link: return listing.nextPage
    }
  }

  /// The URL of the next page, if a query parameter or the response selects the page rather than a placeholder.
  ///
  /// - Parameters:
  ///   - pagesRead: The number of pages that have been read, 1 or more.
  ///   - url: The first page's URL.
  ///   - last: The URL of the last page that was read.
  ///   - listing: The content of the last page that was read. For ``Step/link``, its `nextPage` must be the URL in the
  ///     `Link` header.
  /// - Returns: The URL, or nil if there is no further page. A URL from the response can be relative to `last`.
  public func nextPage(
    afterReading pagesRead: Int,
    of url: String,
    last: String,
    listing: DecodedListing
  ) -> String? {
    guard let parameter else { return step == .cursor ? nil : listing.nextPage }
    let before = step == .offset ? String(Self.number(parameter, in: last) ?? first) : ""
    let value = nextValue(afterReading: pagesRead, last: before, listing: listing)
    // A number has no characters to encode.
    return value.map { Self.setting(parameter, to: PercentEncoding.escaped($0), in: url) }
  }

  /// Whether the query of a URL already has a parameter that this rule would set.
  func hasParameter(in url: String) -> Bool {
    let plain = url.replacing("%5B", with: "[").replacing("%5D", with: "]")
    return [parameter, size?.name].compactMap(\.self).contains { name in
      Self.parts(of: plain).query.contains { Self.isParameter($0, name) }
    }
  }

  /// A text that changes whenever the rule would request a page differently.
  ///
  /// It leaves out the limit, because the limit only says where to stop. The number at its end counts up when larder
  /// records something else about pages, so that stored pages are requested in full once.
  public var fingerprint: String {
    let words = [parameter, path?.description, size?.name, size.map { String($0.value) }]
    return "\(step.rawValue) \(first) \(words) 2"
  }

  /// The value of a parameter in the query of a URL, or nil if it is not a whole number.
  private static func number(_ name: String, in url: String) -> Int? {
    let value = parts(of: url).query.first { $0.hasPrefix("\(name)=") }
    return value.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  /// The URL with a parameter added to its query.
  ///
  /// It replaces a parameter with the same name. (RFC 3986, section 3.4)
  private static func setting(_ name: String, to value: String, in url: String) -> String {
    let (path, query, fragment) = parts(of: url)
    let parameters = query.filter { !isParameter($0, name) } + ["\(name)=\(value)"]
    return "\(path)?\(parameters.joined(separator: "&"))\(fragment)"
  }

  private static func isParameter(_ part: Substring, _ name: String) -> Bool {
    part == name || part.hasPrefix("\(name)=")
  }

  /// The parts of a URL: everything before its query, the parameters of its query, and its fragment with the `#`.
  private static func parts(
    of url: String
  ) -> (path: Substring, query: [Substring], fragment: Substring) {
    let whole = url.prefix { $0 != "#" }
    let path = whole.prefix { $0 != "?" }
    return (path, whole.dropFirst(path.count + 1).split(separator: "&"), url[whole.endIndex...])
  }
}

/// Reads `paging:` of a catalog file.
enum PagingParser {
  /// The keys that select the way of paging.
  ///
  /// A rule has exactly one of them, or else only `from`.
  private static let steps = ["page", "parameter", "offset", "cursor", "next", "link"]

  static func parse(_ node: YAMLNode) throws(CatalogError) -> PagingRule {
    let mapping = try node.mapping(.paging)
    var given = steps.filter { mapping[$0] != nil }
    // If the rule has only the key `from`, the cursor replaces {cursor} in the URL or body.
    if given.isEmpty, mapping["from"] != nil { given = ["from"] }
    guard given.count == 1, let key = given.first, let value = mapping[key] else {
      let words = steps.filter { $0 != "parameter" }.joined(separator: ", ")
      throw node.error("expected one of \(words)")
    }
    try check(mapping, key)
    let step: PagingRule.Step = key == "from" ? .cursor : PagingRule.Step(rawValue: key) ?? .page
    var rule = PagingRule(step: step)
    switch key {
    case "next", "from": rule.path = try value.path()
    case "link": _ = try value.oneOf(["true"])
    default: rule.parameter = try parameter(value)
    }
    if key == "cursor" { rule.path = try mapping.required("from").path() }
    rule.first = try mapping["first"]?.number(in: 0...1_000_000) ?? (step == .page ? 1 : 0)
    rule.size = try mapping["size"].map(size)
    if let limit = mapping["limit"] { rule.limit = try limit.number(in: 1...1_000_000) }
    return rule
  }

  /// Refuses keys that belong to another way of paging.
  private static func check(_ mapping: YAMLMapping, _ step: String) throws(CatalogError) {
    for (key, owners) in [
      ("first", ["page", "parameter", "offset"]), ("from", ["cursor", "from"]),
    ] {
      guard let value = mapping[key], !owners.contains(step) else { continue }
      throw value.error("belongs to \(owners[0]), not to \(step)")
    }
  }

  private static func size(_ node: YAMLNode) throws(CatalogError) -> PagingRule.Size {
    let mapping = try node.mapping(.size)
    return PagingRule.Size(
      name: try parameter(mapping.required("name")),
      value: try mapping.required("value").number(in: 1...1_000_000)
    )
  }

  private static func parameter(_ node: YAMLNode) throws(CatalogError) -> String {
    let name = try node.filledText()
    guard name.utf8.allSatisfy({ $0 > 0x20 && !"&=#?".utf8.contains($0) }) else {
      throw node.error("\"\(name)\" is not a query parameter")
    }
    return name
  }
}
