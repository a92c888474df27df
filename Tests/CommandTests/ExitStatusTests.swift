import Foundation
import SampleStore
import Support
import Testing

/// The exit statuses of `larder sync` and of the commands that read.
///
/// Each name of a test begins with the status.
@Suite struct ExitStatusTests {
  @Test func `0 when everything succeeded`() throws {
    let shop = try Shop()

    #expect(try shop.sync().status == 0)
  }

  @Test(arguments: [
    "path=/pictures/A1.jpg status=404",
    "path=/pictures/A1.jpg header=\"Content-Type: text/html\" body=\"<html>\"",
    "path=/pictures/A1.jpg truncate=10",
    "path=/develop/detail/A1 status=500",
    "path=/develop/soup status=500",
    "path=/develop/soup body=\"[{]\"",
    "path=/develop/soup close",
  ])
  func `3 when a part fails and the other parts are stored`(_ faults: String) throws {
    let shop = try Shop(faults: faults)

    let sync = try shop.sync("--json")

    #expect(sync.status == 3)
    #expect(try Document(sync)["outcome"].string == "partial")
    #expect(try Document(sync)["failures"].count == 1)
    #expect(try shop.larder("list", "main").lines.count == 3)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `69 when the origin is down, although the last good catalog is shown as stale`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    shop.store.stop()

    let sync = try shop.sync("--json")

    #expect(sync.status == 69)
    #expect(try Document(sync)["sections"][0]["source"].string == "stale")
    #expect(try Document(sync)["sections"][0]["items"].int == 2)
    #expect(try Document(try shop.larder("list", "--json"))[0]["stale"].bool == true)
  }

  @Test func `4 when the shrink guard keeps items, in every run until removals are allowed`()
    throws
  {
    let shop = try Shop()
    shop.list((10...30).map { Shop.item("B\($0)", picture: "A1") }, in: "main")
    #expect(try shop.sync("--no-details").status == 0)
    shop.list((10...20).map { Shop.item("B\($0)", picture: "A1") }, in: "main")

    for _ in 1...2 {
      let sync = try shop.sync("--no-details", "--json")
      #expect(sync.status == 4)
      #expect(try Document(sync)["outcome"].string == "withheld")
      #expect(try Document(sync)["items"]["withheld"].count == 10)
    }
    #expect(try shop.sync("--no-details", "--allow-removals").status == 0)
    #expect(try Document(try shop.larder("list", "main", "--json")).count == 11)
  }

  @Test func `65 when the only section is malformed, with line and column`() throws {
    let shop = try Shop()
    let catalog = try shop.folder.write(
      """
      name: one
      currency: KRW
      base: \(shop.store.baseURL)/
      sections: [{key: main, title: 메인반찬, url: broken}]
      """,
      to: "one.yaml"
    )
    shop.store.content["/broken.json"] = Resource(json: "[\n  {\"a\": 1},\n  {b: 2}\n]")

    let sync = try Command.larder(["sync", catalog, "--cache", shop.cache])

    #expect(sync.status == 65)
    #expect(sync.errors.contains(#/line 3, column \d/#))
  }

  @Test func `3 when a further page failed, and 65 when a local file is missing`()
    throws
  {
    let shop = try Shop(headers: "paging: {page: page}")
    for section in ["main", "soup"] {
      shop.store.faults.append(
        FaultRule("/develop/\(section)", query: "page=2", .status(503))
      )
    }
    let lost = try shop.folder.write(
      "{name: lost, currency: KRW, sections: [{key: main, title: Main, url: \"file:none.json\"}]}",
      to: "lost.yaml"
    )

    let first = try shop.sync("--no-details")
    let second = try shop.sync("--no-details")
    let absent = try Command.larder(["sync", lost, "--cache", shop.cache])

    #expect(first.status == 3 && second.status == 3)
    #expect(absent.status == 65)
    #expect(absent.errors.contains("no-such-file"))
  }

  @Test func `69 when the origin is down and nothing is cached`() throws {
    let shop = try Shop(isOpen: false)

    let sync = try shop.sync()

    #expect(sync.status == 69)
    #expect(sync.errors.contains("connect-refused"))
  }

  @Test func `74 when the cache's path is a file`() throws {
    let shop = try Shop()
    _ = try shop.folder.write("a file", to: "cache")

    let sync = try shop.sync()

    #expect(sync.status == 74)
    #expect(sync.errors.contains(shop.cache))
    #expect(sync.errors.contains("not a directory"))
    #expect(shop.store.requests.isEmpty)
    #expect(try shop.folder.text("cache") == "a file")
  }

  @Test func `74 when the cache cannot be made, even by root`() throws {
    let shop = try Shop()

    let sync = try Command.larder(["sync", shop.catalog, "--cache", "/proc/larder/cache"])

    #expect(sync.status == 74)
    #expect(sync.errors.contains("/proc/larder"))
    #expect(shop.store.requests.isEmpty)
  }

  @Test func `74 when the index is not a database`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    _ = try shop.folder.write(
      String(repeating: "no database ", count: 999),
      to: "cache/index.sqlite"
    )

    for command in [try shop.larder("gc"), try shop.larder("list")] {
      #expect(command.status == 74)
      #expect(command.errors.contains("index.sqlite"))
      #expect(command.errors.contains("larder verify --repair"))
    }
    let verify = try shop.larder("verify")
    #expect(verify.status == 74)
    #expect(verify.output.contains("the index is damaged"))
    #expect(try shop.larder("verify", "--repair").status == 74)
    #expect(try Document(try shop.sync("--json"))["images"]["fetched"].int == 0)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `75 while another run holds the cache, and the message names it`() throws {
    let shop = try Shop(faults: "path=/pictures/* hang")
    let first = try shop.startSync(requests: Shop.requests)

    let second = try shop.sync()

    #expect(second.status == 75)
    #expect(second.errors.contains(#/larder sync banchan, process \d+ is using it/#))
    first.send(SIGTERM)
    #expect(try first.wait().status == 143)
    shop.store.faults = []
    #expect(try shop.sync().status == 0)
  }

  @Test func `75 when the deadline passes, and the report lists unfinished work`() throws {
    let shop = try Shop(faults: "path=/pictures/S1.jpg hang")

    let sync = try shop.sync("--deadline", "1s", "--json")

    #expect(sync.status == 75)
    #expect(try Document(sync)["unfinished"].count == 1)
    #expect(try Document(sync)["images"]["fetched"].int == 4)
  }

  @Test func `78 for an unknown key, with its place and the nearest known key`() throws {
    let file = "\(Command.samples)/faulty/unknown-key.yaml"

    let sync = try Command.larder(["sync", file])

    #expect(sync.status == 78)
    #expect(sync.errors.contains(file))
    #expect(sync.errors.contains("line 6, column 17"))
    #expect(sync.errors.contains("titel"))
    #expect(sync.errors.contains(#/\btitle\b/#))
  }

  @Test func `78 for an unset variable, by name, and nothing is created`() throws {
    let shop = try Shop(headers: #"headers: {token: "${LARDER_TEST_UNSET}"}"#)

    let sync = try shop.sync()

    #expect(sync.status == 78)
    #expect(sync.errors.contains("LARDER_TEST_UNSET"))
    #expect(sync.errors.contains(#/line \d+/#))
    #expect(shop.store.requests.isEmpty)
    #expect(throws: (any Error).self) { try shop.folder.stamps(below: "cache") }
  }

  @Test(arguments: [
    "no-sections.yaml", "bad-jsonpath.yaml", "tab-indent.yaml", "duplicate-section.yaml",
    "unset-variable.yaml",
  ])
  func `78 for every faulty catalog file, with file and line`(_ name: String) throws {
    let sync = try Command.larder(["sync", "\(Command.samples)/faulty/\(name)"])

    #expect(sync.status == 78)
    #expect(sync.output == "")
    #expect(sync.errors.contains(name))
    #expect(sync.errors.contains(#/line \d+/#))
  }

  @Test(arguments: ["list", "status", "verify", "diff"])
  func `1 when there is no cache to read, and none is created`(_ name: String) throws {
    let shop = try Shop()

    let command = try shop.larder(name)

    #expect(command.status == 1)
    #expect(command.errors.contains("larder sync"))
    #expect(throws: (any Error).self) { try shop.folder.stamps(below: "cache") }
  }
}
