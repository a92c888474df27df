import Base
import Cache
import Foundation
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The JSON report for scripts, which always has every documented key.
struct ReportTests {
  private func object(_ value: Any?) throws -> [String: Any] {
    try #require(value as? [String: Any])
  }

  private func objects(_ value: Any?) throws -> [[String: Any]] {
    try #require(value as? [[String: Any]])
  }

  private func expectKeys(_ keys: String, of object: [String: Any]) {
    let missing = keys.split(separator: " ").filter { object[String($0)] == nil }
    #expect(missing.isEmpty)
  }

  @Test func `a brief report lists a hundred of each kind, and counts the rest`() throws {
    var report = SyncReport(catalog: "shop")
    report.sections = [
      SyncReport.Section(key: "a", title: "A", items: 0, skipped: 0, source: .network)
    ]
    for number in 0..<250 {
      for reason in ["circuit-open", "http-503"] where reason == "circuit-open" || number < 5 {
        report.failures.append(
          SyncReport.Failure(
            stage: .detail,
            id: "I\(number)",
            url: "http://a/\(number)",
            reason: reason,
            attempts: 1
          )
        )
      }
      report.skipped.append(
        SyncReport.Skipped(section: "a", index: number, field: nil, lost: .item, reason: "no id")
      )
      report.items.added.append("I\(number)")
      report.unfinished.append(.init(stage: .picture, url: "http://a/\(number)"))
    }

    let brief = report.brief

    #expect(brief.failures.count == 105 && brief.failureCounts == report.failureCounts)
    #expect(brief.failuresOmitted == [.detail: ["circuit-open": 150]])
    #expect(brief.skipped.count == 100 && brief.sections[0].skippedReasons == ["no id": 150])
    #expect(brief.items.added.count == 100 && report.briefOmits == ["items.added": 150])
    #expect(brief.unfinished.count == 100 && brief.unfinishedOmitted == [.picture: 150])
    #expect(brief.unfinishedCounts == report.unfinishedCounts)
    #expect(brief.brief == brief && SyncReport(catalog: "b").briefOmits.isEmpty)
  }

  @Test func `the report has every documented key, null when there is nothing`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    shop.put("{\"body\": [{\"id\": \"B1\", \"title\": \"b\"}, 7]}", at: "/shop/B")
    _ = try shop.sync(folder)
    shop.items["A"]?[0].price = "1원"
    shop.items["B"] = []
    try shop.publish()
    shop.put("{\"body\": [{\"id\": \"B1\", \"title\": \"b\"}, 7]}", at: "/shop/B")
    shop.store.faults = [FaultRule("/shop/detail/A2", .status(500))]
    let report = try shop.sync(folder)

    let json = try object(JSONSerialization.jsonObject(with: Data(report.json)))

    expectKeys(
      "catalog run outcome sections items details images failures failuresOmitted skipped unfinished "
        + "unfinishedOmitted requests durationSeconds",
      of: json
    )
    expectKeys("total added removed withheld changed", of: try object(json["items"]))
    expectKeys("total fetched missing failed", of: try object(json["details"]))
    expectKeys(
      "referenced unique fetched revalidated fresh failed bytesFetched bytesHeld",
      of: try object(json["images"])
    )
    for section in try objects(json["sections"]) {
      expectKeys("key title items skipped source error remedy", of: section)
      #expect(section["error"] is NSNull)
    }
    let changed = try objects(try object(json["items"])["changed"])
    #expect(changed.count == 1)
    for change in changed { expectKeys("id field from to", of: change) }
    let failures = try objects(json["failures"])
    #expect(failures.count == 1)
    for failure in failures { expectKeys("stage id url reason attempts remedy", of: failure) }
    let skipped = try objects(json["skipped"])
    #expect(skipped.count == 1)
    for item in skipped {
      expectKeys("section index field id lost reason", of: item)
      #expect(item["field"] is NSNull)
    }
    #expect(json["outcome"] as? String == "partial")
    #expect(json["unfinished"] as? [String] == [])
    #expect(try SyncReport(json: report.json).failures == report.failures)
  }

  @Test func `an empty report has every key too, and reads back unchanged`() throws {
    let report = SyncReport(catalog: "shop")

    let json = try object(JSONSerialization.jsonObject(with: Data(report.json)))

    #expect(json.count == 15)
    #expect(json["run"] is NSNull)
    #expect(try SyncReport(json: report.json) == report)
  }

  @Test func `a report is compact JSON with sorted keys, and reads back unchanged`() throws {
    var report = SyncReport(catalog: "가게 \"shop\"\\")
    report.run = 7
    report.outcome = .withheld
    report.durationSeconds = 12.3456
    report.requests = 3
    report.sections = [
      SyncReport.Section(
        key: "A",
        title: "첫째\n",
        items: 2,
        skipped: 1,
        repeats: 2,
        source: .stale,
        error: "gone\u{1F}",
        remedy: .acceptSkipped
      )
    ]
    report.items = SyncReport.Items(
      total: 2,
      added: ["a/b"],
      removed: ["", "c"],
      withheld: ["d"],
      changed: [SyncReport.Change(id: "g", field: "title", from: nil, to: "😀")]
    )
    report.details = SyncReport.Details(
      total: 1,
      fetched: 2,
      unchanged: 3,
      missing: 4,
      failed: 5,
      remedy: .acceptRemovals
    )
    report.pictures.referenced = 1
    report.pictures.total = 2
    report.pictures.fetched = 3
    report.pictures.revalidated = 4
    report.pictures.fresh = 6
    report.pictures.failed = 7
    report.pictures.changed = 8
    report.pictures.bytesFetched = .max
    report.pictures.bytesHeld = 10
    report.squares = SyncReport.Squares(
      side: 512,
      made: 1,
      fresh: 2,
      removed: 3,
      unfit: 4,
      unfinished: 5,
      failures: [SyncReport.SquareFailure(path: "images/00/a.jpg", reason: "torn")]
    )
    report.failures = [
      SyncReport.Failure(
        stage: .picture,
        id: nil,
        url: "http://h/a",
        reason: "timeout",
        attempts: 4,
        detail: nil
      ),
      SyncReport.Failure(
        stage: .detail,
        id: "A",
        url: "http://h/b",
        reason: "reset",
        attempts: 1,
        detail: "by peer",
        remedy: .allowPrivateAddresses
      ),
    ]
    report.skipped = [
      SyncReport.Skipped(
        section: "A",
        index: 4,
        field: "price",
        id: "B",
        lost: .field,
        reason: "no \u{2028} number"
      )
    ]
    report.unfinished = [SyncReport.Unfinished(stage: .section, url: "http://h/c")]

    let json = report.json

    let parsed = try JSONSerialization.jsonObject(with: Data(json))
    let sorted = try JSONSerialization.data(
      withJSONObject: parsed,
      options: [.sortedKeys, .withoutEscapingSlashes]
    )
    // The encoder writes the same values with sorted keys. Only the escaping of characters differs.
    #expect(
      String(decoding: sorted, as: UTF8.self)
        == String(decoding: json, as: UTF8.self).replacing("\\u000a", with: "\\n")
    )
    var expected = report
    expected.durationSeconds = 12.346
    #expect(try SyncReport(json: json) == expected)
  }

  @Test func `equal runs print equal bytes, and the index stores the printed form`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 3, items: 5)
    shop.store.faults = [FaultRule("/pictures/*-1.jpg", .status(404))]

    var first = try shop.sync(folder)
    let other = try TemporaryFolder()
    var second = try shop.sync(other)

    let runs = try CatalogReader(cache: folder.path("cache"), catalog: "shop").runs()
    #expect(runs.map(\.outcome) == ["partial"])
    #expect(runs.first?.report == (first.json))
    first.durationSeconds = 0
    second.durationSeconds = 0
    #expect(first.json == second.json)
    #expect(first.failures.map(\.url) == first.failures.map(\.url).sorted())
    #expect(first.failures.count == 15)
  }
}
