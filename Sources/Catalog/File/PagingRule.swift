import Base

/// How to request the further pages of a list of items: `paging:` in a catalog file.
///
/// For example, `{page: p}` requests `list?p=1`, `list?p=2` and so on.
public struct PagingRule: Hashable, Sendable {
  /// The way to get from one page to the next.
  public var step: Step
  /// The number of elements to request for each page; nil to request the shop's default.
  public var size: Size?
  /// The maximum number of pages to read.
  ///
  /// The caller that requests the pages enforces this limit. It reports a list that has more pages.
  public var limit = 1000

  /// The way to get from one page to the next.
  public enum Step: Hashable, Sendable {
    /// A query parameter is the number of the page. The list ends with the first empty page.
    ///
    /// `first` is the number of the first page, usually 1.
    case page(name: String, first: Int)
    /// A query parameter is the number of elements on all earlier pages. The list ends with the first empty page.
    ///
    /// `first` is the value for the first page, usually 0.
    case offset(name: String, first: Int)
    /// The response contains a cursor for the next page. A response without a cursor is the last page.
    ///
    /// The cursor becomes the value of the query parameter `name`. If `name` is nil, it replaces the placeholder
    /// `{cursor}`.
    case cursor(name: String?, from: JSONPath)
    /// The response contains the URL of the next page. A response without such a URL is the last page.
    case next(JSONPath)
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

  /// The path in a response to the URL or the cursor of the next page, or nil if responses have neither.
  var path: JSONPath? {
    switch step {
    case .page, .offset, .link: nil
    case .cursor(_, let path), .next(let path): path
    }
  }

  /// The query parameter that selects the page, or nil if a placeholder or the response does.
  private var parameter: String? {
    switch step {
    case .page(let name, _), .offset(let name, _): name
    case .cursor(let name, _): name
    case .next, .link: nil
    }
  }

  /// The number in the parameter or placeholder for the first page, or nil if it is not a number.
  private var first: Int? {
    switch step {
    case .page(_, let first), .offset(_, let first): first
    case .cursor, .next, .link: nil
    }
  }

  /// The placeholder that can select the page in the section's URL or request body.
  ///
  /// If the URL or the body has this placeholder, no query parameter is added to the URL.
  public var place: Placeholder? {
    switch step {
    case .page: .page
    case .offset: .offset
    case .cursor: .cursor
    case .next, .link: nil
    }
  }

  /// The value of ``place`` for the first page.
  public var firstValue: String { first.map(String.init) ?? "" }

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
    guard !usesPlace(in: url, request), let parameter, let first else { return sized }
    return Self.setting(parameter, to: String(first), in: sized)
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
    case .page(_, let first): listing.elementCount > 0 ? String(first + pagesRead) : nil
    case .offset(_, let first):
      // A page can have fewer elements than requested without being the last.
      listing.elementCount > 0 ? String((Int(last) ?? first) + listing.elementCount) : nil
    case .cursor, .next, .link: listing.nextPage
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
    var last = last
    switch step {
    case .next, .link: return listing.nextPage
    case .offset(let name, let first): last = String(Self.number(name, in: last) ?? first)
    case .page, .cursor: break
    }
    guard let parameter,
      let value = nextValue(afterReading: pagesRead, last: last, listing: listing)
    else { return nil }
    // A number has no characters to encode.
    return Self.setting(parameter, to: PercentEncoding.escaped(value), in: url)
  }

  /// Whether the query of a URL already has a parameter that this rule would set.
  func hasParameter(in url: String) -> Bool {
    let names = [parameter, size?.name].compactMap(\.self)
    let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
      .replacing("%5B", with: "[").replacing("%5D", with: "]")
    return query.split(separator: "&").contains { part in
      names.contains { part == $0 || part.hasPrefix("\($0)=") }
    }
  }

  /// A text that changes whenever the rule would request a page differently.
  ///
  /// It leaves out the limit, because the limit only says where to stop.
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

  /// The value of a parameter in the query of a URL, or nil if it is not a whole number.
  private static func number(_ name: String, in url: String) -> Int? {
    let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    let value = query.split(separator: "&").first { $0.hasPrefix("\(name)=") }
    return value.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  /// The URL with a parameter added to its query.
  ///
  /// It replaces a parameter with the same name. (RFC 3986, section 3.4)
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
  /// The keys that select the way of paging.
  ///
  /// A rule has exactly one of them, or else only `from`.
  private static let steps = ["page", "parameter", "offset", "cursor", "next", "link"]

  static func parse(_ node: YAMLNode) throws(CatalogError) -> PagingRule {
    let mapping = try node.mapping(.paging)
    var given = steps.filter { mapping[$0] != nil }
    // If the rule has only the key `from`, the cursor replaces {cursor} in the URL or body.
    if given.isEmpty, mapping["from"] != nil { given = ["from"] }
    guard given.count == 1, let step = given.first, let value = mapping[step] else {
      let words = steps.filter { $0 != "parameter" }.joined(separator: ", ")
      throw node.error("expected one of \(words)", expected: words)
    }
    try check(mapping, step)
    return PagingRule(
      step: try self.step(step, value, mapping),
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
      _ = try value.oneOf(["true"])
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
    let mapping = try node.mapping(.size)
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
