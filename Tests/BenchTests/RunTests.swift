import Base
import CurlTransport
import Foundation
import SampleStore
import Support
import Synchronization
import Testing
import Transport

@testable import Bench

/// Measurements against a sample store.
@Suite struct RunTests {
  @Test func `a catalog is measured cold, warm and revalidating`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    let source = BenchSource.catalog(try shop.catalog(), folder: "", options: .init())

    let report = try BenchRun(plan(runs: 2), source, surroundings(folder, shop)).run()

    #expect(report.runs.map(\.pass) == [.cold, .warm, .revalidate])
    #expect(report.runs.map(\.parallel) == [4, 4, 4])
    let pictures = 37  // A thumbnail, a top and a gallery picture for each of 12, and one for all.
    #expect(report.runs.map(\.images) == [pictures, pictures, pictures])
    #expect(report.runs.map(\.requests) == [2 * pictures, 0, 2 * pictures])
    #expect(report.runs.map { $0.statuses["304"] } == [nil, nil, 2 * pictures])
    #expect(report.runs.map(\.bytes) == [ByteCount(400 * pictures), 0, 0])
    #expect(report.runs.allSatisfy { $0.failures == 0 && $0.repetitions == 2 })
    #expect(report.runs[0].totalMilliseconds.count == 2 * pictures)
    #expect(report.runs[0].protocols == ["HTTP/1.1": 2 * pictures])
    #expect(report.best?.pass == .cold)
    #expect(report.latency.contains("coordinated omission"))
  }

  @Test func `a measurement leaves no files`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    let source = BenchSource.catalog(try shop.catalog(), folder: "", options: .init())

    _ = try BenchRun(plan(runs: 1), source, surroundings(folder, shop)).run()

    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func `a list of URLs is measured, and failures are counted by reason`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    let urls = ["/pictures/1.jpg", "/pictures/2.jpg", "/nothing.jpg"]
      .map { shop.store.baseURL + $0 }

    var plan = plan(runs: 1)
    plan.count = 3

    let report = try BenchRun(plan, .urls(urls), surroundings(folder, shop)).run()

    #expect(report.runs.map(\.images) == [2, 2, 2])
    #expect(report.runs[0].failureReasons == ["http-404": 1])
    #expect(report.failures == 3)
  }

  @Test func `with discarded bodies every pass fetches the pictures over the same connections`()
    throws
  {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    var plan = plan(runs: 1)
    plan.count = 37
    let urls = (0..<37).map { "\(shop.store.baseURL)/pictures/\($0).jpg" }

    let report = try BenchRun(plan, .urls(urls), surroundings(folder, shop)).run()

    #expect(report.runs.map(\.requests) == [37, 37, 37])
    #expect(report.runs.map(\.bytes) == [14_800, 14_800, 0])
    #expect(report.runs.map { $0.statuses["304"] } == [nil, nil, 37])
    #expect(report.runs[0].connections.opened > 0)
    #expect(report.runs[1].connections.opened == 0)
  }

  @Test func `answers are counted by status`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    shop.store.faults = try FaultScript(text: "path=/pictures/3.jpg status=404")
    var plan = plan(runs: 1)
    plan.passes = [.cold, .revalidate]
    plan.count = 12
    let urls = (0..<12).map { "\(shop.store.baseURL)/pictures/\($0).jpg" }

    let report = try BenchRun(plan, .urls(urls), surroundings(folder, shop)).run()

    #expect(report.runs.map(\.statuses) == [["200": 11, "404": 1], ["304": 11, "404": 1]])
  }

  @Test func `retries and connections are counted`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    shop.store.faults = try FaultScript(
      text: "path=/pictures/1.jpg hits=1 status=503 retry-after=0"
    )
    var plan = plan(runs: 1)
    plan.passes = [.cold]
    plan.count = 1

    let report = try BenchRun(
      plan,
      .urls(["\(shop.store.baseURL)/pictures/1.jpg"]),
      surroundings(folder, shop)
    ).run()

    #expect(report.runs.map(\.retries) == [1])
    #expect(report.runs.map(\.images) == [1])
  }

  @Test func `an added delay shows in every latency`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    shop.store.faults = try FaultScript(text: "path=/pictures/* delay=30ms")
    var plan = plan(runs: 1)
    plan.passes = [.cold]
    plan.count = 20
    let urls = (0..<20).map { "\(shop.store.baseURL)/pictures/\($0).jpg" }

    let report = try BenchRun(plan, .urls(urls), surroundings(folder, shop)).run()

    let row = try #require(report.runs.first)
    #expect((row.totalMilliseconds.p50 ?? 0) >= 30)
    #expect((row.ttfbMilliseconds.p50 ?? 0) >= 30)
  }

  @Test func `a server that is not running is an error with a reason`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    let closed = try ClosedPort()
    var plan = plan(runs: 1)
    plan.count = 1

    let urls = ["\(closed.baseURL)/pictures/1.jpg"]
    let around = surroundings(folder, shop, port: Int(closed.number))
    let run = BenchRun(plan, .urls(urls), around)

    #expect {
      try run.run()
    } throws: { error in
      (error as? LarderError)?.code == .unavailable && "\(error)".contains("connect-refused")
    }
  }

  @Test func `a stopped measurement reports what it measured so far`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    var plan = plan(runs: 3)
    plan.passes = [.cold]
    plan.count = 1
    let run = BenchRun(
      plan,
      .urls(["\(shop.store.baseURL)/pictures/1.jpg"]),
      surroundings(folder, shop)
    )

    let store = shop.store
    let report = try run.run { step in
      if step.repetition == 2 {
        store.faults = FaultScript([FaultRule("/pictures/*", .hang)])
        store.clearRequests()
        DispatchQueue.global().async {
          _ = store.waitForRequests(1)
          run.stop()
        }
      }
    }

    #expect(report.interrupted)
    #expect(report.runs.map(\.repetitions) == [1])
    #expect(report.runs.map(\.failures) == [0])
  }

  @Test func `a measurement that is stopped between two requests of a pass ends`() throws {
    let shop = try SampleShop()
    let folder = try TemporaryFolder()
    shop.store.faults = FaultScript([FaultRule("/pictures/*", .hang)])
    var plan = plan(runs: 1)
    plan.passes = [.cold]
    let stopping = StoppingTransport()
    var surroundings = surroundings(folder, shop)
    let make = surroundings.transport
    surroundings.transport = { parallel in
      let made = try make(parallel)
      stopping.transport.withLock { $0 = made }
      return stopping
    }
    let urls = (1...4).map { "\(shop.store.baseURL)/pictures/\($0).jpg" }
    let run = BenchRun(plan, .urls(urls), surroundings)
    stopping.run.withLock { $0 = run }

    let report = try run.run()

    stopping.run.withLock { $0 = nil }
    #expect(report.interrupted && report.runs.isEmpty)
    #expect(stopping.requests.load(ordering: .relaxed) == 1)
  }

  private func plan(runs: Int) -> BenchPlan {
    var plan = BenchPlan()
    plan.sweep = .levels([4])
    plan.runs = runs
    return plan
  }

  private func surroundings(
    _ folder: TemporaryFolder,
    _ shop: SampleShop,
    port: Int? = nil
  ) -> BenchSurroundings {
    let (port, clock) = (port ?? shop.store.port, shop.clock)
    var surroundings = BenchSurroundings(scratch: folder.path) { parallel in
      var options = TransportOptions()
      options.parallel = .fixed(parallel)
      options.namedHosts = [HostPort(host: "127.0.0.1", port: port)]
      options.retry.firstDelay = .milliseconds(1)
      options.retry.retries = 1
      return try CurlTransport(options)
    }
    surroundings.wall = { clock.now }
    return surroundings
  }
}

/// A transport that stops a measurement right after its first request.
private final class StoppingTransport: Fetching {
  let transport = Mutex<(any Fetching)?>(nil)
  let run = Mutex<BenchRun?>(nil)
  let requests = Atomic(0)

  private var base: any Fetching { transport.withLock { $0 } ?? FakeTransport() }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try self.base.parse(text, relativeTo: base)
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    requests.add(1, ordering: .relaxed)
    base.fetch(request, into: sink, completion: completion)
    run.withLock { $0 }?.stop()
  }

  func cancelAll() { base.cancelAll() }
}
