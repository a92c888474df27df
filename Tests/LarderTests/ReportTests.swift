import Cache
import Foundation
import SampleStore
import Support
import Testing

@testable import Larder

/// What scripts read: every key of the contract, always.
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

  @Test func `the report has every key that the contract names, null when there is nothing`()
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

    let json = try object(JSONSerialization.jsonObject(with: Data(try report.json())))

    expectKeys(
      "catalog run outcome sections items details images failures skipped unfinished requests "
        + "durationSeconds",
      of: json
    )
    expectKeys("total added removed withheld changed", of: try object(json["items"]))
    expectKeys("total fetched missing failed", of: try object(json["details"]))
    expectKeys(
      "referenced unique fetched revalidated fresh failed bytesFetched bytesHeld",
      of: try object(json["images"])
    )
    for section in try objects(json["sections"]) {
      expectKeys("key title items skipped source error", of: section)
      #expect(section["error"] is NSNull)
    }
    let changed = try objects(try object(json["items"])["changed"])
    #expect(changed.count == 1)
    for change in changed { expectKeys("id field from to", of: change) }
    let failures = try objects(json["failures"])
    #expect(failures.count == 1)
    for failure in failures { expectKeys("stage id url reason attempts", of: failure) }
    let skipped = try objects(json["skipped"])
    #expect(skipped.count == 1)
    for item in skipped {
      expectKeys("section index field reason", of: item)
      #expect(item["field"] is NSNull)
    }
    #expect(json["outcome"] as? String == "partial")
    #expect(json["unfinished"] as? [String] == [])
    #expect(try SyncReport(json: try report.json()).failures == report.failures)
  }

  @Test func `an empty report has every key too, and reads back as it was`() throws {
    let report = SyncReport(catalog: "shop")

    let json = try object(JSONSerialization.jsonObject(with: Data(try report.json())))

    #expect(json.count == 13)
    #expect(json["run"] is NSNull)
    #expect(try SyncReport(json: try report.json()) == report)
  }

  @Test func `equal runs print equal bytes, and the index keeps what was printed`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 3, items: 5)
    shop.store.faults = [FaultRule("/pictures/*-1.jpg", .status(404))]

    var first = try shop.sync(folder)
    let other = try TemporaryFolder()
    var second = try shop.sync(other)

    let runs = try CatalogReader(cache: folder.path("cache"), catalog: "shop").runs()
    #expect(runs.map(\.outcome) == ["partial"])
    #expect(runs.first?.report == (try first.json()))
    first.durationSeconds = 0
    second.durationSeconds = 0
    #expect(try first.json() == second.json())
    #expect(first.failures.map(\.url) == first.failures.map(\.url).sorted())
    #expect(first.failures.count == 15)
  }
}
