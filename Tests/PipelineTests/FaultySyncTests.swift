import Base
import Cache
import CurlTransport
import Foundation
import SampleStore
import Support
import Synchronization
import Testing

@testable import Pipeline

/// Faults of an origin affect only the sections, details and pictures concerned.
struct FaultySyncTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 3, items: 4)
  }

  private func reader() throws -> CatalogReader {
    try CatalogReader(cache: folder.path("cache"), catalog: nil)
  }

  @Test(arguments: ["renamed", "merged", "split"])
  func
    `sections that are renamed, merged or split keep their items until the new ones can be read`(
      _ edit: String
    ) throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 20)
    shop.put(
      try SampleShop.json(shop.keys.flatMap { shop.items[$0] ?? [] }.map(\.listed)),
      at: "/shop/all"
    )
    let sections = [
      "renamed": "[{key: X, url: A}, {key: Y, url: B}]", "merged": "[{key: A, url: all}]",
      "split": "[{key: A, url: A}, {key: X, url: all}, {key: Y, url: B}]",
    ]
    let edited = try shop.catalog(sections: sections[edit])
    _ = try shop.sync(folder)
    shop.store.faults = [FaultRule("/shop/*", .status(500))]

    let down = try shop.sync(folder, edited)
    shop.store.faults = []
    let up = try shop.sync(folder, edited)

    #expect(down.items.removed.isEmpty && down.items.total == 40, "\(down.sections)")
    #expect(up.outcome == .complete && up.items.removed.isEmpty)
    let kept = try CatalogReader(cache: folder.path("cache"), catalog: nil).sections().map(\.key)
    #expect(
      kept == (edit == "renamed" ? ["X", "Y"] : edit == "merged" ? ["A"] : ["A", "X", "Y"])
    )
  }

  @Test func `a section that was split keeps only the items that no section has taken yet`() throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 20)
    let items = (shop.items["A"] ?? []).map(\.listed)
    shop.put(try SampleShop.json(Array(items.prefix(8))), at: "/shop/first")
    shop.put(try SampleShop.json(Array(items.dropFirst(8))), at: "/shop/second")
    let edited = try shop.catalog(sections: "[{key: X, url: first}, {key: Y, url: second}]")
    _ = try shop.sync(folder)
    shop.store.faults = [FaultRule("/shop/second", .status(500))]

    let half = try shop.sync(folder, edited)
    shop.store.faults = []
    let whole = try shop.sync(folder, edited)

    #expect(half.sections.map { "\($0.key) \($0.items)" }.sorted() == ["A 12", "X 8", "Y 0"])
    #expect(half.items.added.isEmpty && half.items.removed.isEmpty)
    #expect(whole.items.added.isEmpty && whole.items.removed.isEmpty && whole.items.total == 20)
  }

  @Test
  func
    `a section that was taken out of the catalog file goes although another cannot be read, if removals are allowed`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 20)
    _ = try shop.sync(folder)
    shop.store.faults = [FaultRule("/shop/A", .status(500))]
    let edited = try shop.catalog(sections: "[{key: A, url: A}]")
    var options = SyncOptions()

    let first = try shop.sync(folder, edited, options: options)
    options.allowRemovals = true
    let second = try shop.sync(folder, edited, options: options)

    #expect(first.sections.map(\.key).sorted() == ["A", "B"] && first.items.total == 40)
    #expect(second.sections.map(\.key) == ["A"] && second.items.total == 20)
  }

  @Test func `an empty section is valid`() throws {
    shop.items["B"] = []
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.sections.map(\.items) == [4, 0, 4])
    #expect(report.sections.allSatisfy { $0.error == nil })
    #expect(try reader().list(section: "B").isEmpty)
  }

  @Test func `a catalog whose sections are all empty is complete`() throws {
    for key in shop.keys { shop.items[key] = [] }
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.outcome == .complete)
    #expect(report.items.total == 0 && report.pictures.total == 0)
  }

  @Test func `a picture with an invalid URL fails in every run until the feed is repaired`()
    throws
  {
    shop.items["B"]?[1].thumbnail = "ftp://elsewhere.test/b.jpg"
    shop.items["C"]?[0].gallery = ["javascript:alert(1)"]
    try shop.publish()

    for _ in 1...2 {
      let report = try shop.sync(folder)

      #expect(report.outcome == .partial)
      #expect(report.pictures.failed == 2)
      #expect(report.failures.map(\.reason) == ["scheme-refused", "scheme-refused"])
      #expect(Set(report.failures.compactMap(\.id)) == ["B2", "C1"])
    }
  }

  @Test
  func
    `a section that fails in its first run is reported as failed, and the other sections are fetched`()
    throws
  {
    shop.store.faults = [FaultRule("/shop/B", .status(500))]

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.sections.map(\.source) == [.network, .failed, .network])
    #expect(report.sections[1].error?.contains("http-500") == true)
    #expect(report.failures.map(\.reason) == ["http-500"])
    #expect(report.failures.first?.stage == .section && report.failures.first?.id == "B")
    #expect(report.items.total == 8 && report.pictures.total == 25)
    #expect(try verify(folder).isClean)
  }

  @Test func `a section that hangs delays neither the other sections nor their pictures`() throws {
    shop.store.faults = [FaultRule("/shop/A", .hang)]
    let isThere = Mutex(false)

    let report = try shop.sync(folder) { run in
      let store = shop.store
      Thread.detachNewThread {
        // Everything for the other two sections is requested while the first one hangs.
        let all = store.waitForRequests(3 + 8 + 25)
        isThere.withLock { $0 = all }
        // Stopping the store closes the hanging connection.
        store.stop()
      }
    }

    #expect(isThere.withLock { $0 })
    #expect(report.outcome == .partial)
    #expect(report.sections.map(\.key) == ["A", "B", "C"])
    #expect(report.sections.map(\.source) == [.failed, .network, .network])
    #expect(report.details.fetched == 8)
    #expect(shop.store.requestCounts.count == 3 + 8 + 25)
  }

  @Test func `a section that never answers is given up in time`() throws {
    shop.store.faults = [FaultRule("/shop/A", .hang)]
    var options = shop.transportOptions()
    options.transferTimeout = .seconds(2)

    let report = try shop.sync(folder, transport: options)

    #expect(report.sections.map(\.source) == [.failed, .network, .network])
    #expect(report.failures.count == 1)
    #expect(report.failures.first?.reason.hasPrefix("timeout-") == true)
    #expect(report.pictures.fetched == 25 && report.pictures.failed == 0)
  }

  @Test func `sections are in the catalog's order, even if the first one arrives last`() throws {
    shop.store.faults = [FaultRule("/shop/A", .delay(seconds: 0.1))]

    let report = try shop.sync(folder)

    #expect(report.sections.map(\.key) == ["A", "B", "C"])
    let ids = ["A", "B", "C"].flatMap { key in (1...4).map { "\(key)\($0)" } }
    #expect(report.items.added == ids)
    #expect(try reader().list().map(\.item.id) == ids)
  }

  @Test func `with the origin down the earlier data is shown as stale`() throws {
    _ = try shop.sync(folder)
    shop.store.stop()
    shop.clock.advance(7200)

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.sections.allSatisfy { $0.source == .stale && $0.items == 4 })
    #expect(report.sections.allSatisfy { $0.error != nil })
    #expect(report.items.removed.isEmpty && report.items.total == 12)
    #expect(report.pictures.failed == 37 && report.pictures.bytesHeld == 37 * 400)
    let items = try reader().list()
    #expect(items.count == 12)
    #expect(items.allSatisfy { $0.isStale })
    #expect(items.flatMap(\.pictures).allSatisfy { $0.state == .held })
    #expect(items.allSatisfy { $0.detail != nil })
    #expect(try verify(folder).isClean)
  }

  @Test func `a first run fails while the origin is down, and is not recorded`() throws {
    shop.store.stop()

    let report = try shop.sync(folder)
    let combined = try shop.sync(
      TemporaryFolder(),
      shop.catalog(sections: "{url: all, each: \"$[*]\", key: $.key}")
    )

    #expect(report.outcome == .failed)
    #expect(report.sections.allSatisfy { $0.source == .failed })
    #expect(report.run == nil)
    // Nothing was synced, so there is no catalog to list.
    #expect(try CacheSummary(cache: folder.path("cache")).catalogs.isEmpty)
    let unread = #expect(throws: LarderError.self) { _ = try reader() }
    #expect(unread?.description.contains("nothing was synced yet") == true)
    #expect(combined.outcome == .failed)
    #expect(combined.failures.map(\.stage) == [.section])
  }

  @Test
  func `malformed JSON is reported with line and column, and the other sections are fetched`()
    throws
  {
    shop.put("{\"body\": [\n  {\"detail_hash\": \"A1\",, }]}", at: "/shop/A")

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.sections.map(\.source) == [.failed, .network, .network])
    #expect(report.sections[0].error?.contains("section A: line 2, column 24: ") == true)
    #expect(report.failures.map(\.reason) == ["undecodable"])
    #expect(report.failures[0].id == "A")
    #expect(report.failures[0].url == "\(shop.base)A")
    #expect(report.pictures.total == 25)
  }

  @Test func `a bad item is skipped and reported, also when nothing changed`() throws {
    shop.put(
      """
      {"body": [
        {"detail_hash": "A1", "title": "one", "s_price": "7,000원"},
        {"title": "no id"},
        {"detail_hash": "A3", "title": "three", "s_price": {"won": 7000}},
        17]}
      """,
      at: "/shop/A"
    )

    var options = SyncOptions()
    options.maxSkipped = .percent(80)
    let report = try shop.sync(folder, options: options)
    let again = try shop.sync(folder, options: options)

    #expect(again.sections[0].source == .unchanged)
    for report in [report, again] {
      #expect(report.outcome == .complete)
      #expect(report.sections[0].items == 2 && report.sections[0].skipped == 2)
      #expect(report.skipped.map(\.section) == ["A", "A", "A"])
      #expect(report.skipped.map(\.index) == [1, 2, 3])
      #expect(report.skipped.map(\.field) == ["detail_hash", "s_price", nil])
      #expect(report.skipped.map(\.lost) == [.item, .field, .item])
      #expect(report.skipped.allSatisfy { !$0.reason.isEmpty })
    }
  }

  @Test func `in strict mode a bad item fails its section, even if the body is unchanged`() throws
  {
    shop.put("{\"body\": [{\"detail_hash\": \"A1\", \"title\": \"one\"}, {}]}", at: "/shop/A")
    var strict = SyncOptions()
    strict.strict = true

    let first = try shop.sync(folder, options: strict)
    let lenient = try shop.sync(folder)
    let again = try shop.sync(folder, options: strict)
    shop.store.faults = [FaultRule("/shop/A", .dropValidators)]
    let same = try shop.sync(folder, options: strict)

    #expect(first.sections.map(\.source) == [.failed, .network, .network])
    #expect(lenient.outcome == .complete && lenient.skipped.count == 1)
    for report in [first, again, same] {
      #expect(report.outcome == .partial)
      #expect(report.failures.map(\.reason) == ["undecodable"])
      #expect(report.failures.first?.detail?.contains("section A: item 1, detail_hash") == true)
    }
    #expect(again.sections[0].source == .stale && again.sections[0].items == 1)
  }

  @Test
  func `a detail that cannot be fetched is a failure, and its earlier version is still shown`()
    throws
  {
    shop.store.faults = [FaultRule("/shop/detail/A1", .status(500))]
    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.details.failed == 1 && report.details.fetched == 11)
    #expect(report.failures.map(\.stage) == [.detail])
    #expect(report.failures[0].id == "A1" && report.failures[0].reason == "http-500")

    shop.store.faults = []
    #expect(try shop.sync(folder).outcome == .complete)
    shop.store.faults = [FaultRule("/shop/detail/A1", .body(Array("{oops".utf8)))]
    let later = try shop.sync(folder)

    #expect(later.failures.map(\.reason) == ["undecodable"])
    #expect(later.pictures.total == 37)
    #expect(try reader().show("A1")?.detail?.description == "More about A1")
  }

  @Test(arguments: [
    (FaultEffect.truncate(after: .bytes(100)), "truncated"),
    (.body(Array("<html><p>Sorry, no dish here".utf8)), "not-a-picture"),
    (.wrongLength(50), "truncated"), (.reset(after: 100), "reset"), (.status(404), "http-404"),
    (.closeWithoutAnswer, "reset"), (.body([]), "not-a-picture"),
    (.body([0xFF, 0xD8, 0xFF]), "not-a-picture"),
  ])
  func `a truncated picture is a failure and is never stored`(
    effect: FaultEffect,
    reason: String
  ) throws {
    shop.store.faults = [FaultRule("/pictures/B2-thumb.jpg", effect)]

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.failures.map(\.reason) == [reason])
    #expect(report.failures[0].stage == .picture && report.failures[0].id == "B2")
    #expect(report.failures[0].url == "\(shop.store.baseURL)/pictures/B2-thumb.jpg")
    #expect(report.pictures.failed == 1 && report.pictures.fetched == 36)
    #expect(folder.files(below: "cache/images").count == 36)
    #expect(folder.files(below: "cache/partial").isEmpty)
    let image = try reader().show("B2")?.thumbnail
    #expect(image?.state == .failed && image?.path == nil)
    #expect(try verify(folder).isClean)

    shop.store.faults = []
    let next = try shop.sync(folder)
    #expect(next.outcome == .complete && next.pictures.fetched == 1 && next.pictures.fresh == 36)
  }

  @Test func `a large picture that breaks off and cannot be resumed leaves no file`()
    throws
  {
    let bytes = try Picture(SampleShop.base).distinct("large", byteCount: 700_000)
    shop.store.content["/pictures/A1-thumb.jpg"] = Resource(bytes, type: "image/jpeg")
    shop.store.faults = [
      FaultRule(
        "/pictures/A1-thumb.jpg",
        .truncate(after: .bytes(600_000)),
        .header("ETag", "W/\"weak\"")
      )
    ]

    let report = try shop.sync(folder)

    #expect(report.failures.map(\.reason) == ["truncated"])
    #expect(folder.files(below: "cache/partial").isEmpty)
    shop.store.faults = []
    #expect(try shop.sync(folder).pictures.bytesFetched == 700_000)
    #expect(try verify(folder).isClean)
  }

  @Test
  func `a picture whose refresh fails is kept, and later failures keep the date of the first one`()
    throws
  {
    shop.store.faults = [FaultRule("/pictures/A1-thumb.jpg", .status(404))]
    _ = try shop.sync(folder)
    let since = shop.clock.now
    shop.clock.advance(3700)
    shop.store.faults = [FaultRule("/pictures/A?-thumb.jpg", .status(404))]
    let report = try shop.sync(folder)
    let failing = try CacheSummary(cache: folder.path("cache")).failing

    #expect(report.pictures.failed == 4)
    #expect(failing.count == 4)
    #expect(failing.first?.url.hasSuffix("A1-thumb.jpg") == true)
    #expect(failing.first?.since == since)
    #expect(failing.last?.since == shop.clock.now)
    #expect(try reader().show("A1")?.thumbnail?.state == .failed)
    #expect(try reader().show("A2")?.thumbnail?.state == .held)

    shop.store.faults = []
    #expect(try shop.sync(folder).outcome == .complete)
    #expect(try CacheSummary(cache: folder.path("cache")).failing.isEmpty)
  }

  @Test
  func `a 304 with another version's ETag is not trusted, and the same run fetches that version`()
    throws
  {
    _ = try shop.sync(folder)
    shop.clock.advance(3601)
    let path = "/pictures/A1-thumb.jpg"
    shop.store.faults = [
      FaultRule(path, hits: .range(1...1), .status(304), .header("ETag", "\"another\""))
    ]
    shop.store.clearRequests()

    let report = try shop.sync(folder)

    #expect(report.pictures.fetched == 1 && report.pictures.revalidated == 36)
    let requests = shop.store.requests.filter { $0.path == path }
    #expect(requests.map(\.status) == [304, 200])
    #expect(requests.last?.headers["If-None-Match"] == nil)
    #expect(requests.last?.headers["If-Modified-Since"] == nil)
  }

  @Test func `an invalid picture reference is reported, and the item is shown`() throws {
    shop.items["A"]?[0].thumbnail = "ftp://old.example/a.jpg"
    try shop.publish()

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial)
    #expect(report.failures.map(\.reason) == ["scheme-refused"])
    #expect(report.failures.map(\.id) == ["A1"])
    let thumbnail = try reader().show("A1")?.thumbnail
    #expect(thumbnail?.url == "ftp://old.example/a.jpg" && thumbnail?.state == .missing)
  }

  @Test func `a full disk ends the run with its error, and the next run continues`() throws {
    for number in [1, 5, 40, 41, 80, 100] {
      let folder = try TemporaryFolder()
      let error = #expect(throws: LarderError.self) {
        _ = try shop.sync(folder, disk: FaultyDisk(.fail(at: number, errno: ENOSPC)))
      }
      #expect(error?.code == .diskFull)

      let report = try shop.sync(folder)
      #expect(report.outcome == .complete)
      #expect(try verify(folder) == VerifyReport(checked: 37))
    }
  }

  @Test func `a disk that fills up during a large picture ends the run with its error too`() throws
  {
    let bytes = try Picture(SampleShop.base).distinct("large", byteCount: 3_000_000)
    shop.store.content["/pictures/A1-thumb.jpg"] = Resource(bytes, type: "image/jpeg")
    shop.items = ["A": Array(shop.items["A"]?.prefix(1) ?? [])]
    shop.items["A"]?[0].hasDetail = false
    try shop.publish()

    let error = #expect(throws: LarderError.self) {
      _ = try shop.sync(folder, disk: FaultyDisk(.fail(at: 3, errno: ENOSPC)))
    }

    #expect(error?.code == .diskFull)
    #expect(try shop.sync(folder).outcome == .complete)
    #expect(folder.files(below: "cache/partial").isEmpty)
  }
}
