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

  @Test func `an error within stale-if-error is not a failure`() throws {
    say("max-age=0, stale-if-error=600")
    #expect(try sync().pictures.fetched == 4)
    shop.store.faults = [FaultRule("/pictures/*", .status(503))]

    clock.advance(599)
    let excused = try sync()
    clock.advance(2)
    let late = try sync()

    #expect(excused.outcome == .complete && excused.failures.isEmpty)
    #expect(excused.pictures.fresh == 4 && excused.pictures.failed == 0)
    #expect(late.outcome == .partial)
    #expect(late.failures.map(\.reason) == Array(repeating: "http-503", count: 4))
    #expect(late.pictures.failed == 4 && late.pictures.bytesHeld > 0)
  }

  @Test
  func `a section and a detail within stale-if-error are shown unchanged, without a failure`()
    throws
  {
    say("max-age=0, stale-if-error=600", of: "/shop/*")
    let first = try sync()
    shop.store.faults = [FaultRule("/shop/*", .status(503))]

    clock.advance(599)
    let excused = try sync()
    clock.advance(2)
    let late = try sync()

    #expect(excused.outcome == .complete && excused.failures.isEmpty)
    // The report says that the items shown are not those that the origin has now.
    #expect(excused.sections.map(\.source) == [.stale])
    #expect(excused.sections.allSatisfy { $0.error?.contains("503") == true })
    #expect(excused.items.total == first.items.total && excused.items.removed.isEmpty)
    #expect(excused.details.unchanged == 1 && excused.details.failed == 0)
    #expect(excused.pictures.total == first.pictures.total)
    #expect(late.outcome == .partial)
    #expect(Set(late.failures.map(\.stage)) == [.section, .detail])
    #expect(late.sections.map(\.source) == [.stale])
    #expect(try verify(folder).isClean)
  }

  @Test(arguments: [
    ("max-age=0", 503), ("max-age=0, stale-if-error=600, must-revalidate", 503),
    ("no-cache, stale-if-error=600", 503), ("max-age=0, stale-if-error=600", 404),
  ])
  func `an error that the origin does not excuse is a failure`(control: String, status: Int) throws
  {
    say(control)
    #expect(try sync().pictures.fetched == 4)
    shop.store.faults = [FaultRule("/pictures/*", .status(status))]

    #expect(try sync().pictures.failed == 4)
  }
}
