import Base

/// How to request the pages of a listing after the first.
public struct PagingRule: Hashable, Sendable {
  /// The way to get from one page to the next.
  public var step: Step
  /// The requested number of elements on a page; nil for the shop's default.
  public var size: Size?
  /// The maximum number of pages to read.
  ///
  /// The reader of the pages enforces this limit, and reports a feed that has more pages.
  public var limit: Int

  /// Makes a rule.
  public init(_ step: Step, size: Size? = nil, limit: Int = 1000) {
    self.step = step
    self.size = size
    self.limit = limit
  }

  /// The way to get from one page to the next.
  public enum Step: Hashable, Sendable {
    /// A query parameter counts the pages; the first empty page is the end.
    case page(name: String, first: Int)
    /// A query parameter counts elements; on the first page it is `first`.
    ///
    /// The first empty page is the end.
    case offset(name: String, first: Int)
    /// Each body names the value of a query parameter, or of the placeholder `{cursor}`, for the next page.
    ///
    /// A body without such a value is the last page.
    case cursor(name: String?, from: JSONPath)
    /// Each body names the next page's URL; a body without such a URL is the last page.
    case next(JSONPath)
    /// The response's `Link` header names the next page's URL, with `rel=next`. (RFC 8288)
    case link
  }

  /// A query parameter that says how many elements a page may have.
  public struct Size: Hashable, Sendable {
    /// The parameter.
    public var name: String
    /// The number of elements.
    public var value: Int

    /// Makes a size.
    public init(name: String, value: Int) {
      self.name = name
      self.value = value
    }
  }

  /// The path in a body to the next page's URL or cursor; nil if bodies do not name the next page.
  var path: JSONPath? {
    switch step {
    case .page, .offset, .link: nil
    case .cursor(_, let path), .next(let path): path
    }
  }

  /// The placeholder that can select the page in a URL or body; if it is there, the query parameter is not used.
  public var place: Placeholder? {
    switch step {
    case .page: .page
    case .offset: .offset
    case .cursor: .cursor
    case .next, .link: nil
    }
  }

  /// The value of ``place`` on the first page.
  public var firstValue: String {
    switch step {
    case .page(_, let first): String(first)
    case .offset(_, let first): String(first)
    case .cursor, .next, .link: ""
    }
  }

  /// Whether ``place`` is in the URL or body, and therefore selects the page.
  public func usesPlace(in url: String, _ request: RequestRule) -> Bool {
    place.map { $0.isIn(url) || $0.isIn(request.body) } ?? false
  }

  /// The URL of the first page.
  ///
  /// - Parameters:
  ///   - url: The section's URL.
  ///   - request: How the section is requested.
  /// - Returns: The URL as text. If pages or elements are counted, it has the query parameter; placeholders are not
  ///   filled.
  public func firstPage(of url: String, _ request: RequestRule = RequestRule()) -> String {
    let hasSize = Placeholder.size.isIn(url) || Placeholder.size.isIn(request.body)
    let parameter = hasSize ? nil : size
    let sized =
      parameter.map { Self.setting($0.name, to: String($0.value), in: url) } ?? url
    if usesPlace(in: url, request) { return sized }
    switch step {
    case .page(let name, let first), .offset(let name, let first):
      return Self.setting(name, to: String(first), in: sized)
    case .cursor, .next, .link: return sized
    }
  }

  /// The value of ``place`` for the next page.
  ///
  /// - Parameters:
  ///   - pagesRead: How many pages have been read, 1 or more.
  ///   - last: The value for the last page that was read.
  ///   - listing: The content of the last page that was read.
  /// - Returns: The value; nil when there is no further page.
  public func nextValue(
    afterReading pagesRead: Int,
    last: String,
    listing: DecodedListing
  ) -> String? {
    switch step {
    case .page(_, let first): listing.elementCount > 0 ? String(first + pagesRead) : nil
    case .offset(_, let first):
      // A page may have fewer elements than requested without being the last.
      listing.elementCount > 0 ? String((Int(last) ?? first) + listing.elementCount) : nil
    case .cursor, .next, .link: listing.nextPage
    }
  }

  /// The URL of the next page, if a query parameter or the feed selects the page.
  ///
  /// - Parameters:
  ///   - pagesRead: How many pages have been read, 1 or more.
  ///   - url: The first page's URL.
  ///   - last: The URL of the last page that was read.
  ///   - listing: The content of that page. Its `nextPage` is from the `Link` header if the rule is ``Step/link``.
  /// - Returns: The URL as text; nil when there is no further page. A URL from the feed may be relative to the last
  ///   page's URL.
  public func nextPage(
    afterReading pagesRead: Int,
    of url: String,
    last: String,
    listing: DecodedListing
  ) -> String? {
    func value(after last: String) -> String? {
      nextValue(afterReading: pagesRead, last: last, listing: listing)
    }
    switch step {
    case .page(let name, _):
      return value(after: "").map { Self.setting(name, to: $0, in: url) }
    case .offset(let name, let first):
      let before = Self.number(name, in: last) ?? first
      return value(after: String(before)).map { Self.setting(name, to: $0, in: url) }
    case .cursor(let name, _):
      guard let name else { return nil }
      return listing.nextPage.map { Self.setting(name, to: PercentEncoding.escaped($0), in: url) }
    case .next, .link: return listing.nextPage
    }
  }

  /// Whether a URL's query already has a parameter that this rule would set.
  func hasParameter(in url: String) -> Bool {
    let names: [String?] =
      switch step {
      case .page(let name, _), .offset(let name, _): [name, size?.name]
      case .cursor(let name, _): [name, size?.name]
      case .next, .link: [size?.name]
      }
    let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
      .replacing("%5B", with: "[").replacing("%5D", with: "]")
    return query.split(separator: "&").contains { part in
      names.contains { name in name.map { part == $0 || part.hasPrefix("\($0)=") } ?? false }
    }
  }

  /// The rule as text.
  ///
  /// The text changes when the rule would request a page differently. The limit is left out, because it only says
  /// where to stop.
  public var fingerprint: String {
    let words =
      switch step {
      case .page(let name, let first): "parameter \(first) \(name)"
      case .offset(let name, 0): "offset \(name)"
      case .offset(let name, let first): "offset \(first) \(name)"
      case .cursor(let name, let path): "cursor \(name ?? "") \(path)"
      case .next(let path): "next \(path)"
      case .link: "link"
      }
    return size.map { "\(words) size \($0.value) \($0.name)" } ?? words
  }

  /// The whole number that a parameter has in a URL's query; nil for any other value.
  private static func number(_ name: String, in url: String) -> Int? {
    let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    let value = query.split(separator: "&").first { $0.hasPrefix("\(name)=") }
    return value.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  /// Sets a parameter of a URL's query, replacing an earlier one. (RFC 3986, section 3.4)
  private static func setting(_ name: String, to value: String, in url: String) -> String {
    let withoutFragment = url.prefix { $0 != "#" }
    let fragment = url.dropFirst(withoutFragment.count)
    let path = withoutFragment.prefix { $0 != "?" }
    let query = withoutFragment.dropFirst(path.count + 1)
    let others = query.split(separator: "&").filter {
      $0 != name && !$0.hasPrefix("\(name)=")
    }
    let parameters = others.map(String.init) + ["\(name)=\(value)"]
    return "\(path)?\(parameters.joined(separator: "&"))\(fragment)"
  }
}

/// Reads `paging:` of a catalog file.
enum PagingParser {
  /// The keys that select the kind of paging; a rule has exactly one of them.
  private static let steps = ["page", "parameter", "offset", "cursor", "next", "link"]

  static func parse(_ node: YAMLNode) throws(CatalogError) -> PagingRule {
    let mapping = try node.mapping()
    try mapping.checkKeys(.paging)
    var given = steps.filter { mapping[$0] != nil }
    // If `from` is the only key, its value replaces {cursor} in the URL or body.
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

  /// Refuses keys that belong to another kind of paging.
  private static func check(_ mapping: YAMLMapping, _ step: String) throws(CatalogError) {
    for (key, owners) in [
      ("first", ["page", "parameter", "offset"]), ("from", ["cursor", "from"]),
    ] {
      guard let value = mapping[key], !owners.contains(step) else { continue }
      throw value.error("belongs to \(owners[0]), not to \(step)")
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
