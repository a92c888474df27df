import Foundation
import Glibc
import SampleStore
import Support
import Testing

/// `larder sync` as used from a shell.
@Suite struct SyncTests {
  @Test func `a proxy from the environment alone is not used`() throws {
    let proxy = try SampleStore(SampleContent())
    defer { proxy.stop() }
    let shop = try Shop()
    var environment: [String: String] = [:]
    for name in [
      "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
    ] {
      environment[name] = proxy.baseURL
    }

    let sync = try shop.sync(environment: environment)

    #expect(sync.status == 0 || sync.status == 3)
    #expect(shop.store.requests.count == Shop.requests)
    #expect(proxy.requests.isEmpty)
  }

  /// The keys of `sync --json` that scripts rely on: keys may be added, but never removed.
  private static let keys = keyPaths(
    """
    catalog run outcome sections items details images failures skipped unfinished requests
    durationSeconds squares failuresOmitted unfinishedOmitted
    sections[]: key title items skipped repeats source error remedy withheld kept unread warning \
    skippedReasons
    items: total added removed withheld changed
    items.changed[]: id field from to
    details: total fetched changed missing failed unchanged stale withheld kept error remedy
    images: referenced unique fetched revalidated fresh failed bytesFetched bytesHeld changed
    failures[]: stage id url reason attempts detail remedy known
    failuresOmitted: section detail image
    skipped[]: section index field id lost reason
    """
  )

  @Test func `a first sync prints its report with all keys, and nothing else`() throws {
    let shop = try Shop()

    let sync = try shop.sync("--json")
    let report = try Document(sync)

    #expect(sync.status == 0)
    #expect(sync.errors == "")
    #expect(
      report.keys == Self.keys.filter { !$0.hasPrefix("failures[]") && !$0.contains("changed[]") }
    )
    #expect(report["catalog"].string == "banchan")
    #expect(report["run"].int == 1)
    #expect(report["outcome"].string == "complete")
    #expect(report["sections"].count == 2)
    #expect(report["sections"][0]["key"].string == "main")
    #expect(report["sections"][0]["title"].string == "메인반찬")
    #expect(report["sections"][0]["items"].int == 2)
    #expect(report["sections"][0]["skipped"].int == 1)
    #expect(report["sections"][0]["source"].string == "network")
    #expect(report["sections"][0]["error"].isNull)
    #expect(report["items"]["total"].int == 3)
    #expect(report["items"]["added"].strings == ["A1", "A2", "S1"])
    #expect(report["details"]["fetched"].int == 2)
    #expect(report["details"]["missing"].int == 1)
    #expect(report["images"]["referenced"].int == 7)
    #expect(report["images"]["unique"].int == 5)
    #expect(report["images"]["fetched"].int == 5)
    #expect(report["skipped"][0]["section"].string == "main")
    #expect(report["skipped"][0]["index"].int == 2)
    #expect(report["skipped"][0]["field"].string == "detail_hash")
    #expect(report["requests"].int == Shop.requests)
  }

  @Test func `a change and a failure are in the report with all keys, and the status is 3`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    shop.list(
      [
        Shop.item("A1", price: "6,500원"), Shop.item("A2", picture: "gone"),
        #"{"title": "이름 없는 반찬"}"#,
      ],
      in: "main"
    )

    let sync = try shop.sync("--json")
    let report = try Document(sync)

    #expect(sync.status == 3)
    #expect(sync.errors == "")
    #expect(report.keys == Self.keys)
    #expect(report["outcome"].string == "partial")
    #expect(report["items"]["changed"][0]["id"].string == "A1")
    #expect(report["items"]["changed"][0]["field"].string == "salePrice")
    #expect(report["items"]["changed"][0]["from"].string == "7000")
    #expect(report["items"]["changed"][0]["to"].string == "6500")
    #expect(report["failures"].count == 1)
    #expect(report["failures"][0]["stage"].string == "image")
    #expect(report["failures"][0]["id"].string == "A2")
    #expect(report["failures"][0]["url"].string == "\(shop.store.baseURL)/pictures/gone.jpg")
    #expect(report["failures"][0]["reason"].string == "http-404")
    #expect(report["failures"][0]["attempts"].int == 1)
    #expect(report["images"]["fresh"].int == 4)
    #expect(report["sections"][1]["source"].string == "unchanged")
  }

  @Test func `a section that hangs delays neither other sections nor their details and pictures`()
    throws
  {
    let shop = try Shop(faults: "path=/develop/main hang")

    // Waits for both sections, the detail of S1 and its picture.
    let sync = try shop.startSync(requests: 4, "--json")
    sync.send(SIGTERM)

    let report = try Document(try sync.wait())
    #expect(report["sections"][0]["source"].string == "failed")
    #expect(report["sections"][1]["items"].int == 1)
  }

  @Test func `the summary is on stdout, and each failure is a line on stderr`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")

    let sync = try shop.sync()

    #expect(sync.status == 3)
    #expect(sync.lines.first?.hasPrefix("banchan: partial") == true)
    #expect(sync.errors.contains("image A1: http-404"))
    #expect(sync.errors.contains("section main: skipped item 2, detail_hash"))
    #expect(!sync.output.contains("\u{1B}") && !sync.errors.contains("\u{1B}"))
  }

  @Test func `logs as JSON have one object per line on stderr`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")

    let sync = try shop.sync("--log-format", "json", "--quiet")

    #expect(sync.output == "")
    #expect(sync.errors.split(separator: "\n").count == 2)
    for line in sync.errors.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
      #expect(object?["level"] == "warning")
      #expect(object?["message"]?.isEmpty == false)
    }
  }

  @Test func `a second sync requests nothing fresh and rewrites nothing`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let before = try shop.folder.stamps(below: "cache/images")
    shop.store.clearRequests()

    let report = try Document(try shop.sync("--json"))

    #expect(report["outcome"].string == "complete")
    #expect(report["images"]["fresh"].int == 5)
    #expect(shop.store.requests.allSatisfy { !$0.path.hasPrefix("/pictures/") })
    #expect(shop.store.requests.allSatisfy { $0.status == 304 || $0.status == 404 })
    #expect(try shop.folder.stamps(below: "cache/images") == before)
  }

  @Test func `a dry run of a new cache sends no request and creates no cache`() throws {
    let shop = try Shop()

    let plan = try shop.sync("--dry-run", "--json")

    #expect(plan.status == 0)
    #expect(try Document(plan)["sections"][0]["action"].string == "fetch")
    #expect(shop.store.requests.isEmpty)
    #expect(throws: (any Error).self) { try shop.folder.stamps(below: "cache") }
  }

  @Test func `a dry run changes nothing in a cache and says what it would do`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg header=\"Cache-Control: max-age=0\"")
    #expect(try shop.sync().status == 0)
    _ = try shop.folder.write("stray", to: "cache/images/3f/stray.jpg")
    let before = try shop.folder.stamps(below: "cache")
    shop.store.clearRequests()

    let plan = try shop.sync("--dry-run")
    let document = try Document(try shop.sync("--dry-run", "--json"))

    #expect(plan.status == 0)
    #expect(plan.output.contains("revalidate  \(shop.store.baseURL)/pictures/A1.jpg"))
    #expect(plan.output.contains("sweep  images/3f/stray.jpg"))
    #expect(
      document.keys
        == keyPaths(
          """
          catalog sections details images sweep
          sections[]: url method action
          details: fetch revalidate fresh
          images: fetch revalidate fresh
          """
        )
    )
    #expect(document["images"]["revalidate"].count == 1)
    #expect(document["images"]["fresh"].int == 4)
    #expect(shop.store.requests.isEmpty)
    #expect(try shop.folder.stamps(below: "cache") == before)
  }
}
