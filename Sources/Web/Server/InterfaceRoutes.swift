import Base
import Cache
import Catalog
import NIOCore
import Pipeline

/// Serves the catalog to apps, in the JSON that `larder list --json` and `larder show --json` print.
///
/// The paths begin with `/api/`, except `/openapi.json`, which describes them.
final class InterfaceRoutes: Sendable {
  /// The largest `limit` of a request.
  static let most = 200
  /// The default of `limit`, for a request without this parameter.
  static let usual = 100

  private let catalog: OpenCatalog
  private let pool: WorkPool
  private let description: PreparedAnswer

  init(_ content: ServerContent, _ pool: WorkPool) {
    catalog = content.catalog
    self.pool = pool
    let document = InterfaceDescription(squares: content.squares)
    description = PreparedAnswer(
      "application/vnd.oai.openapi+json;version=3.1",
      [],
      document.bytes
    )
  }

  func outcome(of request: ServerRequest) -> Site.Outcome {
    if request.target.segments == ["openapi.json"] {
      return .now(description.answer(request), .openapi)
    }
    let query: InterfaceQuery
    do throws(InterfaceQuery.Refusal) {
      query = try InterfaceQuery(request.target)
    } catch {
      return .now(.problem(error.status, error.words), .refused)
    }
    let key = query.key
    if let prepared = catalog.current?.answers[key] {
      return .now(prepared.answer(request), query.route)
    }
    return .later(query.route) { [self] done in
      pool.make({ [self] in made(query, key, request) }, done)
    }
  }

  private func made(_ query: InterfaceQuery, _ key: String, _ request: ServerRequest) -> Answer {
    do {
      let snapshot = try catalog.renewed()
      if let prepared = snapshot.answers[key] { return prepared.answer(request) }
      guard let prepared = try prepared(query, snapshot.reader) else {
        return .problem(404, query.nothing)
      }
      snapshot.answers.add(prepared, cost: prepared.cost, for: key)
      return prepared.answer(request)
    } catch {
      return .unreadable.caused(by: error)
    }
  }

  private func prepared(
    _ query: InterfaceQuery,
    _ reader: CatalogReader
  ) throws -> PreparedAnswer? {
    switch query.what {
    case .sections:
      return json(try SectionsDocument(reader).jsonLine())
    case .section(let key):
      guard let section = try reader.sections().first(where: { $0.key == key }) else {
        return nil
      }
      let items = try reader.items(of: section, from: query.offset, count: query.limit)
      let total = try reader.itemCount(of: section)
      return json(try ItemDocument.list(items, at: Self.place), paged(query, items, of: total))
    case .item(let id):
      guard let item = try reader.show(id) else { return nil }
      return json(try ItemDocument.show(item, at: Self.place))
    case .search(let search):
      var batches = try reader.batches(where: search)
      let (items, total) = try batches.page(from: query.offset, count: query.limit)
      return json(try ItemDocument.list(items, at: Self.place), paged(query, items, of: total))
    }
  }

  /// The header fields of a paged answer: the total number of items, and the link to the next page.
  private func paged(
    _ query: InterfaceQuery,
    _ items: [ShownItem],
    of total: Int
  ) -> [(name: String, value: String)] {
    [(name: "X-Total-Count", value: "\(total)")]
      + query.link(isMore: query.offset + items.count < total)
  }

  private func json(
    _ bytes: [UInt8],
    _ fields: [(name: String, value: String)] = []
  ) -> PreparedAnswer {
    PreparedAnswer("application/json", fields, bytes)
  }

  /// The path of a picture on this server.
  ///
  /// The path works even if the cache lacks the picture: the server then fetches it.
  private static func place(_ image: ShownPicture) -> String { "/" + image.name.path }
}

/// The answer to `/api/sections`: the catalog, its last run and its sections.
private struct SectionsDocument: Encodable {
  private struct Section: Encodable {
    let key: String
    let title: String
    @OrNull var subtitle: String?
    let items: Int
    let stale: Bool
    let url: String
  }

  private let catalog: String
  private let currency: String
  private let run: Int64
  private let synced: String?
  private let sections: [Section]

  init(_ reader: CatalogReader) throws {
    let last = try reader.lastRun()
    catalog = reader.catalog.name
    currency = reader.catalog.currency
    run = last.id.rawValue
    synced = last.finished?.rfc3339
    sections = try reader.sections().map { section in
      Section(
        key: section.key,
        title: section.title,
        subtitle: section.subtitle,
        items: try reader.itemCount(of: section),
        stale: section.isStale,
        url: "/api/sections/" + PercentEncoding.escaped(section.key)
      )
    }
  }
}

/// A request to the JSON interface, parsed and checked.
struct InterfaceQuery: Sendable {
  /// The requested resource.
  enum What: Sendable {
    case sections
    case section(String)
    case item(String)
    case search(ItemQuery)
  }

  /// The reason why a request is refused.
  struct Refusal: Error {
    let status: Int
    let words: String
  }

  let what: What
  /// The number of items to skip, from the parameter `offset`.
  private(set) var offset = 0
  /// The maximum number of items to return, from the parameter `limit`.
  private(set) var limit = InterfaceRoutes.usual
  private let target: RequestTarget

  /// The longest accepted search text or filter, in code points.
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
        words: "there is no such path; /openapi.json lists all paths"
      )
    }
    if isPaged {
      offset = try Self.number(target, "offset", 0...10_000_000) ?? 0
      limit = try Self.number(target, "limit", 1...InterfaceRoutes.most) ?? limit
    }
  }

  /// Whether `offset` and `limit` apply to the answer.
  private var isPaged: Bool {
    switch what {
    case .section, .search: true
    case .sections, .item: false
    }
  }

  /// The key of the answer in ``CatalogSnapshot/answers``, such as `section 0 100 soup`.
  ///
  /// Equivalent queries have the same key.
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

  /// The kind of path, for the counters of `/metrics`.
  var route: RequestRecord.Route {
    switch what {
    case .sections: .sections
    case .section: .section
    case .item: .item
    case .search: .search
    }
  }

  /// The message of a 404.
  var nothing: String {
    switch what {
    case .section: "there is no such section; /api/sections lists all"
    case .item: "there is no such item"
    case .sections, .search: "there is nothing"
    }
  }

  /// The header field `Link` with the address of the next page; empty if this is the last page. (RFC 8288)
  func link(isMore: Bool) -> [(name: String, value: String)] {
    guard isMore, isPaged else { return [] }
    var pairs = target.query.filter { !["offset", "limit"].contains($0.name) }
    pairs += [("offset", "\(offset + limit)"), ("limit", "\(limit)")]
    let path = target.segments.map { PercentEncoding.escaped($0) }.joined(separator: "/")
    return [("Link", "</\(path)?\(PercentEncoding.query(pairs))>; rel=\"next\"")]
  }

  /// The parameters that change the answer to a search, and therefore are part of its key.
  static let filters = ["q", "badge", "price", "sort"]

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
      guard let order = ItemSort(rawValue: text) else {
        let orders = ItemSort.allCases.map(\.rawValue).joined(separator: ", ")
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
