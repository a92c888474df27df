import Cache
import Catalog
import Foundation
import Support
import Testing

@testable import Pipeline

/// Hourly runs of `warm` with a simulated clock, and a weekly sweep.
///
/// An ordinary test run simulates three days. `LARDER_YEAR=365` simulates a year and prints its statistics.
struct YearTests {
  @Test func `hourly runs keep the cache correct and small, and request no more than necessary`()
    throws
  {
    let days = ProcessInfo.processInfo.environment["LARDER_YEAR"].flatMap { Int($0) } ?? 3
    let folder = try TemporaryFolder()
    let clock = TestClock(1_700_006_400)
    let origin = YearOrigin(clock, days: days)
    let catalog = try CatalogFile(
      parsing: Array(
        """
        name: year
        currency: KRW
        base: \(YearOrigin.base)
        sections: [{key: a, url: a}, {key: b, url: b}]
        detail: {url: "detail/{id}", id: $.id, images: {gallery: "$.images[*]"}}
        items: $[*]
        item: {id: $.id, title: $.title, salePrice: $.price, images: {thumbnail: $.image}}
        """.utf8
      ),
      file: "year.yaml"
    )
    var outcomes: [String: Int] = [:]
    var early: (descriptors: Int, memory: Int) = (0, 0)
    var largest = 0
    for hour in 0..<days * 24 {
      var options = SyncOptions()
      options.onlyDue = true
      let report = try SyncRun(
        catalog,
        folder: folder.path,
        cache: folder.path("cache"),
        options: options,
        transport: origin,
        disk: SystemDisk(durable: false),
        now: { clock.now }
      ).run(holder: "a test")
      outcomes[report.outcome.rawValue, default: 0] += 1
      if origin.isDown { #expect(report.items.total == 80, "hour \(hour)") }
      if origin.isShrunk { #expect(report.outcome == .withheld || report.outcome == .partial) }
      if hour % (7 * 24) == 47 {
        var options = SweepOptions()
        options.history = .seconds(30 * 86_400)
        _ = try CacheGc(folder.path("cache"), options: options, now: clock.now)
          .run(holder: "a test")
        largest = max(largest, size(folder))
      }
      if hour == days * 24 / 4 { early = usage(folder) }
      if days > 3, hour % (30 * 24) == 30 * 24 - 1 || hour == days * 24 - 1 {
        say(hour + 1, outcomes, origin.count, folder, largest)
      }
      clock.advance(3600)
    }

    var late = usage(folder)
    // A run's queues release their objects a moment after it has ended.
    let patience = ContinuousClock.now + .seconds(10)
    while late.descriptors > early.descriptors, ContinuousClock.now < patience {
      poll(nil, 0, 5)
      late = usage(folder)
    }
    clock.advance(-1)
    #expect(try verify(folder).isClean)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    for key in ["a", "b"] {
      #expect(try reader.list(section: key).map(\.item.id) == origin.ids(key))
    }
    for image in try reader.list().flatMap(\.pictures) where image.state == .held {
      let path = String(image.url.dropFirst(YearOrigin.base.count))
      // A picture may be a day old, as its origin allows.
      let bytes = try folder.read("cache/\(try #require(image.path))")
      var allowed = [origin.picture(path)]
      clock.advance(-86_400)
      allowed.append(origin.picture(path))
      clock.advance(86_400)
      #expect(allowed.contains(bytes), "\(path)")
    }
    let count = origin.count
    #expect(count.needless == [:])
    #expect(folder.files(below: "cache/images").count < 260)
    #expect(late.descriptors <= early.descriptors)
    // In a short simulation other tests run in the same process and share its memory.
    if days > 3 { #expect(late.memory <= early.memory + 64 << 20) }
  }

  /// Prints statistics of a long simulation.
  private func say(
    _ runs: Int,
    _ outcomes: [String: Int],
    _ count: YearOrigin.Count,
    _ folder: TemporaryFolder,
    _ largest: Int
  ) {
    let (descriptors, memory) = usage(folder)
    print(
      "year: \(runs) runs \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }),",
      "requests \(count.requests), needless \(count.needless.values.reduce(0, +)),",
      "unanswered \(count.unanswered), absent \(count.absent), bodies \(count.bodies),",
      "files \(folder.files(below: "cache/images").count),",
      "cache \(size(folder)) bytes, largest \(largest), descriptors \(descriptors), memory \(memory)"
    )
  }

  /// The number of open descriptors of this test's files, and the memory of the process.
  private func usage(_ folder: TemporaryFolder) -> (descriptors: Int, memory: Int) {
    let files = FileManager.default
    let open = try? files.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
        .hasPrefix(folder.path) == true
    }
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
      .split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (open?.count ?? 0, (pages ?? 0) * 4096)
  }

  private func size(_ folder: TemporaryFolder) -> Int {
    folder.files(below: "cache").values.reduce(0) { $0 + $1.bytes }
  }
}
