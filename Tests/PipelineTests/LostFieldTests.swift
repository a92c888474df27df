import Cache
import Catalog
import SampleStore
import Support
import Testing

@testable import Pipeline

/// If a value is invalid, only its field is lost.
///
/// This holds in listings, details, and documents with many details.
struct LostFieldTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 3)
  }

  private func detail(_ id: String, _ fields: String) -> String {
    #"{"hash": "\#(id)", "data": {\#(fields)}}"#
  }

  @Test func `an item with invalid values is listed without them, and reported in every run`()
    throws
  {
    shop.put(
      """
      {"body": [{"detail_hash": "A1", "title": 5, "s_price": "-1", "n_price": "7,000원",
                 "image": {"src": "/pictures/a.jpg"}, "badge": [{"text": "x"}, "y"]},
                {"detail_hash": "A2", "title": "two", "s_price": "₩1,299.00"}]}
      """,
      at: "/shop/A"
    )
    let catalog = try shop.catalog(detail: false)

    let first = try shop.sync(folder, catalog)
    let second = try shop.sync(folder, catalog)

    let shown = try CatalogReader(cache: folder.path("cache"), catalog: nil).list().map(\.item)
    #expect(shown.map(\.title) == ["5", "two"])
    #expect(shown.map(\.normalPrice?.minorUnits) == [7000, nil])
    #expect(shown.map(\.salePrice?.minorUnits) == [nil, 1299])
    #expect(shown[0].badges == ["y"] && shown[0].images.isEmpty)
    #expect(second.sections[0].source == .unchanged)
    for report in [first, second] {
      #expect(report.sections[0].items == 2 && report.sections[0].skipped == 0)
      #expect(report.skipped.map(\.field) == ["badge", "s_price", "image"])
      #expect(report.skipped.allSatisfy { $0.lost == .field && $0.index == 0 && $0.id == "A1" })
    }
  }

  @Test
  func `a detail with an invalid value keeps its other fields, and is reported in every run`()
    throws
  {
    shop.put(
      detail("A2", #""top_image": "/pictures/t.jpg", "prices": "품절""#),
      at: "/shop/detail/A2"
    )

    let reports = [try shop.sync(folder), try shop.sync(folder)]

    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.show("A2")?.detail?.images.count == 1)
    for report in reports {
      #expect(report.details.failed == 0 && report.failures.isEmpty)
      #expect(report.skipped.map(\.field) == ["prices"])
      #expect(report.skipped.map(\.id) == ["A2"] && report.skipped.map(\.section) == ["A"])
      #expect(report.skipped.allSatisfy { $0.lost == .field && $0.index == nil })
      #expect(report.skipped.first?.reason.contains("holds no amount") == true)
    }
    #expect(reports.map(\.details.unchanged) == [0, 3])
  }

  @Test func `when a detail is entirely unreadable, its earlier version is kept`() throws {
    _ = try shop.sync(folder)
    shop.put(detail("A2", #""prices": "품절", "top_image": 5"#), at: "/shop/detail/A2")

    let report = try shop.sync(folder)

    #expect(report.outcome == .partial && report.details.failed == 1)
    #expect(report.failures.map(\.id) == ["A2"])
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.show("A2")?.detail?.description == "More about A2")
  }

  @Test func `in strict mode a lost field fails its detail, even if the body is unchanged`() throws
  {
    shop.put(
      detail("A2", #""top_image": "/pictures/t.jpg", "prices": "품절""#),
      at: "/shop/detail/A2"
    )
    var strict = SyncOptions()
    strict.strict = true

    let first = try shop.sync(folder, options: strict)
    let lenient = try shop.sync(folder)
    let again = try shop.sync(folder, options: strict)

    #expect(lenient.details.failed == 0)
    for report in [first, again] {
      #expect(report.details.failed == 1 && report.outcome == .partial)
      #expect(report.failures.first?.detail?.contains("detail A2: prices: ") == true)
    }
  }

  @Test func `in a file of all details only the unreadable one fails, in every run`()
    throws
  {
    shop.put(
      "["
        + [
          detail("A1", #""point": "1""#), detail("A2", #""prices": "품절""#),
          #"{"hash": {}, "data": {"point": "x"}}"#, detail("A3", #""point": "3", "prices": {}"#),
        ].joined(separator: ",") + "]",
      at: "/shop/details"
    )
    let catalog = try shop.catalog(detail: false, "detail: {url: details}")

    let reports = [try shop.sync(folder, catalog), try shop.sync(folder, catalog)]

    for report in reports {
      #expect(report.outcome == .partial)
      #expect(report.details.fetched == 2 && report.details.failed == 1)
      #expect(report.details.missing == 0)
      #expect(Set(report.failures.map(\.id)) == ["A2", nil])
      #expect(report.failures.contains { $0.detail?.contains("number 2") == true })
      #expect(report.skipped.map(\.id) == ["A3"] && report.skipped.map(\.field) == ["prices"])
    }
  }

  @Test
  func
    `after a version with an unreadable detail, a file of all details is read as the origin has it`()
    throws
  {
    let good = "[" + detail("A1", #""point": "1""#) + "," + detail("A2", #""point": "2""#) + "]"
    let bad = "[" + detail("A1", #""point": "new""#) + "," + detail("A2", #""prices": "품절""#) + "]"
    let catalog = try shop.catalog(detail: false, "detail: {url: details}")
    func points() throws -> [String?] {
      try CatalogReader(cache: folder.path("cache"), catalog: nil).list().prefix(2)
        .map { $0.detail?.notes["point"] }
    }

    for (body, expected) in [(good, ["1", "2"]), (bad, ["new", "2"]), (good, ["1", "2"])] {
      shop.put(body, at: "/shop/details")
      _ = try shop.sync(folder, catalog)
      #expect(try points() == expected)
    }
  }
}
