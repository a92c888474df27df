/// How a listing that comes in pages goes on.
public enum PagingRule: Hashable, Sendable {
  /// A query parameter counts the pages; the first empty page is the end.
  case parameter(name: String, first: Int, limit: Int)
  /// Each body names the next page; a body that names none is the last.
  case next(JSONPath, limit: Int)

  /// How many pages are read at most; whoever reads them holds to it, and says when the feed goes on.
  public var limit: Int {
    switch self {
    case .parameter(_, _, let limit), .next(_, let limit): limit
    }
  }

  /// Whether the URL of the next page is the feed's, not the catalog's.
  public var isNamedByBody: Bool {
    if case .next = self { true } else { false }
  }

  /// The URL of the first page.
  ///
  /// - Parameter url: The section's URL.
  /// - Returns: The URL text, with the parameter where pages are counted.
  public func firstPage(of url: String) -> String {
    switch self {
    case .parameter(let name, let first, _): Self.setting(name, to: first, in: url)
    case .next: url
    }
  }

  /// The URL of the page that follows.
  ///
  /// - Parameters:
  ///   - pagesRead: How many pages have been read, 1 or more.
  ///   - url: The section's URL.
  ///   - listing: What the last page held.
  /// - Returns: The URL text as the feed or the catalog wrote it, so it may be relative, to the last
  ///   page's URL when the feed wrote it; nil when there is no further page.
  public func nextPage(
    afterReading pagesRead: Int,
    of url: String,
    listing: DecodedListing
  ) -> String? {
    switch self {
    case .parameter(let name, let first, _):
      guard listing.elementCount > 0 else { return nil }
      return Self.setting(name, to: first + pagesRead, in: url)
    case .next: return listing.nextPage
    }
  }

  /// The rule as text that changes when another page would follow; the limit is no part of it.
  public var fingerprint: String {
    switch self {
    case .parameter(let name, let first, _): "parameter \(first) \(name)"
    case .next(let path, _): "next \(path)"
    }
  }

  /// Puts a parameter into a URL's query, in place of an earlier one. (RFC 3986, section 3.4)
  private static func setting(_ name: String, to value: Int, in url: String) -> String {
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
