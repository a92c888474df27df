import Foundation
import SampleStore
import Support
import Testing

@testable import LarderCommands

/// `larder catalog init` with several listings, with details, with POST requests and from stdin.
@Suite struct CatalogInitTests {
  private static func list(_ ids: ClosedRange<Int>) -> String {
    ids.map {
      #"{"id": "\#($0)", "name": "Cup \#($0)", "price": "\#($0).50", "photo": "/pictures/A1.jpg"}"#
    }
    .joined(separator: ",")
  }

  @Test func `several listings and a detail become a catalog that sync reads completely`() throws {
    let shop = try Shop()
    let file = shop.folder.path("cups.yaml")
    for (key, ids) in [("cups", 1...2), ("mugs", 3...4)] {
      shop.store.content["/api/\(key)"] = Resource(json: "[\(Self.list(ids))]")
      for id in ids {
        shop.store.content["/api/item/\(id)"] = Resource(
          json: #"{"text": "long", "photos": ["/pictures/A1.jpg", "/pictures/A2.jpg"]}"#
        )
      }
    }

    let base = "\(shop.store.baseURL)/api"
    let proposed = try Command.larder([
      "catalog", "init", "\(base)/cups", "\(base)/mugs", "--detail", "\(base)/item/3", "--out",
      file,
      "--currency", "EUR",
    ])
    let synced = try Document(
      Command.larder(["sync", file, "--cache", shop.cache, "--retries", "0", "--json"])
    )

    #expect(proposed.status == 0, "\(proposed.errors)")
    #expect(proposed.output.contains("it reads 4 items in 2 sections"))
    #expect(proposed.output.contains("  the detail of 3: a description, 2 pictures\n"))
    #expect(synced["outcome"].string == "complete")
    #expect((0..<2).map { synced["sections"][$0]["key"].string } == ["cups", "mugs"])
    #expect(synced["details"]["fetched"].int == 4)
    #expect(synced["images"]["fetched"].int == 2)
  }

  @Test func `a proposal with a detail fits its schema`() throws {
    let folder = try TemporaryFolder()
    let listing = try folder.write("[\(Self.list(1...2))]", to: "cups.json")
    let detail = try folder.write(
      #"{"description": "long", "vendor": "Kiln"}"#,
      to: "detail-2.json"
    )

    let proposed = try Command.larder([
      "catalog", "init", listing, "--detail", detail, "--out", folder.path("cups.yaml"), "--json",
    ])

    let document = try Document(proposed)
    #expect(try JSONSchema("proposal").findings(in: proposed.lines[0]) == [])
    #expect(document["detail"]["id"].string == "2")
    #expect(document["detail"]["notes"][0].string == "vendor")
    #expect(document["yaml"].string?.contains("detail-{id}.json") == true)
  }

  @Test(arguments: ["cups.json", "cups.jsonl"])
  func `a response on stdin is read, JSON Lines included`(_ name: String) throws {
    let folder = try TemporaryFolder()
    let items = Self.list(1...3)
    let text = name.hasSuffix("l") ? items.replacing("},{", with: "}\n{") : "[\(items)]"
    let source = try folder.write(text, to: name)

    let proposed = try Command.shell("$larder catalog init - --out - < \(source)")

    #expect(proposed.status == 0, "\(proposed.errors)")
    #expect(proposed.output.contains("# stdin has no address"))
    #expect(proposed.errors.contains("the file above reads 3 items"))
  }

  @Test func `the second page is requested, and the paging that returns it is written`() throws {
    let shop = try Shop()
    let first = #"{"total": 4, "goods": [\#(Self.list(1...2))]}"#
    shop.store.content["/api/list"] = Resource(json: first)
    let file = shop.folder.path("cups.yaml")

    let proposed = try Command.larder([
      "catalog", "init", "\(shop.store.baseURL)/api/list", "--out", file, "--retries", "0",
    ])

    #expect(proposed.status == 0, "\(proposed.errors)")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("\n# paging: "), "\(text)")
    #expect((2...9).contains(shop.store.requests.count))
  }

  @Test func `a header is sent, and written into the file without its secret`() throws {
    let shop = try Shop()
    shop.store.content["/api/list"] = Resource(json: "[\(Self.list(1...2))]")

    let proposed = try Command.larder(
      [
        "catalog", "init", "\(shop.store.baseURL)/api/list", "--out", "-", "--header",
        "token: ${SHOP_TOKEN}",
      ],
      environment: ["SHOP_TOKEN": "hush-1"]
    )

    #expect(proposed.status == 0, "\(proposed.errors)")
    #expect(proposed.output.contains("\nheaders:\n  token: \"${SHOP_TOKEN}\"\n"))
    #expect(proposed.output.contains("# Set in the environment before a run: SHOP_TOKEN\n"))
    #expect(!proposed.output.contains("hush-1") && !proposed.errors.contains("hush-1"))
    #expect(
      shop.store.requests.first?.headers.contains {
        $0.name.lowercased() == "token" && $0.value == "hush-1"
      } == true
    )
  }

  @Test(arguments: [
    (["-", "-"], "only one of the responses can come from stdin"),
    (["-", "--detail", "-"], "only one of the responses can come from stdin"),
    (["a.json", "a.json"], "a.json is given twice"),
    (["a.json", "--body", "{}"], "--body needs a URL to be sent to, not a.json"),
    (
      ["http://a.example/", "http://b.example/", "--body", "{}"],
      "--body works with one listing, but 2 are given"
    ),
    (["http://127.0.0.1:1/", "--body", "{"], "cannot read request body"),
    (["http://127.0.0.1:1/", "--body", "@no-such.json"], "cannot read request body no-such.json"),
    (["http://127.0.0.1:1/", "--name", "a/b"], "--name must be usable as a file name"),
    (
      ["http://127.0.0.1:1/", "--header", "token: abc"],
      "the value of header token belongs into the environment"
    ),
    (
      ["http://127.0.0.1:1/", "--header", "token: ${NO_SUCH}"],
      "environment variable NO_SUCH, which is not set"
    ),
    (["http://127.0.0.1:1/", "--header", "token"], "a header is written as 'NAME: VALUE'"),
    ([], "url|file"),
  ])
  func `options that contradict each other are refused with one sentence of advice`(
    _ words: [String],
    _ message: String
  )
    throws
  {
    let command = try Command.larder(["catalog", "init"] + words)

    #expect(command.status == 64, "\(command.errors)")
    #expect(command.output == "")
    #expect(command.errors.contains(message), "\(command.errors)")
  }
}
