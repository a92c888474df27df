import Cache
import CurlTransport
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The requests of a second run, which depend on the origin's headers and the clock.
struct RepetitionTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop
  /// A clock for the runs only.
  ///
  /// The clock of the origin stands still.
  private let clock = TestClock()

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1, clock: TestClock())
  }

  private func say(_ control: String, of path: String = "/pictures/*") {
    shop.store.faults = [FaultRule(path, .header("Cache-Control", control))]
  }

  /// Syncs with the runs' own clock.
  private func sync() throws -> SyncReport {
    let curl = try CurlTransport(shop.transportOptions())
    defer { curl.shutdown() }
    let clock = clock
    let run = SyncRun(
      try shop.catalog(),
      folder: folder.path,
      cache: folder.path("cache"),
      transport: curl,
      disk: SystemDisk(durable: false),
      now: { clock.now }
    )
    return try run.run(holder: "a test")
  }

  @Test(arguments: ["no-store", "no-cache", "no-store, max-age=3600"])
  func `a no-store picture is kept for the user and requested in every run`(
    _ control: String
  ) throws {
    say(control)
    #expect(try sync().pictures.fetched == 4)

    for _ in 1...2 {
      let report = try sync()

      #expect(report.outcome == .complete)
      #expect(report.pictures.revalidated == 4)
      #expect(report.pictures.fetched + report.pictures.fresh == 0)
      #expect(report.pictures.bytesHeld > 0)
    }
    #expect(try verify(folder).isClean)
  }

  @Test(arguments: [10, 200, 100_000] as [Int64], [1, -1] as [Int64])
  func `a clock that jumps by years costs at most one request, and recovers`(
    years: Int64,
    direction: Int64
  ) throws {
    say("max-age=3600")
    #expect(try sync().pictures.fetched == 4)
    #expect(try sync().pictures.fresh == 4)

    clock.advance(direction * years * 31_556_952)
    let away = try sync()
    clock.advance(-direction * years * 31_556_952)
    let back = try sync()
    let again = try sync()

    for report in [away, back] {
      #expect(report.outcome == .complete)
      #expect(report.pictures.fetched == 0)
      #expect(report.pictures.revalidated + report.pictures.fresh == 4)
    }
    #expect(away.pictures.revalidated == 4)
    #expect(again.pictures.fresh == 4)
    #expect(try verify(folder).isClean)
  }

  @Test(arguments: [
    ("max-age=0", 503), ("max-age=0, stale-if-error=600", 503),
    ("max-age=0, stale-if-error=600", 404),
  ])
  func `an error is a failure, whatever the origin allows`(control: String, status: Int) throws {
    say(control)
    #expect(try sync().pictures.fetched == 4)
    shop.store.faults = [FaultRule("/pictures/*", .status(status))]

    #expect(try sync().pictures.failed == 4)
  }
}
