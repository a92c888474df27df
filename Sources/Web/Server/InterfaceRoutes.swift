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
    description = PreparedAnswer(
      document: Self.description(squares: content.squares),
      "application/vnd.oai.openapi+json;version=3.1"
    )
  }

  /// The OpenAPI document of the interface.
  ///
  /// In `openapi.json`, the line about the parameter `square` has an empty list, which is filled with the sizes that
  /// clients can request. If there are none, the line is left out.
  static func description(squares: [Int]) -> [UInt8] {
    let lines = String(decoding: PackageResources.openapi_json, as: UTF8.self).split(
      separator: "\n"
    )
    let (empty, sizes) = ("\"enum\": []", "\"enum\": \(squares)")
    let shown = squares.isEmpty ? lines.filter { !$0.contains(empty) } : lines
    return Array(shown.map { $0.replacing(empty, with: sizes) + "\n" }.joined().utf8)
  }

  func outcome(of request: ServerRequest) -> Site.Outcome {
    if request.target.segments == ["openapi.json"] {
      return .now(description.answer(request), .openapi)
    }
    do throws(Answer) {
      let query = try InterfaceQuery(request.target)
      if let prepared = catalog.current?.answers[query.key] {
        return .now(prepared.answer(request), query.route)
      }
      return .later(query.route) { [self] done in
        pool.make({ [self] in answer(query, request) }, done)
      }
    } catch {
      return .now(error, .refused)
    }
  }

  private func answer(_ query: InterfaceQuery, _ request: ServerRequest) -> Answer {
    do {
      let snapshot = try catalog.renewed()
      if let prepared = snapshot.answers[query.key] { return prepared.answer(request) }
      let prepared = try prepared(query, snapshot.reader)
      snapshot.answers.add(prepared, cost: prepared.body.readableBytes + 1024, for: query.key)
      return prepared.answer(request)
    } catch let answer as Answer {
      return answer
    } catch {
      return .unreadable.caused(by: error)
    }
  }

  private func prepared(
    _ query: InterfaceQuery,
    _ reader: CatalogReader
  ) throws -> PreparedAnswer {
    switch query.route {
    case .section:
      guard let section = try reader.sections().first(where: { $0.key == query.name }) else {
        throw Answer.problem(404, "there is no such section; /api/sections lists all")
      }
      let items = try reader.items(of: section, from: query.offset, count: query.limit)
      return try page(of: items, query, total: reader.itemCount(of: section))
    case .item:
      guard let item = try reader.show(query.name) else {
        throw Answer.problem(404, "there is no such item")
      }
      return PreparedAnswer(document: try ItemDocument.show(item, at: Self.place))
    case .search:
      var batches = try reader.batches(where: query.search)
      let (items, total) = try batches.page(from: query.offset, count: query.limit)
      return try page(of: items, query, total: total)
    default:
      return PreparedAnswer(document: try Self.sections(reader).jsonLine())
    }
  }

  /// The answer to `/api/sections`: the catalog, its last run and its sections.
  private static func sections(_ reader: CatalogReader) throws -> JSONMembers {
    let last = try reader.lastRun()
    let sections = try reader.sections().map { section in
      JSONMembers([
        "key": section.key, "title": section.title, "subtitle": section.subtitle,
        "items": try reader.itemCount(of: section), "stale": section.isStale,
        "url": "/api/sections/" + PercentEncoding.escaped(section.key),
      ])
    }
    return JSONMembers([
      "catalog": reader.catalog.name, "currency": reader.catalog.currency,
      "run": last.id.rawValue, "synced": last.finished?.rfc3339, "sections": sections,
    ])
  }

  /// One page of a list, with the total number of items and the link to the next page. (RFC 8288)
  private func page(
    of items: [ShownItem],
    _ query: InterfaceQuery,
    total: Int
  ) throws -> PreparedAnswer {
    var fields = [(name: "X-Total-Count", value: "\(total)")]
    if query.offset + items.count < total { fields.append(("Link", query.next)) }
    let list = try ItemDocument.list(items, at: Self.place)
    return PreparedAnswer(document: list, "application/json", fields)
  }

  /// The path of a picture on this server.
  ///
  /// The path works even if the cache lacks the picture: the server then fetches it.
  private static func place(_ image: ShownPicture) -> String { "/" + image.name.path }
}

/// A request to the JSON interface, parsed and checked.
struct InterfaceQuery: Sendable {
  /// The kind of the path: `sections`, `section`, `item` or `search`.
  let route: RequestRecord.Route
  /// The last segment of the path: the key of the section, or the id of the item.
  let name: String
  /// The filters and the order of a search.
  private(set) var search = ItemQuery()
  /// The number of items to skip, from the parameter `offset`.
  private(set) var offset = 0
  /// The maximum number of items to return, from the parameter `limit`.
  private(set) var limit = InterfaceRoutes.usual
  private let target: RequestTarget

  /// The longest accepted search text or filter, in code points.
  static let longest = 100
  /// The largest accepted `offset`.
  static let farthest = 10_000_000

  /// Parses a request.
  ///
  /// - Throws: The answer that refuses the request.
  init(_ target: RequestTarget) throws(Answer) {
    self.target = target
    let parts = target.segments
    name = parts.last ?? ""
    switch (parts.count, parts.dropFirst().first) {
    case (2, "sections"): route = .sections
    case (3, "sections"): route = .section
    case (3, "items"): route = .item
    case (2, "search"): route = .search
    default: throw .problem(404, "there is no such path; /openapi.json lists all paths")
    }
    if route == .search { search = try Self.search(target) }
    if route == .search || route == .section {
      offset = try Self.number(target, "offset", 0...Self.farthest) ?? 0
      limit = try Self.number(target, "limit", 1...InterfaceRoutes.most) ?? limit
    }
  }

  /// The key of the answer in ``CatalogSnapshot/answers``, such as `/api/sections/soup 0 100`.
  ///
  /// Equivalent queries have the same key.
  var key: String {
    let values = route == .search ? Self.filters.map { target.value($0) ?? "" } : []
    return ([target.path, "\(offset)", "\(limit)"] + values.map { PercentEncoding.escaped($0) })
      .joined(separator: " ")
  }

  /// The value of the header field `Link` with the address of the next page.
  var next: String {
    var pairs = target.query.filter { !["offset", "limit"].contains($0.name) }
    pairs += [("offset", "\(offset + limit)"), ("limit", "\(limit)")]
    let path = target.segments.map { PercentEncoding.escaped($0) }.joined(separator: "/")
    return "</\(path)?\(PercentEncoding.query(pairs))>; rel=\"next\""
  }

  /// The parameters that change the answer to a search, and therefore are part of its key.
  static let filters = ["q", "badge", "price", "sort"]

  private static func search(_ target: RequestTarget) throws(Answer) -> ItemQuery {
    for name in filters where (target.value(name) ?? "").unicodeScalars.count > longest {
      throw .problem(400, "\(name) is longer than \(longest) characters")
    }
    var query = ItemQuery(
      search: target.value("q").map(SearchText.init),
      badge: target.value("badge").map(SearchText.init)
    )
    if let text = target.value("price") {
      guard let price = PriceBounds(text) else {
        throw .problem(400, "price takes \(PriceBounds.expected)")
      }
      query.price = price
    }
    if let text = target.value("sort") {
      guard let order = ItemSort(rawValue: text) else {
        let orders = ItemSort.allCases.map(\.rawValue).joined(separator: ", ")
        throw .problem(400, "sort takes one of \(orders)")
      }
      query.order = order
    }
    return query
  }

  private static func number(
    _ target: RequestTarget,
    _ name: String,
    _ range: ClosedRange<Int>
  ) throws(Answer) -> Int? {
    guard let text = target.value(name) else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text),
      range.contains(number)
    else {
      throw .problem(
        400,
        "\(name) takes a number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return number
  }
}
