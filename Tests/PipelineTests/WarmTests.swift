import Base
import Cache
import CurlTransport
import SampleStore
import Support
import Testing
import Transport

@testable import Pipeline

/// `warm` requests only stale and missing data, the most valuable first.
struct WarmTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 3, items: 4)
  }

  private func warm(parallel: Int? = nil, maxBytes: ByteCount? = nil) throws -> SyncReport {
    var options = SyncOptions()
    options.onlyDue = true
    var transport = shop.transportOptions()
    transport.parallel = parallel.map { .fixed($0) } ?? .auto
    transport.maxBytes = maxBytes
    return try shop.sync(folder, options: options, transport: transport)
  }

  /// The paths of the requested pictures, in order.
  private var asked: [String] {
    shop.store.requests.map(\.path).filter { $0.hasPrefix("/pictures/") }
  }

  @Test func `fresh data causes no request`() throws {
    shop.store.faults = [FaultRule("/shop/*", .header("Cache-Control", "max-age=3600"))]
    #expect(try warm().outcome == .complete)
    shop.store.clearRequests()
    shop.clock.advance(3000)

    let report = try warm()

    #expect(report.outcome == .complete)
    #expect(report.requests == 0 && shop.store.requests.isEmpty)
    #expect(report.items.total == 12 && report.pictures.fresh == 37)
    #expect(report.sections.allSatisfy { $0.source == .unchanged })
    #expect(report.details.unchanged == 12)
  }

  @Test func `an added section causes no request for other sections and details`() throws {
    shop.store.faults = [FaultRule("/shop/*", .header("Cache-Control", "max-age=3600"))]
    func section(_ key: String) -> String { "{key: \(key), title: \(key), url: \(key)}" }
    let two = try shop.catalog(sections: "[\(section("A")), \(section("B"))]")
    let three = try shop.catalog(
      sections: "[\(section("C")), \(section("A")), {key: B, title: renamed, url: B}]"
    )
    var options = SyncOptions()
    options.onlyDue = true
    #expect(try shop.sync(folder, two, options: options).outcome == .complete)
    shop.store.clearRequests()

    let report = try shop.sync(folder, three, options: options)

    let asked = shop.store.requests.map(\.path).filter { $0.hasPrefix("/shop/") }
    // A renamed section is read again, but the sections after it in the file are not.
    let new = ["/shop/B", "/shop/C"] + (1...4).map { "/shop/detail/C\($0)" }
    #expect(asked.sorted() == new)
    #expect(report.sections.map(\.title) == ["C", "A", "renamed"])
    #expect(report.outcome == .complete && report.details.unchanged == 8)
  }

  @Test
  func `pictures that did not fit into one run are first in the next, and none is fetched twice`()
    throws
  {
    _ = try warm(parallel: 1, maxBytes: 9_000)
    var runs = 1
    while try warm(parallel: 1, maxBytes: 9_000).outcome != .complete, runs < 20 { runs += 1 }

    let pictures = shop.store.requestCounts.filter { $0.key.hasPrefix("/pictures/") }
    #expect(runs > 1 && runs < 20)
    #expect(pictures.count == 37)
    // The picture at which the byte limit was reached is requested again.
    #expect(pictures.values.filter { $0 > 1 }.count <= runs)
    #expect(try verify(folder).isClean)
  }

  @Test func `new pictures are first, then those of changed items, then the longest unseen`()
    throws
  {
    // B1's thumbnail is known, and was seen before all others.
    shop.items["A"] = []
    shop.items["C"] = []
    shop.items["B"] = [SampleShop.Item("B1")]
    try shop.publish()
    _ = try warm()
    shop.clock.advance(100)
    shop.items["C"] = [SampleShop.Item("C1")]
    try shop.publish()
    _ = try warm()
    shop.clock.advance(4000)
    // C1's title changes, and A1 is new.
    shop.items["C"]?[0].title = "Another"
    shop.items["A"] = [SampleShop.Item("A1")]
    try shop.publish()
    shop.store.clearRequests()

    let report = try warm(parallel: 1)

    #expect(report.outcome == .complete)
    let lists = asked.filter { $0.hasSuffix("-thumb.jpg") }
    #expect(
      lists == ["/pictures/A1-thumb.jpg", "/pictures/C1-thumb.jpg", "/pictures/B1-thumb.jpg"]
    )
  }

  @Test
  func `a picture missing at the origin is requested less and less often, and reported once`()
    throws
  {
    let store = try SampleStore(
      shop.store.content,
      faults: FaultScript(text: "path=/pictures/A1-thumb.jpg status=404"),
      clock: { [clock = shop.clock] in Double(clock.now.seconds) }
    )
    defer { store.stop() }
    var options = SyncOptions()
    options.onlyDue = true
    options.base = "\(store.baseURL)/shop/"
    var transport = shop.transportOptions()
    transport.namedHosts = [HostPort(host: "127.0.0.1", port: store.port)]

    for hour in 0..<72 {
      let report = try shop.sync(folder, options: options, transport: transport)

      #expect(report.outcome == (hour == 0 ? .partial : .complete), "hour \(hour)")
      #expect(report.failures.map(\.reason) == ["http-404"])
      #expect(report.failures.map(\.isKnown) == [hour > 0])
      #expect(report.pictures.failed == 1)
      shop.clock.advance(3600)
    }

    // The picture is requested at 0, 1, 2, 4, 8, 16, 32 and 56 hours.
    #expect(store.requestCounts["/pictures/A1-thumb.jpg"] == 8)
  }

  @Test(
    arguments: [
      ("http-404", 0, 3600, 3600), ("http-410", 0, 500_000, 86_400), ("http-404", 5, 5, 0),
      ("not-a-picture", 0, 7200, 7200), ("http-503", 0, 7200, 0), ("http-429", 0, 7200, 0),
      ("timeout-idle", 0, 7200, 0), ("http-404", 9000, 5, 0), ("http-401", 0, 7200, 0),
      ("http-403", 0, 7200, 0),
    ] as [(String, UnixTime, UnixTime, Int64)]
  )
  func `only a failure of the picture itself is retried less often`(
    _ reason: String,
    _ since: UnixTime,
    _ now: UnixTime,
    _ seconds: Int64
  ) {
    #expect(
      FailureBackoff.seconds(after: .init(rawValue: reason), since: since, now: now) == seconds
    )
  }

  @Test func `catalogs take turns, a new one first`() {
    #expect(WarmPlan([900, 800, 700, nil], minInterval: nil, now: 1000).due == [3, 2, 1, 0])
  }

  @Test func `an interval is measured from start to start, and a clock set back stops no run`() {
    let starts: [UnixTime?] = [900, 100, nil, 5000, 400]

    let plan = WarmPlan(starts, minInterval: 600, now: 1000)

    #expect(plan.recent == [0])
    #expect(plan.due == [2, 3, 1, 4])
    #expect(WarmPlan(starts, minInterval: nil, now: 1000).recent == [])
  }
}
