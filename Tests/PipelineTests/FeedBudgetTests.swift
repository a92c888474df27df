import Base
import Support
import Testing
import Transport

@testable import Cache
@testable import Catalog
@testable import Pipeline

/// The report and the index stay small, whatever a shop sends.
struct FeedBudgetTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  private func serve(lost: Int, good: Int) {
    let items = (0..<good).map { #"{"detail_hash": "G\#($0)", "title": "a"}"# }
    let all = Array(repeating: "0", count: lost) + items
    shop.put(#"{"body": [\#(all.joined(separator: ","))]}"#, at: "/shop/A")
  }

  private func sync(_ limit: SkipLimit) throws -> SyncReport {
    var options = SyncOptions()
    options.maxSkipped = limit
    return try shop.sync(folder, shop.catalog(detail: false), options: options)
  }

  @Test
  func `a report lists a thousand skipped rows of a section and counts the rest, in every run`()
    throws
  {
    serve(lost: 3000, good: 2000)

    let reports = [try sync(.percent(80)), try sync(.percent(80))]

    #expect(reports[1].sections[0].source == .unchanged)
    for report in reports {
      #expect(report.sections[0].items == 2000 && report.sections[0].skipped == 3000)
      #expect(report.skipped.map(\.index) == Array(0..<1000))
      #expect(
        report.sections[0].skippedReasons == ["expected an object, found a number": 2000]
      )
      #expect(try SyncReport(json: report.json).sections == report.sections)
    }
  }

  @Test
  func
    `a listing with too many unreadable items is withheld, and accepted when the limit is raised`()
    throws
  {
    serve(lost: 0, good: 20)
    let first = try sync(.standard)
    serve(lost: 6_000, good: 9_000)
    let refused = try sync(.standard)
    let allowed = try sync(.percent(50))

    #expect(first.sections[0].items == 20)
    #expect(refused.sections[0].source == .withheld && refused.sections[0].items == 20)
    let error = try #require(refused.sections[0].error)
    #expect(error.contains("6000 of its 15000 items cannot be read"), "\(error)")
    #expect(refused.sections[0].skipped == 6000 && refused.items.withheld.isEmpty)
    #expect(allowed.sections[0].error == nil && allowed.sections[0].items == 9_000)
  }

  @Test func `reading of a large listing stops at the limit, before its end`() throws {
    let pad = String(repeating: "x", count: 900)
    let bad = Array(repeating: #"{"title": "\#(pad)"}"#, count: 10_000)
    shop.put(#"{"body": [\#(bad.joined(separator: ","))]}"#, at: "/shop/A")

    let report = try sync(.percent(0.01))

    #expect(report.sections[0].source == .failed)
    #expect(report.sections[0].error?.contains("of its first") == true)
    #expect(report.sections[0].skipped < 5000)
  }

  @Test func `a stage keeps a thousand failures with their URLs and counts the others`() {
    let log = FailureLog()
    for number in (0..<2500).reversed() {
      let url = "https://shop.example/\(10_000 + number)"
      let failure = TransferFailure(reason: .http(404), url: url)
      log.note(.picture, id: nil, failure, of: PictureID(url: url))
    }
    log.note(.section, id: "A", TransferFailure(reason: .dnsFailed, url: "https://shop.example/"))

    let all = log.all(owners: [:])

    #expect(all.failures.count == 1001 && all.failures[0].stage == .section)
    #expect(all.failures[1].url.hasSuffix("/10000") && all.failures[1000].url.hasSuffix("/10999"))
    #expect(all.omitted == [.picture: ["http-404": 1500]])
  }

  @Test
  func
    `failures that are only counted are still counted after a report is written and read as JSON`()
    throws
  {
    var report = SyncReport(catalog: "c")
    report.failuresOmitted = [.picture: ["http-404": 1500]]

    #expect(try SyncReport(json: report.json).failuresOmitted == report.failuresOmitted)
    #expect(report.failureCount == 1500 && report.failureCounts == report.failuresOmitted)
  }

  @Test func `a file compressed again for transfer is judged by the bytes transferred`() throws {
    let file = gzipBomb([], zeros: 2 << 20)

    let bomb = #expect(throws: TransferFailure.self) {
      try PackedBody.plain(
        DocumentBody(file),
        of: "a.gz",
        sent: ByteCount(100),
        limit: .mebibytes(64)
      )
    }
    #expect(bomb?.reason == .tooLarge)
    #expect(bomb?.detail == BombGuard.words)
    // The data is complete; only the gzip trailer is missing.
    let short = #expect(throws: TransferFailure.self) {
      try PackedBody.plain(
        DocumentBody(file),
        of: "a.gz",
        sent: ByteCount(20_000),
        limit: .mebibytes(64)
      )
    }
    #expect(short?.reason == .undecodable)
    #expect(short?.detail == "its gzip data ends too early")
  }

  @Test func `all sections of a page are stored by one call that returns their numbers`() throws {
    let index = try Index(CacheLayout(creating: folder.path("own")))
    var sections: [(section: DecodedSection, listing: NewListing)] = []
    for number in 0..<3 {
      let item = NewItem(key: "\(number)", body: [UInt8(number)], pictures: [])
      let section = DecodedSection(key: "\(number)", title: "", subtitle: nil, skipped: "")
      sections.append((section, NewListing.items([item])))
    }
    let document = DocumentEntry(url: "u", mapping: 1)

    let kept = try index.store(document, new: sections)

    #expect(try index.decoded(document.id) == kept)
    let keys = try kept.flatMap { try index.itemKeys(listing: $0.listing) }
    #expect(keys == ["0", "1", "2"])
    #expect(try index.store(document, new: sections) == kept)
  }
}
