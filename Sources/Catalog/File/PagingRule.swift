import Base

/// How to request the pages of a listing after the first.
public struct PagingRule: Hashable, Sendable {
  /// The way to get from one page to the next.
  public var step: Step
  /// The requested number of elements on a page; nil for the shop's default.
  public var size: Size?
  /// The most pages to read.
  ///
  /// The reader enforces it, and reports a feed that has more.
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
    /// A query parameter counts elements, starting from the first page's value; the first empty page is the end.
    case offset(name: String, first: Int)
    /// A query parameter, or else the placeholder `{cursor}`, takes the value that each body
    /// names; a body that names none is the last.
    case cursor(name: String?, from: JSONPath)
    /// Each body names the next page's URL; a body that names none is the last.
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

  /// Where a body names the next page, or its cursor.
  var path: JSONPath? {
    switch step {
    case .page, .offset, .link: nil
    case .cursor(_, let path), .next(let path): path
    }
  }

  /// The placeholder for the page in a URL or body, if it is used instead of a query parameter.
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

  /// Whether ``place`` is in the URL or body, and so selects the page.
  public func usesPlace(in url: String, _ request: RequestRule) -> Bool {
    place.map { $0.isIn(url) || $0.isIn(request.body) } ?? false
  }

  /// The URL of the first page.
  ///
  /// - Parameters:
  ///   - url: The section's URL.
  ///   - request: How it is requested.
  /// - Returns: The URL as text, with the query parameter if pages or elements are counted; placeholders are not
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

  /// The value of ``place`` on the page that follows.
  ///
  /// - Parameters:
  ///   - pagesRead: How many pages have been read, 1 or more.
  ///   - last: The value on the last page.
  ///   - listing: The content of the last page.
  /// - Returns: The text; nil when there is no further page.
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

  /// The URL of the page that follows, where a query parameter or the feed names it.
  ///
  /// - Parameters:
  ///   - pagesRead: How many pages have been read, 1 or more.
  ///   - url: The first page's URL.
  ///   - last: The last page's URL.
  ///   - listing: The content of the last page; its `nextPage` is from the `Link` header if the rule follows that.
  /// - Returns: The URL as the feed or the catalog file wrote it; nil when there is no further page. It may be
  ///   relative: from the feed, it is relative to the last page's URL.
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

  /// The rule as text that changes when other pages would be requested; the limit is not part of it.
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

  /// The whole number that a parameter has in a URL's query.
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
  /// The keys for the kind of paging; a rule has exactly one.
  private static let steps = ["page", "parameter", "offset", "cursor", "next", "link"]

  static func parse(_ node: YAMLNode) throws(CatalogError) -> PagingRule {
    let mapping = try node.mapping()
    try mapping.checkKeys(.paging)
    var given = steps.filter { mapping[$0] != nil }
    // `from` alone: its value replaces {cursor} in the URL or body.
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
