import Base
import Cache
import Catalog
import SampleStore
import Support
import Testing

@testable import Pipeline

/// Fields that all details lose at once, and paths in a catalog file at which no detail has a value.
struct GuardedDetailTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 5)
  }

  private var ids: [String] { (shop.items["A"] ?? []).map(\.id) }

  private func run(
    _ catalog: CatalogFile? = nil,
    warm: Bool = false,
    allowRemovals: Bool = false
  ) throws -> SyncReport {
    shop.clock.advance(100_000)
    var options = SyncOptions()
    options.onlyDue = warm
    options.allowRemovals = allowRemovals
    return try shop.sync(folder, catalog, options: options)
  }

  /// Makes two further runs, and one of `warm`.
  private func laterRuns(_ catalog: CatalogFile? = nil) throws -> [SyncReport] {
    [try run(catalog), try run(catalog), try run(catalog, warm: true)]
  }

  /// Publishes details whose pictures have other member names.
  private func rename(_ ids: [String]) {
    for id in ids {
      shop.put(
        #"{"hash": "\#(id)", "data": {"top": "/pictures/\#(id)-top.jpg", "#
          + #""product_description": "New about \#(id)", "prices": ["7,000원"]}}"#,
        at: "/shop/detail/\(id)"
      )
    }
  }

  private func pictures() throws -> [[ImageReference.Role]] {
    try CatalogReader(cache: folder.path("cache"), catalog: nil).list()
      .map { $0.detail?.images.map(\.role) ?? [] }
  }

  @Test
  func `pictures that all details lose because a member is renamed are kept until they return`()
    throws
  {
    #expect(try run().outcome == .complete)
    rename(ids)

    let reports = try laterRuns()

    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(report.details.kept == ["detail.images.top", "detail.images.gallery"])
      let words = report.details.error ?? ""
      #expect(words.hasPrefix("cannot refresh detail.images.top, detail.images.gallery of 5 "))
      #expect(words.contains("$.top_image"), "\(words)")
      #expect(report.details.remedy == .acceptRemovals)
      #expect(report.failures.isEmpty && report.details.withheld.isEmpty)
      #expect(report.pictures.failed == 0 && report.pictures.total == 16)
    }
    #expect(try pictures() == Array(repeating: [.top, .gallery, .gallery], count: 5))
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list().allSatisfy { $0.detail?.description == "More about \($0.item.id)" })
    #expect(try verify(folder).isClean)
    #expect(try reader.index.held(at: 0).count { $0.unreferenced == nil } == 16)

    try shop.publish()
    let back = try run()
    #expect(back.outcome == .complete && back.details.kept.isEmpty && back.details.error == nil)

    rename(ids)
    let allowed = try run(allowRemovals: true)
    #expect(allowed.outcome == .complete && allowed.details.kept.isEmpty)
    #expect(try pictures() == Array(repeating: [], count: 5))
    #expect(try run().outcome == .complete)
  }

  @Test func `texts and prices that all details lose are kept too`() throws {
    _ = try run()
    for id in ids {
      shop.put(
        #"{"hash": "\#(id)", "data": {"top_image": "/pictures/\#(id)-top.jpg", "cost": "1"}}"#,
        at: "/shop/detail/\(id)"
      )
    }

    let reports = try laterRuns()

    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(
        report.details.kept == ["detail.description", "detail.prices", "detail.images.gallery"]
      )
    }
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(try reader.list().allSatisfy { $0.detail?.description == "More about \($0.item.id)" })
    #expect(try reader.list().allSatisfy { $0.detail?.prices.map(\.minorUnits) == [7000] })
  }

  @Test
  func
    `a field that only some details lose is removed, and a field that none had is not reported`()
    throws
  {
    _ = try run()
    rename(Array(ids.prefix(3)))

    let report = try run()

    #expect(report.outcome == .complete && report.details.kept.isEmpty)
    #expect(report.details.fetched == 3 && report.details.unchanged == 2)
    #expect(try pictures().map(\.count) == [0, 0, 0, 3, 3])
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let texts = try reader.list().compactMap { $0.detail?.description }
    #expect(texts.map { $0.prefix(3) } == ["New", "New", "New", "Mor", "Mor"])
    let again = try run()
    #expect(again.outcome == .complete && again.details.unchanged == 5)
  }

  @Test func `after an interrupted run, the next one decides about the lost fields`() throws {
    _ = try run()
    rename(ids)
    shop.store.faults = [FaultRule("/shop/detail/A4", .status(500))]

    let cut = try run()
    shop.store.faults = []
    let report = try run()

    #expect(cut.outcome == .partial && report.outcome == .withheld)
    #expect(try pictures().allSatisfy { $0.count == 3 })
  }

  @Test func `details in one file keep their lost fields too`() throws {
    func publish(_ name: String) throws {
      let details = ids.map { id -> [String: Any] in
        ["hash": id, "data": [name: "/pictures/\(id)-top.jpg", "product_description": name]]
      }
      shop.put(try SampleShop.json(["body": details]), at: "/shop/details")
    }
    try publish("top_image")
    let catalog = try shop.catalog(detail: false, "detail: {url: details}")
    #expect(try run(catalog).outcome == .complete)
    try publish("picture")

    let reports = try laterRuns(catalog)

    for report in reports {
      #expect(report.outcome == .withheld)
      #expect(report.details.kept == ["detail.images.top"])
    }
    #expect(try pictures().allSatisfy { $0 == [.top] })
    try publish("top_image")
    #expect(try run(catalog).outcome == .complete)
  }

  @Test
  func `one file of details is requested conditionally unless a detail keeps a lost field`()
    throws
  {
    func publish(_ losers: Int) throws {
      let details = ids.enumerated().map { place, id -> [String: Any] in
        [
          "hash": id,
          "data": [
            place < losers ? "top" : "top_image": "/pictures/\(id).jpg", "point": "\(losers)",
          ],
        ]
      }
      shop.put(try SampleShop.json(["body": details]), at: "/shop/details")
    }
    let catalog = try shop.catalog(detail: false, "detail: {url: details}")
    var answers: [[Int]] = []

    for losers in [0, 2, 5] {
      try publish(losers)
      answers.append(try (0..<2).map { _ in try run(catalog).details.unchanged })
    }

    #expect(answers == [[0, 5], [0, 5], [0, 0]])
    #expect(try pictures() == [[], [], [.top], [.top], [.top]])
  }

  @Test func `a configured path without a value in any detail is reported in every run`()
    throws
  {
    let catalog = try shop.catalog(
      detail: false,
      "detail: {url: \"detail/{id}\", images: {section: $.no_such}, description: $.product_description}"
    )

    let reports = [try run(catalog)] + (try laterRuns(catalog))

    for report in reports {
      #expect(report.outcome == .partial)
      #expect(report.failures.map(\.reason) == ["field-missing"])
      #expect(report.failures.map(\.stage) == [.detail])
      #expect(
        report.failures.first?.detail
          == "cannot read detail.images.section: no detail has a value at "
          + "$.no_such; correct the path in the catalog file, or remove it"
      )
    }
    #expect(try pictures().allSatisfy { $0.count == 3 })
  }

  @Test func `a path to a list that is empty in all details is not reported as wrong`() throws {
    for id in ids {
      shop.put(
        #"{"hash": "\#(id)", "data": {"top_image": "/pictures/\#(id)-top.jpg", "parts": []}}"#,
        at: "/shop/detail/\(id)"
      )
    }
    let catalog = try shop.catalog(
      detail: false,
      "detail: {url: \"detail/{id}\", images: {section: \"$.parts[*]\"}}"
    )

    let reports = [try run(catalog)] + (try laterRuns(catalog))

    for report in reports { #expect(report.outcome == .complete, "\(report.failures)") }
  }
}

/// The counts that the guard against lost fields makes while details are fetched.
struct LostDetailFieldsTests {
  /// The numbers of details of each kind, and the expected decision.
  struct Row: Sendable {
    /// The details with a new response without the field that they had.
    var lost = 0
    /// The details with a new response that never had the field.
    var never = 0
    /// The details with a new response that has the field.
    var new = 0
    /// The unchanged details with the field.
    var left = 0
    /// The unchanged details without the field.
    var without = 0
    var isKept: Bool
  }

  @Test(arguments: [
    Row(lost: 3, isKept: true), Row(lost: 2, isKept: false), Row(lost: 2, never: 1, isKept: true),
    Row(lost: 2, never: 2, isKept: false), Row(lost: 3, new: 1, isKept: false),
    Row(lost: 3, left: 1, isKept: false), Row(lost: 3, without: 2, isKept: true),
    Row(lost: 3, without: 3, isKept: false), Row(lost: 9, left: 90, isKept: false),
    Row(lost: 10, left: 90, isKept: true), Row(lost: 10, left: 1, without: 90, isKept: true),
    Row(lost: 10, never: 10, left: 1, isKept: false),
    Row(lost: 10, new: 1, left: 9, isKept: false), Row(lost: 5, new: 5, isKept: false),
    Row(lost: 1, left: 4, isKept: false), Row(lost: 15, never: 15, left: 70, isKept: false),
    Row(lost: 15, never: 14, left: 71, isKept: true),
  ])
  func `a field is kept if most details lost it and none has it`(_ row: Row) throws {
    let lines = [
      "name: shop", "currency: KRW", "base: http://h/", "sections: [{key: A, title: A, url: a}]",
      "detail: {url: \"detail/{id}\", description: $.text}",
    ]
    let file = try CatalogFile(parsing: Array(lines.joined(separator: "\n").utf8), file: "s.yaml")
    let guardian = LostDetailFields(file.mapping.detail, allowsRemovals: false)
    func entry(_ id: String, _ text: String?) -> DetailEntry {
      let text = text.map { #""description":"\#($0)","# } ?? ""
      let body = #"{"id":"\#(id)",\#(text)"prices":[],"images":[],"notes":{}}"#
      let document = DocumentEntry(url: id, mapping: 1).id
      return DetailEntry(item: id, document: document, state: .held, body: Array(body.utf8))
    }
    func come(_ id: String, _ old: String?, _ new: String?) throws -> Bool {
      let (old, new) = (entry(id, old), entry(id, new))
      return guardian.admits(try #require(new.decoded), replacing: old)
    }

    for number in 0..<row.lost { #expect(try !come("lost\(number)", "old", nil)) }
    for number in 0..<row.never { #expect(try come("never\(number)", nil, nil)) }
    for number in 0..<row.new { #expect(try come("new\(number)", "old", "new")) }
    let unchanged =
      (0..<row.without).map { entry("without\($0)", nil) }
      + (0..<row.left).map { entry("left\($0)", "old") }
    guardian.noteUnchanged(unchanged.count, held: unchanged.count { $0.body != nil })
    var held = unchanged[...]

    let decision = try guardian.judge { () throws(LarderError) in
      held.popFirst().map { [$0.body ?? []] } ?? []
    }
    #expect(decision.lost.map(\.name) == (row.isKept ? ["detail.description"] : []))
    #expect(decision.absent.map(\.name) == (row.left + row.new == 0 ? ["detail.description"] : []))
  }
}
