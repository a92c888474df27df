import Foundation
import Larder
import SampleStore
import Support
import Synchronization
import Testing

/// The public interface of Larder, as used by a program that imports only this module.
@Suite struct ShopTests {
  private let shop: SampleShop
  private let folder: TemporaryFolder

  init() throws {
    shop = try SampleShop()
    folder = try TemporaryFolder()
    try folder.write(shop.catalogText(), to: "shop.yaml")
  }

  private func opened(cache: String = "cache") throws -> Shop {
    let clock = shop.clock
    return try Shop(
      catalog: folder.path("shop.yaml"),
      cache: folder.path(cache),
      environment: [:],
      clock: { Date(timeIntervalSince1970: Double(clock.now.seconds)) }
    )
  }

  @Test func `a sync gives items and files that can be read offline`()
    async throws
  {
    let larder = try opened()
    let steps = Mutex<[SyncProgress]>([])

    let report = try await larder.sync { step in steps.withLock { $0.append(step) } }

    #expect(report.outcome == .complete && report.failures.isEmpty)
    #expect(report.sections.map(\.key) == shop.keys)
    #expect(report.items.total == 12 && report.items.added.count == 12)
    let last = steps.withLock { $0.last }
    #expect(last?.pictures.done == report.pictures.total)
    #expect(last?.pictures.total == report.pictures.total)
    shop.store.stop()
    let items = try larder.items(in: "A")
    #expect(items.map(\.id) == ["A1", "A2", "A3", "A4"])
    for item in items {
      let thumbnail = try #require(item.thumbnail)
      let file = try #require(thumbnail.file)
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
      #expect(try bytes == SampleShop.bytes(of: "/pictures/\(item.id)-thumb.jpg"))
      #expect(thumbnail.state == .held && thumbnail.type == "image/jpeg")
      #expect(item.detail?.description == "More about \(item.id)")
    }
    #expect(try larder.item("B2")?.sections == ["B"])
    #expect(try larder.item("none") == nil)
    #expect(try larder.sections().map(\.key) == shop.keys)
  }

  @Test func `a second run requests nothing twice and reports the changes`() async throws {
    let larder = try opened()
    let first = try await larder.sync()
    shop.items["A"]?[0].title = "Another dish"
    shop.items["A"]?.removeLast()
    try shop.publish()

    let second = try await larder.sync()

    #expect(second.pictures.fetched == 0)
    #expect(second.items.removed == ["A4"])
    let change = try #require(second.items.changed.first)
    #expect(change.id == "A1" && change.field == "title")
    #expect(change.from == "Dish A1" && change.to == "Another dish")
    let changes = try await larder.changes()
    #expect(changes.old == first.run && changes.new == second.run)
    #expect(changes.items.removed.map(\.id) == ["A4"])
    #expect(try await larder.runs().map(\.outcome) == [.complete, .complete])
  }

  @Test func `the history returns changes since a moment, with prices, texts and pictures`()
    async throws
  {
    let larder = try opened()
    try await larder.sync()
    let first = Date(timeIntervalSince1970: Double(shop.clock.now.seconds))
    shop.clock.advance(86_400)
    shop.items["A"]?[0].price = "6,500원"
    shop.items["A"]?[0].title = "Another dish"
    shop.items["A"]?[1].thumbnail = "/pictures/other.jpg"
    shop.items["B"]?.removeLast()
    try shop.publish()
    let report = try await larder.sync()
    shop.store.stop()

    let all = try await larder.history()
    let one = try await larder.history(of: "A1", since: first.addingTimeInterval(0.5))

    #expect(all.map(\.id) == ["A1", "A1", "A2", "B4"])
    #expect(all.map(\.field) == [.salePrice, .title, .thumbnail, .removed])
    #expect(all.allSatisfy { $0.run == report.run && $0.date == first.addingTimeInterval(86_400) })
    #expect(one == Array(all.prefix(2)) && all[3].section == "B" && all[3].from == nil)
    #expect(all[0].from == .price(Price(minorUnits: 7000, currency: "KRW")))
    #expect(all[0].to == .price(Price(minorUnits: 6500, currency: "KRW")))
    #expect(all[1].to == .text("Another dish"))
    let digest = try #require(try larder.item("A2")?.thumbnail?.sha256)
    #expect(all[2].to == .pictures([digest]))
    #expect(try await larder.history(since: first.addingTimeInterval(90_000)) == [])
    #expect(try await larder.history(of: "none") == [])
    #expect(try await larder.history(since: .distantPast) == all)
    #expect(try await larder.history(since: Date(timeIntervalSince1970: .infinity)) == [])
  }

  @Test func `the lowest price covers the number of days given`() async throws {
    let larder = try opened()
    let start = Date(timeIntervalSince1970: Double(shop.clock.now.seconds))
    for price in ["5,000원", "6,000원", "7,000원"] {
      shop.items["A"]?[0].price = price
      try shop.publish()
      try await larder.sync()
      shop.clock.advance(20 * 86_400)
    }

    func lowest(_ days: Int) async throws -> [Double?] {
      let found = try await larder.lowestPrice(of: "A1", days: days)
      return [
        found.map { Double($0.price.minorUnits) },
        found.map { $0.since.timeIntervalSince(start) / 86_400 },
      ]
    }
    let table: [(days: Int, lowest: [Double?])] = [
      (.min, [7000, 40]), (0, [7000, 40]), (1, [6000, 20]), (20, [6000, 20]), (21, [5000, 0]),
      (.max, [5000, 0]),
    ]
    for row in table { #expect(try await lowest(row.days) == row.lowest, "\(row.days) days") }
    let usual = try await larder.lowestPrice(of: "A1")
    #expect(try larder.item("A1")?.lowest30Days == usual && usual?.price.minorUnits == 5000)
    #expect(try await larder.lowestPrice(of: "none") == nil)
  }

  @Test func `the catalog of an earlier moment can be read`() async throws {
    let larder = try opened()
    let first = try await larder.sync()
    let start = Date(timeIntervalSince1970: Double(shop.clock.now.seconds))
    let then = try larder.items()
    shop.clock.advance(86_400)
    shop.items["A"]?[0].price = "5,000원"
    shop.items["A"]?.removeLast()
    try shop.publish()
    try await larder.sync()

    let past = try await larder.catalog(at: start.addingTimeInterval(3600))
    let now = try await larder.catalog(at: .distantFuture)

    #expect(past.run == first.run && past.date == start)
    #expect(try past.items().map(\.item) == then.map(\.item))
    #expect(try past.items().map(\.lowest30Days) == then.map(\.lowest30Days))
    #expect(try past.sections() == larder.sections())
    #expect(try past.item("A4")?.title == "Dish A4" && past.items(in: "A").count == 4)
    #expect(try now.items() == larder.items() && now.item("A4") == nil)
    let section = #expect(throws: LarderError.self) { try past.items(in: "Z") }
    #expect(section?.code == .notFound)
    let early = await #expect(throws: LarderError.self) {
      try await larder.catalog(at: start.addingTimeInterval(-1))
    }
    #expect(early?.code == .notFound && early?.description.contains("--") == false)
  }

  @Test func `an empty history is an error that says so`() async throws {
    let larder = try opened(cache: "new")

    let history = await #expect(throws: LarderError.self) { try await larder.history() }
    let lowest = await #expect(throws: LarderError.self) {
      try await larder.lowestPrice(of: "A1")
    }
    let past = await #expect(throws: LarderError.self) {
      try await larder.catalog(at: .distantFuture)
    }

    #expect([history, lowest, past].map { $0?.code } == [.notFound, .notFound, .notFound])
  }

  @Test func `a failure is a part of the report, with its URL and a stable reason`() async throws {
    shop.store.faults = [FaultRule("/pictures/A1-thumb.jpg", .status(404))]

    let report = try await opened().sync()

    #expect(report.outcome == .partial)
    #expect(report.failures.map(\.reason) == ["http-404"])
    #expect(report.failures.first?.url == "\(shop.store.baseURL)/pictures/A1-thumb.jpg")
    #expect(report.failures.first?.stage == .picture)
  }

  @Test func `a listing with an unconfigured next page has a warning`() async throws {
    shop.store.faults.append(
      FaultRule("/shop/A", .header("Link", "</shop/A?page=2>; rel=\"next\""))
    )

    let report = try await opened().sync()

    #expect(report.sections.map { $0.warning != nil } == [true, false, false])
  }

  @Test func `a cancelled task ends the run, which keeps complete pictures`() async throws {
    let larder = try opened()
    let transport = Hanging()
    let hanging = Shop(
      larder.catalog,
      cache: folder.path("cache"),
      environment: [:],
      transport: transport
    )
    let task = Task { try await hanging.sync() }
    await transport.firstRequest()

    task.cancel()

    let report = try await task.value
    #expect(report.outcome == .interrupted)
    #expect(try await larder.sync().outcome == .complete)
  }

  @Test func `two runs never share a cache: the second is told who holds it`() async throws {
    let transport = Hanging()
    let larder = try opened()
    let hanging = Shop(
      larder.catalog,
      cache: folder.path("cache"),
      environment: [:],
      transport: transport
    )
    let task = Task { try await hanging.sync() }
    await transport.firstRequest()

    let error = await #expect(throws: LarderError.self) { try await larder.sync() }

    #expect(error?.code == .locked)
    task.cancel()
    _ = try await task.value
  }

  @Test func `many syncs at once do not block Swift's threads`() async throws {
    let larder = try opened()
    let transports = (0..<64).map { _ in Hanging() }
    let tasks = transports.enumerated().map { number, transport in
      let hanging = Shop(
        larder.catalog,
        cache: folder.path("cache\(number)"),
        environment: [:],
        transport: transport
      )
      return Task { try await hanging.sync() }
    }

    // Each call waits for the first request of one run. If every run blocked a thread of Swift's
    // pool, not all runs would get as far as a request.
    for transport in transports { await transport.firstRequest() }

    for task in tasks { task.cancel() }
    for task in tasks { #expect(try await task.value.outcome == .interrupted) }
  }

  @Test func `verify, sweep and export do the same as the commands`() async throws {
    let larder = try opened()
    try await larder.sync()
    let thumbnail = try #require(try larder.item("A1")?.thumbnail?.file)
    #expect(try await larder.verify().isClean)
    try Data([0]).write(to: URL(filePath: thumbnail))

    let found = try await larder.verify()
    try await larder.repair()

    #expect(found.damaged.count == 1 && !found.isClean)
    #expect(try larder.item("A1")?.thumbnail?.state == .missing)
    #expect(try await larder.sync().pictures.fetched == 1)
    #expect(try await larder.verify().isClean)
    let export = try await larder.export(to: folder.path("mirror"))
    #expect(export.missing.isEmpty && export.files > 0)
    #expect(folder.files(below: "mirror").keys.contains { $0.hasSuffix("catalog.json") })
    var options = SweepOptions()
    options.grace = .zero
    #expect(try await larder.sweep(options).pictures.isEmpty)
  }

  @Test func `a cancelled sweep or export is continued by the next one`()
    async throws
  {
    let larder = try opened()
    try await larder.sync()
    shop.items["A"]?.removeLast()
    try shop.publish()
    try await larder.sync()
    var options = SweepOptions()
    options.grace = .zero
    let mirror = folder.path("mirror")

    let (sweep, export) = try await Task { [options] in
      withUnsafeCurrentTask { $0?.cancel() }
      return (try await larder.sweep(options), try await larder.export(to: mirror))
    }.value

    #expect(sweep.unfinished > 0 && sweep.pictures.isEmpty)
    #expect(export.unfinished > 0 && export.files == 0)
    let rest = try await larder.sweep(options)
    #expect(rest.unfinished == 0 && rest.pictures.count == sweep.unfinished)
    #expect(try await larder.export(to: mirror).unfinished == 0)
  }

  @Test func `squares of every picture are stored, and found by the picture's URL`() async throws {
    let files = try StoreFiles()
    let larder = Shop(
      files.catalog,
      cache: folder.path("cache"),
      environment: [:],
      transport: files
    )
    var options = Shop.SyncOptions()
    options.square = 16

    let report = try await larder.sync(options)

    #expect(report.squares?.made == 1)
    let squares = try await larder.squares(side: 16)
    let thumbnail = try #require(try larder.items().first?.thumbnail)
    let file = try #require(squares[thumbnail.url])
    #expect(try Data(contentsOf: URL(filePath: file)).count > 0)
  }

  @Test func `a given transport answers instead of the network, also to conditional requests`()
    async throws
  {
    let files = try StoreFiles()
    let clock = shop.clock
    let larder = Shop(
      files.catalog,
      cache: folder.path("cache"),
      environment: [:],
      transport: files,
      clock: { Date(timeIntervalSince1970: Double(clock.now.seconds)) }
    )

    let first = try await larder.sync()
    clock.advance(86_400 * 400)
    let second = try await larder.sync()

    #expect(first.pictures.fetched == 1 && first.outcome == .complete)
    #expect(second.pictures.revalidated == 1 && second.outcome == .complete)
    #expect(files.asked.filter { $0["If-None-Match"] == "\"one\"" }.count == 1)
  }

  @Test func `a given transport receives a POST with its body, as for GraphQL`()
    async throws
  {
    let text = """
      name: graph
      currency: KRW
      base: https://shop.test/
      request: {method: POST, type: application/json, body: '{"query": "{ dishes }"}'}
      sections: [{key: main, title: Main, url: graphql}]
      items: $.data.dishes
      item: {id: $.detail_hash, title: $.title}
      """
    let catalog = try CatalogFile(parsing: Array(text.utf8), file: "graph.yaml")
    let graph = GraphQL()
    let larder = Shop(catalog, cache: folder.path("cache"), environment: [:], transport: graph)

    let report = try await larder.sync()

    #expect(report.items.added == ["A1"] && report.failures.isEmpty)
    #expect(graph.asked.map(\.method) == [.post])
    #expect(graph.asked.first?["Content-Type"] == "application/json")
    #expect(graph.asked.first?.body == Array(#"{"query": "{ dishes }"}"#.utf8))
  }

  @Test func `the report has the same values as its JSON`() async throws {
    var options = Shop.SyncOptions()
    options.square = 100
    let report = try await opened().sync(options)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any]
    )
    func keys(_ value: Any?) -> Set<String> { Set((value as? [String: Any] ?? [:]).keys) }
    func names(_ value: Any) -> Set<String> {
      Set(Mirror(reflecting: value).children.compactMap(\.label))
    }
    func camel(_ key: String) -> String {
      let words = key.split(separator: "_")
      return words.dropFirst().reduce(String(words[0])) { $0 + $1.capitalized }
    }
    func missing(_ keys: Set<String>, _ value: Any, _ renamed: [String: String] = [:]) -> Set<
      String
    > {
      Set(keys.map { renamed[$0] ?? camel($0) }).subtracting(names(value))
    }

    #expect(missing(keys(json["details"]), report.details) == [])
    #expect(missing(keys(json["images"]), report.pictures, ["unique": "total"]) == [])
    #expect(missing(keys(json["items"]), report.items) == [])
    let squares = try #require(report.squares)
    #expect(missing(keys(json["squares"]), squares, ["size": "side"]) == [])
    let sections = try #require(json["sections"] as? [[String: Any]])
    #expect(missing(keys(sections[0]), report.sections[0]) == [])
    #expect(sections[0].count > 3 && keys(json["details"]).count > 3)
  }

  @Test(arguments: [
    "square", "retries", "parallel", "perHost", "base", "deadline", "requestsPerSecond",
    "maxBytes",
  ])
  func `an option out of range is an error before any work`(_ name: String) async throws {
    var options = Shop.SyncOptions()
    switch name {
    case "square": options.square = 0
    case "retries": options.retries = 101
    case "parallel": options.parallel = 0
    case "perHost": options.perHost = 1025
    case "base": options.base = "store"
    case "deadline": options.deadline = .zero
    case "requestsPerSecond": options.requestsPerSecond = .nan
    default: options.maxBytes = -1
    }

    let error = await #expect(throws: LarderError.self) { try await opened().sync(options) }

    #expect(error?.code == .argument && error?.thing == name)
    #expect(folder.files(below: "cache").isEmpty)
  }

  @Test func `errors carry a code, the thing and errno, and name no option`()
    async throws
  {
    let nowhere = #expect(throws: LarderError.self) {
      _ = try Shop(catalog: folder.path("none.yaml"), cache: "cache")
    }
    #expect(nowhere?.code == .disk && nowhere?.errno == 2)
    #expect(nowhere?.thing == folder.path("none.yaml"))

    try folder.write("name: shop\ncurency: KRW\n", to: "wrong.yaml")
    let wrong = #expect(throws: LarderError.self) {
      _ = try Shop(catalog: folder.path("wrong.yaml"), cache: "cache")
    }
    #expect(wrong?.code == .catalog && wrong?.description.contains("curency") == true)

    let unsynced = #expect(throws: LarderError.self) { _ = try opened(cache: "new").items() }
    #expect(unsynced?.code == .notFound)
    #expect(unsynced.map { !"\($0)".contains("--") } == true)

    try await opened().sync()
    let section = #expect(throws: LarderError.self) { _ = try opened().items(in: "Z") }
    #expect(section?.code == .notFound && section?.thing == "Z")
  }
}
