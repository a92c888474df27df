import Cache
import Catalog
import NIOCore
import Pipeline

/// The interface for apps: the catalog as `list --json` and `show --json` print it.
final class InterfaceRoutes: Sendable {
  /// The most items of one answer, and how many there are unless the request says.
  static let most = 200
  static let usual = 100

  private let shelf: CatalogShelf
  private let bench: Workbench
  private let description: PreparedAnswer

  init(_ content: ServerContent, _ bench: Workbench) {
    shelf = content.shelf
    self.bench = bench
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
    if let prepared = shelf.current?.answers[key] {
      return .now(prepared.answer(request), query.route)
    }
    return .later(query.route) { [self] done in
      bench.make({ [self] in made(query, key, request) }, done)
    }
  }

  private func made(_ query: InterfaceQuery, _ key: String, _ request: ServerRequest) -> Answer {
    do {
      let edition = try shelf.renewed()
      if let prepared = edition.answers[key] { return prepared.answer(request) }
      guard let prepared = try prepared(query, edition.reader) else {
        return .problem(404, query.nothing)
      }
      edition.answers.add(prepared, cost: prepared.cost, for: key)
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

  /// How many items there are in all, and where the next are.
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

  /// Where this server has a picture, held or not.
  private static func place(_ image: ShownImage) -> String { "/" + image.name.path }
}

/// What `/api/sections` says.
private struct SectionsDocument: Encodable {
  private struct Section: Encodable {
    let key: String
    let title: String
    let subtitle: String?
    let items: Int
    let stale: Bool
    let url: String

    enum Key: String, CodingKey { case key, title, subtitle, items, stale, url }

    func encode(to encoder: any Encoder) throws {
      var body = encoder.container(keyedBy: Key.self)
      try body.encode(key, forKey: .key)
      try body.encode(title, forKey: .title)
      // Always there, null when there is none.
      try body.encode(subtitle, forKey: .subtitle)
      try body.encode(items, forKey: .items)
      try body.encode(stale, forKey: .stale)
      try body.encode(url, forKey: .url)
    }
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
