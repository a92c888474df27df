import Catalog

/// What a request asks of the interface, read and judged.
struct InterfaceQuery: Sendable {
  /// What is asked for.
  enum What: Sendable {
    case sections
    case section(String)
    case item(String)
    case search(ItemQuery)
  }

  /// Why it is not answered.
  struct Refusal: Error {
    let status: Int
    let words: String
  }

  let what: What
  /// How many items are passed over.
  private(set) var offset = 0
  /// How many items there are at most.
  private(set) var limit = InterfaceRoutes.usual
  private let target: RequestTarget

  /// The longest text that is searched for, in code points.
  static let longest = 100

  init(_ target: RequestTarget) throws(Refusal) {
    self.target = target
    let parts = target.segments
    switch (parts.count, parts.dropFirst().first) {
    case (2, "sections"): what = .sections
    case (3, "sections"): what = .section(parts[2])
    case (3, "items"): what = .item(parts[2])
    case (2, "search"): what = .search(try Self.search(target))
    default:
      throw Refusal(
        status: 404,
        words: "there is no such path; /openapi.json names those there are"
      )
    }
    if isPaged {
      offset = try Self.number(target, "offset", 0...10_000_000) ?? 0
      limit = try Self.number(target, "limit", 1...InterfaceRoutes.most) ?? limit
    }
  }

  /// Whether it is answered a page at a time.
  private var isPaged: Bool {
    switch what {
    case .section, .search: true
    case .sections, .item: false
    }
  }

  /// Names the answer: what means the same has the same key, whatever else the query says.
  var key: String {
    let page = "\(offset) \(limit)"
    return switch what {
    case .sections: "sections"
    case .section(let key): "section \(page) \(key)"
    case .item(let id): "item \(id)"
    case .search:
      "search \(page) "
        + Self.filters.map { PercentEncoding.escaped(target.value($0) ?? "") }
        .joined(separator: "&")
    }
  }

  /// What kind of path it is.
  var route: RequestRecord.Route {
    switch what {
    case .sections: .sections
    case .section: .section
    case .item: .item
    case .search: .search
    }
  }

  /// What is said when there is no such thing.
  var nothing: String {
    switch what {
    case .section: "there is no such section; /api/sections names those there are"
    case .item: "no section lists such an item"
    case .sections, .search: "there is nothing"
    }
  }

  /// Where the next page is. (RFC 8288)
  func link(isMore: Bool) -> [(name: String, value: String)] {
    guard isMore, isPaged else { return [] }
    var pairs = target.query.filter { !["offset", "limit"].contains($0.name) }
    pairs += [("offset", "\(offset + limit)"), ("limit", "\(limit)")]
    let path = target.segments.map { PercentEncoding.escaped($0) }.joined(separator: "/")
    return [("Link", "</\(path)?\(PercentEncoding.query(pairs))>; rel=\"next\"")]
  }

  private static let filters = ["q", "badge", "price", "sort"]

  private static func search(_ target: RequestTarget) throws(Refusal) -> ItemQuery {
    for name in filters
    where target.value(name).map({ $0.unicodeScalars.count > longest }) ?? false {
      throw Refusal(status: 400, words: "\(name) is longer than \(longest) characters")
    }
    var query = ItemQuery(
      search: target.value("q").map(SearchText.init),
      badge: target.value("badge").map(SearchText.init)
    )
    if let text = target.value("price") {
      guard let price = PriceBounds(text) else {
        throw Refusal(status: 400, words: "price takes \(PriceBounds.expected)")
      }
      query.price = price
    }
    if let text = target.value("sort") {
      guard let order = ItemOrder(rawValue: text) else {
        let orders = ItemOrder.allCases.map(\.rawValue).joined(separator: ", ")
        throw Refusal(status: 400, words: "sort takes one of \(orders)")
      }
      query.order = order
    }
    return query
  }

  private static func number(
    _ target: RequestTarget,
    _ name: String,
    _ range: ClosedRange<Int>
  ) throws(Refusal) -> Int? {
    guard let text = target.value(name) else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text),
      range.contains(number)
    else {
      let words = "\(name) takes a number from \(range.lowerBound) to \(range.upperBound)"
      throw Refusal(status: 400, words: words)
    }
    return number
  }
}
