import Catalog
import Foundation
import GRDB
import SampleStore
import Support
import Testing

@testable import Cache
@testable import Pipeline

/// Sections with several pages: their end, repeated items, failures, and the number of requests.
struct PagingSyncTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  /// Options that accept listings with any number of unreadable items.
  private var lenient: SyncOptions {
    var options = SyncOptions()
    options.maxSkipped = .count(9)
    return options
  }

  private func catalog(_ paging: String) throws -> CatalogFile {
    try shop.catalog(sections: "[{key: A, url: A}]", detail: false, "paging: {\(paging)}")
  }

  private func list(_ ids: [String], next: String? = nil) throws -> String {
    let items = ids.map { ["detail_hash": $0, "title": "Dish \($0)"] }
    return try SampleShop.json(["body": items, "next": next as Any? ?? ""])
  }

  /// Serves pages at `A?page=1` and so on.
  ///
  /// All further pages are empty.
  private func serve(_ pages: [[String]]) throws {
    for (number, ids) in pages.enumerated() {
      shop.store.faults.append(
        FaultRule("/shop/A", query: "page=\(number + 1)", .body(Array(try list(ids).utf8)))
      )
    }
    shop.put(try list([]), at: "/shop/A")
  }

  private func shown() throws -> [String] {
    try CatalogReader(cache: folder.path("cache"), catalog: nil).list().map(\.item.id)
  }

  private var pageRequests: Int { shop.store.requests.count { $0.path.hasPrefix("/shop/") } }

  @Test
  func `a server that ignores the page parameter is requested twice, and no item is duplicated`()
    throws
  {
    shop.put(try list(["1", "2"]), at: "/shop/A")

    let report = try shop.sync(folder, catalog("parameter: page"))

    #expect(pageRequests == 2)
    #expect(try shown() == ["1", "2"])
    #expect(report.outcome == .complete)
    #expect(report.sections.map(\.items) == [2] && report.sections.map(\.repeats) == [2])
  }

  @Test(arguments: ["listing_item", "item"])
  func `a lost row of a page is damage, not a removed item or a repeated page`(_ table: String)
    throws
  {
    try serve([["1", "2"], ["3"], ["4", "5"], ["6"], []])
    _ = try shop.sync(folder, catalog("parameter: page"))
    let index = try Index(CacheLayout(creating: folder.path("cache")))
    let lost = table == "item" ? "row IN (3, 4, 5)" : "listing IN (2, 3)"
    try index.write { try $0.execute(sql: "DELETE FROM \(table) WHERE \(lost)") }

    let report = try shop.sync(folder, catalog("parameter: page"))

    #expect(report.outcome == .complete)
    #expect(try shown() == ["1", "2", "3", "4", "5", "6"])
  }

  @Test func `ids of many pages are looked up once for each item, not in every page`() throws {
    let index = try Index(CacheLayout(creating: folder.path("own")))
    func page(_ keys: [String]) throws -> [DecodedSection] {
      let items = keys.map { NewItem(key: $0, body: Array($0.utf8), pictures: []) }
      var section = DecodedSection(key: "a", title: "", subtitle: nil, skipped: "")
      section.listing = try index.keepListing(items)
      return [section]
    }
    let pages = try (0..<4).map { try page(["\($0)", "\($0 + 10)"]) }
    func isNew(_ page: [DecodedSection], source: Int = 0, section: String = "a") throws -> Bool {
      try index.lists(newItemsIn: page[0].listing, of: source, section: section)
    }

    for (number, page) in pages.enumerated() {
      try index.notePage(page, of: 0, isFirst: number == 0)
    }
    try index.notePage([], of: 1, isFirst: true)

    let mixed = try page(["3", "10", "1"])
    #expect(try !isNew(mixed))
    #expect(try isNew(mixed, section: "b"))
    #expect(try isNew(mixed, source: 1))
    #expect(try isNew(try page(["3", "4"])))
    try index.notePage(pages[0], of: 0, isFirst: true)
    #expect(try isNew(mixed))
  }

  @Test func `a repeated last page with other bytes ends the paging`() throws {
    try serve([["1", "2"], ["3"], ["3"], ["3"]])
    shop.store.faults[2].effects = [
      .body(Array(#"{"body": [{"detail_hash": "3", "title": "again"}]}"#.utf8))
    ]

    let report = try shop.sync(folder, catalog("parameter: page"))

    #expect(pageRequests == 3)
    #expect(try shown() == ["1", "2", "3"])
    #expect(report.outcome == .complete && report.sections[0].repeats == 1)
  }

  @Test(arguments: [["A"], ["B", "A"], ["B", "C", "B"]])
  func `a next page that leads back ends the paging`(links: [String]) throws {
    for (number, page) in (["A"] + links.dropLast()).enumerated() {
      shop.put(try list(["\(number)"], next: links[number]), at: "/shop/\(page)")
    }

    let report = try shop.sync(folder, catalog("next: $.next"))

    #expect(pageRequests == links.count)
    #expect(try shown() == links.indices.map { "\($0)" })
    #expect(report.outcome == .complete)
  }

  @Test func `an item that moves to a later page is listed once, and the repeat counted`() throws {
    try serve([["1", "2", "2"], ["2", "3"], ["1", "4"], []])

    let report = try shop.sync(folder, catalog("parameter: page"))
    let again = try shop.sync(folder, catalog("parameter: page"))

    #expect(try shown() == ["1", "2", "3", "4"])
    for report in [report, again] {
      #expect(report.outcome == .complete)
      #expect(report.sections.map(\.items) == [4] && report.sections.map(\.repeats) == [2])
    }
  }

  @Test func `indices of bad items count across pages, even if an earlier page grew`() throws {
    try serve([["1"], ["2", "3"], []])
    func page(_ number: Int, _ body: String) {
      shop.store.faults[number - 1].effects = [
        .body(Array(#"{"body": [\#(body)]}"#.utf8))
      ]
    }
    page(2, #"{"detail_hash": "2", "title": "t", "s_price": "-1"}, {"title": "no id"}"#)
    let catalog = try catalog("parameter: page")

    let first = try shop.sync(folder, catalog, options: lenient)
    page(
      1,
      #"{"detail_hash": "0", "title": "t"}, {"title": "bad"}, {"detail_hash": "1", "title": "t"}"#
    )
    let second = try shop.sync(folder, catalog, options: lenient)

    #expect(first.skipped.map(\.index) == [1, 2])
    #expect(first.skipped.map(\.lost) == [.field, .item])
    #expect(second.skipped.map(\.index) == [1, 3, 4])
    #expect(second.sections[0].items == 3 && second.sections[0].skipped == 2)
  }

  @Test(arguments: [204, 400, 404, 410, 416])
  func `a missing page ends the listing after a good page, but is a failure as the first page`(
    status: Int
  ) throws {
    try serve([["1", "2"], ["3"]])
    shop.store.faults.append(FaultRule("/shop/A", query: "page=3", .status(status)))

    let report = try shop.sync(folder, catalog("parameter: page"))
    let again = try shop.sync(folder, catalog("parameter: page"))
    shop.store.faults = [FaultRule("/shop/A", .status(status))]
    let gone = try shop.sync(folder, catalog("parameter: page"))

    for report in [report, again] {
      #expect(report.outcome == .complete && report.failures.isEmpty)
      #expect(report.sections.map(\.items) == [3])
    }
    #expect(gone.sections.map(\.source) == [.stale] && gone.sections.map(\.items) == [3])
    #expect(gone.failures.map(\.reason) == ["http-\(status)"])
  }

  @Test func `reaching the page limit is reported, and a higher limit continues from there`()
    throws
  {
    try serve([["1"], ["2"], ["3"], ["4"], []])

    let report = try shop.sync(folder, catalog("parameter: page, limit: 2"))
    let same = try shop.sync(folder, catalog("parameter: page, limit: 2"))
    shop.store.clearRequests()
    let whole = try shop.sync(folder, catalog("parameter: page"))

    for report in [report, same] {
      #expect(report.outcome == .partial)
      #expect(report.sections.map(\.items) == [2])
      #expect(report.sections[0].error?.contains("continues after 2 pages") == true)
      #expect(report.sections[0].error?.contains("raise paging.limit") == true)
      #expect(report.failures.map(\.reason) == ["page-limit"])
      #expect(report.failures.map(\.id) == ["A"])
    }
    #expect(same.sections.map(\.source) == [.unchanged])
    #expect(whole.outcome == .complete && whole.sections.map(\.items) == [4])
    #expect(shop.store.requests.map(\.status) == [304, 304, 200, 200, 200])
  }

  @Test(arguments: [
    ("ftp://elsewhere.example/2", "scheme-refused"), ("http://10.9.8.7/2", "address-refused"),
  ])
  func `when a next page is refused, the pages before it are kept and its URL is named`(
    next: String,
    reason: String
  ) throws {
    shop.put(try list(["1"], next: next), at: "/shop/A")

    let report = try shop.sync(folder, catalog("next: $.next"))

    #expect(report.outcome == .partial)
    #expect(report.sections.map(\.source) == [.network] && report.sections.map(\.items) == [1])
    #expect(report.sections[0].error?.contains(reason) == true)
    #expect(report.failures.map(\.reason) == [reason])
    #expect(try shown() == ["1"])
  }

  @Test(arguments: [
    "null", " null\n", #"{"body": null}"#, #"{"body": {}}"#, #"{"message": "no more"}"#,
    #"{"body": []}"#,
  ])
  func
    `a body without a list ends the listing after a good page, but is a failure as the first page`(
      body: String
    ) throws
  {
    try serve([["1", "2"], ["3"]])
    shop.store.faults.append(
      FaultRule("/shop/A", query: "page=3", .body(Array(body.utf8)))
    )

    let report = try shop.sync(folder, catalog("parameter: page"))
    shop.store.faults = [FaultRule("/shop/A", .body(Array(body.utf8)))]
    let gone = try shop.sync(folder, catalog("parameter: page"))

    #expect(report.outcome == .complete && report.failures.isEmpty)
    #expect(report.sections.map(\.items) == [3])
    #expect(gone.outcome != .complete && gone.sections.map(\.items) == [3])
  }

  @Test(
    arguments: [FaultEffect.status(500), .status(403)]
      + ["<html>", "", " ", #""none""#, "5", #"{"body": "none"}"#, #"{"body": false}"#].map {
        .body(Array($0.utf8))
      }
  )
  func `when a page fails, the pages before it are used and the stored pages after it kept`(
    effect: FaultEffect
  ) throws {
    let catalog = try catalog("parameter: page")
    try serve([["1", "2"], ["3", "4"], ["5"]])
    #expect(try shop.sync(folder, catalog).outcome == .complete)
    shop.store.faults = []
    try serve([["1", "9"], ["3", "4"], ["5"]])
    shop.store.faults[1].effects = [effect]

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .partial && report.failures.count == 1)
    #expect(report.sections.map(\.source) == [.stale])
    #expect(Set(try shown()) == ["1", "2", "3", "4", "5", "9"])
    #expect(report.items.added == ["9"] && report.items.removed.isEmpty)
    #expect(report.sections[0].unread.sorted() == ["2", "3", "4", "5"])
    #expect(report.items.withheld.isEmpty)
  }

  @Test func `every run is partial while the pages do not reach the total that they state`()
    throws
  {
    func page(_ number: Int, _ ids: [String], total: Int = 50) throws {
      let items = ids.map { ["detail_hash": $0, "title": "Dish \($0)"] }
      let body = try SampleShop.json(["body": items, "total": total])
      shop.store.faults.append(
        FaultRule("/shop/A", query: "page=\(number)", .body(Array(body.utf8)))
      )
    }
    try page(1, ["1", "2", "2"])
    try page(2, ["3"])
    try page(3, [])

    for _ in 0..<2 {
      let report = try shop.sync(folder, catalog("parameter: page"))

      #expect(report.outcome == .partial && report.failures.isEmpty)
      #expect(report.sections[0].warning?.contains("50 items, but its pages list only 4;") == true)
    }
    shop.store.faults = []
    try page(1, ["1", "2", "2"], total: 4)
    try page(2, ["3"], total: 4)
    try page(3, [], total: 4)
    #expect(try shop.sync(folder, catalog("parameter: page")).outcome == .complete)
  }

  @Test func `an item that moves to an earlier page while the pages are read is not removed`()
    throws
  {
    func serve(_ pages: [[String]], total: Int) throws {
      shop.store.faults = try pages.enumerated().map { number, ids in
        let items = ids.map { ["detail_hash": $0, "title": "Dish \($0)"] }
        let body = try SampleShop.json(["body": items, "total": total])
        return FaultRule("/shop/A", query: "page=\(number + 1)", .body(Array(body.utf8)))
      }
    }
    let catalog = try catalog("parameter: page")
    try serve([["1", "2", "3"], ["4", "5"], []], total: 5)
    _ = try shop.sync(folder, catalog)

    // While page 1 was read, 5 moved to the front, so that 3 is on page 2 too.
    try serve([["1", "2", "3"], ["3", "4"], []], total: 5)
    let moving = try shop.sync(folder, catalog)
    #expect(moving.outcome == .partial && moving.items.removed.isEmpty)
    #expect(moving.sections.map(\.source) == [.stale] && moving.sections[0].unread == ["5"])
    #expect(
      moving.sections[0].warning?.contains("5 items, but its pages list only 4 diff") == true
    )
    #expect(Set(try shown()) == ["1", "2", "3", "4", "5"])

    // A shop whose total is wrong keeps no item for ever.
    let wrong = try shop.sync(folder, catalog)
    #expect(wrong.items.removed == ["5"] && wrong.sections.map(\.source) != [.stale])
    #expect(Set(try shown()) == ["1", "2", "3", "4"])
  }

  @Test func `an item that is sold out while the pages are read takes no neighbour with it`()
    throws
  {
    func serve(_ pages: [([String], total: Int)]) throws {
      shop.store.faults = try pages.enumerated().map { number, page in
        let items = page.0.map { ["detail_hash": $0, "title": "Dish \($0)"] }
        let body = try SampleShop.json(["body": items, "total": page.total])
        return FaultRule("/shop/A", query: "page=\(number + 1)", .body(Array(body.utf8)))
      }
    }
    let catalog = try catalog("parameter: page")
    try serve([(["1", "2"], 5), (["3", "4"], 5), (["5"], 5), ([], 5)])
    _ = try shop.sync(folder, catalog)

    // Behind page 1, item 1 is sold out: 3 moves to page 1, and no page lists it.
    try serve([(["1", "2"], 5), (["4", "5"], 4), ([], 4)])
    let changing = try shop.sync(folder, catalog)
    try serve([(["2", "3"], 4), (["4", "5"], 4), ([], 4)])
    let settled = try shop.sync(folder, catalog)

    #expect(changing.outcome == .partial && changing.items.removed.isEmpty)
    #expect(settled.outcome == .complete && settled.items.removed == ["1"])
  }

  @Test(
    arguments: [
      ("parameter: page", #"{"errors": [{"message": "Throttled"}]}"#),
      ("parameter: page", #"{"errors": [{"message": "Throttled"}], "data": null}"#),
      ("next: $.next", #"{"error": {"message": "Throttled"}}"#),
      ("next: $.next", #"{"error": "Throttled"}"#),
    ]
  )
  func `an error under status 200 in place of a page is a failure and not the end`(
    _ paging: String,
    _ body: String
  ) throws {
    shop.put(try list(["1", "2"], next: "A?page=2"), at: "/shop/A")
    let second = try list(["3", "4"], next: "A?page=3")
    let last = try list([])
    shop.store.faults = [
      FaultRule("/shop/A", query: "page=2", .body(Array(second.utf8))),
      FaultRule("/shop/A", query: "page=3", .body(Array(last.utf8))),
    ]
    let rules = "items: $.body\nitem: {id: $.detail_hash, title: $.title}"
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {\(paging)}\n\(rules)"
    )
    _ = try shop.sync(folder, catalog)
    shop.store.faults[0].effects = [.body(Array(body.utf8))]

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .partial && report.items.removed.isEmpty)
    #expect(report.failures.count == 1)
    #expect(report.sections[0].error?.contains("the origin says: Throttled") == true)
    #expect(Set(try shown()) == ["1", "2", "3", "4"])
  }

  @Test func `after a failed page, the pages before it are not sent again`() throws {
    try serve([["1"], ["2"], ["3"], ["4"], []])
    let good = shop.store.faults
    shop.store.faults[2].effects = [.status(500)]
    let catalog = try catalog("parameter: page")

    let failed = try shop.sync(folder, catalog)
    shop.store.faults = good
    shop.store.clearRequests()
    let resumed = try shop.sync(folder, catalog)

    #expect(failed.sections.map(\.source) == [.network] && failed.sections.map(\.items) == [2])
    #expect(shop.store.requests.map(\.status) == [304, 304, 200, 200, 200])
    #expect(resumed.outcome == .complete)
    #expect(try shown() == ["1", "2", "3", "4"])
  }

  @Test func `warm does not request fresh pages again`() throws {
    try serve([["1"], ["2"], ["3"], []])
    for number in shop.store.faults.indices {
      shop.store.faults[number].effects.append(.header("Cache-Control", "max-age=600"))
    }
    let good = shop.store.faults
    shop.store.faults[2].effects = [.status(500)]
    let catalog = try catalog("parameter: page")
    var due = SyncOptions()
    due.onlyDue = true

    _ = try shop.sync(folder, catalog, options: due)
    shop.store.faults = good
    shop.store.clearRequests()
    let resumed = try shop.sync(folder, catalog, options: due)

    #expect(shop.store.requests.map(\.query) == ["page=3", "page=4"])
    #expect(resumed.sections.map(\.items) == [3])
  }

  /// A case: the items of the pages before and after items moved, the pages that are stale in the second run, and the
  /// pages that this run should request.
  struct Move: Sendable {
    var before: [[String]]
    var after: [[String]]
    var due: Set<Int>
    var asked: [Int]
    var shown: [String]
  }

  private static let moves = [
    // Items move to the next page, then to the previous page.
    Move(
      before: [["1", "2"], ["3", "4"], ["5", "6"]],
      after: [["0", "1"], ["2", "3"], ["4", "5"], ["6"]],
      due: [1],
      asked: [1, 2, 3, 4, 5],
      shown: ["0", "1", "2", "3", "4", "5", "6"]
    ),
    Move(
      before: [["1", "2"], ["3", "4"], ["5", "6"]],
      after: [["2", "3"], ["4", "5"], ["6"]],
      due: [2],
      asked: [2, 1, 3, 4],
      shown: ["2", "3", "4", "5", "6"]
    ),
    Move(
      before: [["1", "2"], ["3", "4"], ["5", "6"]],
      after: [["1", "2"], ["3", "4"], ["5", "6"]],
      due: [2],
      asked: [2],
      shown: ["1", "2", "3", "4", "5", "6"]
    ),
    // The last page is missing, because its item moved to the page before.
    Move(
      before: [["1", "2"], ["3"]],
      after: [["1", "3"]],
      due: [2],
      asked: [2, 1],
      shown: ["1", "3"]
    ),
  ]

  @Test(arguments: moves.indices)
  func `warm never loses an item that moves between pages, whichever pages are fresh`(
    number: Int
  ) throws {
    let move = Self.moves[number]
    let isGoneBehind = move.after.count == 1
    try serve(move.before)
    for page in shop.store.faults.indices {
      let age = move.due.contains(page + 1) ? 60 : 600
      shop.store.faults[page].effects.append(.header("Cache-Control", "max-age=\(age)"))
    }
    shop.store.faults.append(
      FaultRule(
        "/shop/A",
        query: "page=\(move.before.count + 1)",
        .header("Cache-Control", "max-age=600")
      )
    )
    let catalog = try catalog("parameter: page")
    var due = SyncOptions()
    due.onlyDue = true

    _ = try shop.sync(folder, catalog, options: due)
    shop.store.faults = []
    try serve(move.after)
    if isGoneBehind {
      shop.store.faults.append(FaultRule("/shop/A", query: "page=2", .status(404)))
    }
    shop.store.clearRequests()
    shop.clock.advance(120)
    due.allowRemovals = true
    let report = try shop.sync(folder, catalog, options: due)

    #expect(shop.store.requests.map(\.query) == move.asked.map { "page=\($0)" })
    #expect(try shown() == move.shown)
    #expect(report.outcome == .complete)
  }

  @Test func `pages of a combined response keep the indices of each section`() throws {
    let pages = [
      #"[{"key": "a", "items": [{"id": 1, "title": "t"}, 5]}, {"key": "b", "items": [7]}]"#,
      #"[{"key": "b", "items": [{"id": 2, "title": "t"}, 8]}, {"key": "a", "items": [6]}]"#, "[]",
    ]
    for (number, body) in pages.enumerated() {
      shop.store.faults.append(
        FaultRule(
          "/shop/all",
          query: "page=\(number + 1)",
          .body(Array(#"{"list": \#(body), "page": \#(number)}"#.utf8))
        )
      )
    }
    let catalog = try shop.catalog(
      sections: "{url: all, each: \"$.list[*]\", key: $.key}",
      detail: false,
      "paging: {parameter: page}"
    )

    let report = try shop.sync(folder, catalog, options: lenient)

    #expect(report.sections.map(\.key) == ["a", "b"])
    #expect(report.sections.map(\.items) == [1, 1])
    #expect(report.skipped.map(\.section) == ["a", "a", "b", "b"])
    #expect(report.skipped.map(\.index) == [1, 2, 0, 2])
  }

  @Test func `the index grows linearly with the pages`() throws {
    func indexSize(pages: Int) throws -> Int {
      let folder = try TemporaryFolder()
      let shop = try SampleShop(sections: 1, items: 1)
      for page in 0..<pages {
        let ids = (0..<50).map { "page-\(page)-item-\($0)" }
        let next = page + 1 < pages ? "p\(page + 1)" : nil
        shop.put(try list(ids, next: next), at: "/shop/\(page == 0 ? "A" : "p\(page)")")
      }
      let catalog = try shop.catalog(
        sections: "[{key: A, url: A}]",
        detail: false,
        "paging: {next: $.next}"
      )
      let report = try shop.sync(folder, catalog)
      #expect(report.sections.map(\.items) == [pages * 50])
      return try folder.read("cache/index.sqlite").count
    }

    let sizes = [try indexSize(pages: 50), try indexSize(pages: 200)]

    #expect(Double(sizes[1]) < 4.5 * Double(sizes[0]), "\(sizes)")
  }

  @Test func `a Link header is followed, and stored pages remember their next page`() throws {
    shop.put(try list(["1", "2"]), at: "/shop/A")
    shop.put(try list(["3"]), at: "/shop/B")
    shop.store.faults.append(
      FaultRule("/shop/A", .header("Link", "<A>; rel=\"prev\", <B?x=1>; rel=\"next\""))
    )

    for _ in 0..<2 {
      let report = try shop.sync(folder, catalog("link: true"))

      #expect(try shown() == ["1", "2", "3"])
      #expect(report.outcome == .complete)
    }
  }

  @Test func `offsets advance by the items received until a page is empty`() throws {
    for (offset, ids) in [(0, ["1", "2"]), (2, ["3"])] {
      shop.store.faults.append(
        FaultRule("/shop/A", query: "n=2&skip=\(offset)", .body(Array(try list(ids).utf8)))
      )
    }
    shop.put(try list([]), at: "/shop/A")

    let report = try shop.sync(folder, catalog("offset: skip, size: {name: n, value: 2}"))

    #expect(pageRequests == 3)
    #expect(try shown() == ["1", "2", "3"])
    #expect(report.outcome == .complete)
  }

  @Test func `each section has its own paging`() throws {
    try serve([["1"], ["2"]])
    shop.put(try list(["9"]), at: "/shop/B")
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A, paging: {page: page}}, {key: B, url: B}]",
      detail: false
    )

    let report = try shop.sync(folder, catalog)

    #expect(report.sections.map(\.items) == [2, 1])
    #expect(try shown() == ["1", "2", "9"])
  }

  /// The ways to leave out the items whose price is empty, as lines of a catalog file.
  private static let filters = [
    "items: \"$.body[?@.s_price]\"\nitem: {id: $.detail_hash, title: $.title}",
    "items: $.body\nrecords: select(.s_price)\nitem: {id: $.detail_hash, title: $.title}",
    "transform: \"{items: [.body[] | select(.s_price) | {id: .detail_hash, title}]}\"",
  ]

  @Test(
    arguments: [
      "next: $.next", "cursor: page, from: $.cursor", "link: true", "page: page", "offset: page",
    ],
    filters
  )
  func `pages of which a filter leaves nothing do not end the listing`(
    _ paging: String,
    _ filter: String
  ) throws {
    let isTransformed = filter.hasPrefix("transform")
    let isCounted = paging.hasPrefix("page") || paging.hasPrefix("offset")
    // Nobody knows whether a page that a transform leaves empty is the last one, so only three in a row are.
    let gap = isTransformed && isCounted ? 2 : 5
    let first = paging.hasPrefix("page") ? 1 : 0
    for number in 0..<(gap + 2) {
      let isShown = number == 0 || number == gap + 1
      let items = [
        ["detail_hash": "\(number)", "title": "Dish \(number)", "s_price": isShown ? "1" : nil]
          .compactMapValues(\.self)
      ]
      let next = number <= gap ? "\(number + 1)" : nil
      let page: [String: Any] = [
        "body": items, "next": next.map { "A?page=\($0)" } ?? "", "cursor": next ?? "",
      ]
      let query = number == 0 && !isCounted ? nil : "page=\(first + number)"
      var rules: [FaultEffect] = [.body(Array(try SampleShop.json(page).utf8))]
      if paging.hasPrefix("link"), let next {
        rules.append(.header("Link", "<A?page=\(next)>; rel=\"next\""))
      }
      for rule in rules { shop.store.faults.append(FaultRule("/shop/A", query: query, rule)) }
    }
    shop.put(try list([]), at: "/shop/A")
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {\(paging)}\n\(filter)"
    )

    for _ in 0..<2 {
      let report = try shop.sync(folder, catalog)

      #expect(try shown() == ["0", "\(gap + 1)"])
      #expect(report.outcome == .complete)
    }
  }

  @Test func `pages of empty sections do not end a listing of several sections`() throws {
    for (number, sections) in [["a", "b"], ["c"], ["d"]].enumerated() {
      let page = sections.map { key in
        ["key": key, "items": key == "c" ? [] : [["id": key, "title": "Dish"]]] as [String: Any]
      }
      shop.store.faults.append(
        FaultRule(
          "/shop/A",
          query: "page=\(number + 1)",
          .body(Array(try SampleShop.json(["sections": page]).utf8))
        )
      )
    }
    shop.put(#"{"sections": []}"#, at: "/shop/A")
    let catalog = try shop.catalog(
      sections: "{url: A, each: \"$.sections[*]\", key: $.key, title: $.key}",
      detail: false,
      "paging: {page: page}\nitems: $.items\nitem: {id: $.id, title: $.title}"
    )

    let report = try shop.sync(folder, catalog)

    #expect(try shown() == ["a", "b", "d"])
    #expect(report.sections.map(\.key) == ["a", "b", "c", "d"] && report.outcome == .complete)
  }

  @Test func `products without variants do not make a run partial that read the announced total`()
    throws
  {
    for (number, variants) in [[2, 2, 1, 0, 0], [1, 0, 0]].enumerated() {
      let products = variants.enumerated().map { place, count in
        ["variants": (0..<count).map { ["id": "\(number)\(place)\($0)", "title": "Dish"] }]
      }
      shop.store.faults.append(
        FaultRule(
          "/shop/A",
          query: "page=\(number + 1)",
          .body(Array(try SampleShop.json(["products": products, "total": 8]).utf8))
        )
      )
    }
    shop.put(#"{"products": [], "total": 8}"#, at: "/shop/A")
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      """
      paging: {page: page}
      items: "$.products[*].variants[*]"
      item: {id: $.id, title: $.title}
      """
    )

    let report = try shop.sync(folder, catalog)

    #expect(report.outcome == .complete && report.sections.map(\.items) == [6])
  }

  @Test
  func
    `a last page that a shop sends again and again ends the listing, even if a filter leaves nothing of it`()
    throws
  {
    for number in 0..<9 {
      let body =
        number == 0
        ? #"{"body": [{"id": "1", "title": "Dish", "ok": true}]}"#
        : #"{"body": [{"id": "2", "title": "Dish", "ok": false}]}"#
      let query = number == 0 ? nil : "page=\(number)"
      for effect in [
        FaultEffect.body(Array(body.utf8)),
        .header("Link", "<A?page=\(number + 1)>; rel=\"next\""),
      ] {
        shop.store.faults.append(FaultRule("/shop/A", query: query, effect))
      }
    }
    shop.put(try list([]), at: "/shop/A")
    let catalog = try shop.catalog(
      sections: "[{key: A, url: A}]",
      detail: false,
      "paging: {link: true}\nitems: \"$.body[?@.ok == true]\"\nitem: {id: $.id, title: $.title}"
    )

    let report = try shop.sync(folder, catalog)

    #expect(try shown() == ["1"])
    #expect(report.outcome == .complete && pageRequests == 5)
  }
}
