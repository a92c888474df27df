import Foundation
import SampleStore
import Support
import Testing

/// Validates the output of `--json` against the published schemas.
@Suite struct SchemaTests {
  /// A command, and the schema for each line of its output.
  struct Case: CustomTestStringConvertible, Sendable {
    let schema: String
    let arguments: [String]
    var testDescription: String { arguments.joined(separator: " ") }

    init(_ schema: String, _ arguments: String...) {
      self.schema = schema
      self.arguments = arguments
    }
  }

  @Test(arguments: [
    Case("sync", "sync", "CATALOG", "--square", "64"),
    Case("plan", "sync", "CATALOG", "--dry-run"),
    Case("sync", "warm", "CATALOG"), Case("list", "list"), Case("show", "show", "A1"),
    Case("show", "show", "S1"), Case("diff", "diff"), Case("runs", "diff", "--runs"),
    Case("history", "history"), Case("history", "history", "A1", "--since", "1d"),
    Case("sql", "sql", "SELECT id, sale_price, 1.5, NULL AS missing FROM items"),
    Case("status", "status"),
    Case("verify", "verify"), Case("gc", "gc"), Case("report", "report"),
  ])
  func `the output of each command for a cache with failures fits its schema`(_ test: Case) throws
  {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    _ = try shop.sync()
    shop.list([Shop.item("A1", price: "6,000원"), Shop.item("A3")], in: "main")
    _ = try shop.sync()

    let arguments = test.arguments.map { $0 == "CATALOG" ? shop.catalog : $0 }
    let printed = try Command.larder(arguments + ["--json", "--cache", shop.cache])

    try expect(printed, fits: test.schema)
  }

  @Test func `the result of an export with a name clash and a missing picture fits its schema`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    _ = try shop.sync("--square", "64")

    let printed = try shop.larder(
      "export",
      shop.folder.path("out"),
      "--flat",
      "--squares",
      "--json"
    )

    #expect(printed.status == 3)
    #expect(try Document(printed)["missing"].count == 1)
    try expect(printed, fits: "export")
  }

  @Test func `the results of made and failed pictures fit their schema`() throws {
    let folder = try TemporaryFolder()
    let bad = try folder.write("no picture", to: "bad.jpg")
    let good = "\(Command.samples)/photo"

    let crops = try Command.larder([
      "crop", good, bad, "--out", folder.path("crops"), "--size", "32", "--json",
    ])
    let stamps = try Command.larder([
      "stamp", good, bad, "--out", folder.path("stamps"), "--size", "64", "--json",
    ])

    try expect(crops, fits: "picture")
    try expect(stamps, fits: "picture")
    #expect(crops.lines.count > 1)
  }

  @Test func `an order and its outcome fit their schemas`() throws {
    let (shop, environment) = try OrderTests.shop()

    let placed = try OrderTests.order(
      "place",
      "A1",
      "--by",
      "Jiyeon",
      "--json",
      in: shop,
      environment
    )
    let sent = try OrderTests.order("send", "--json", in: shop, environment)
    let listed = try OrderTests.order("list", "--json", in: shop, environment)

    let id = try #require(try Document(placed)["order"].string)
    let shown = try OrderTests.order("show", id, "--json", in: shop, environment)
    let advanced = try OrderTests.order("advance", id, "--json", in: shop, environment)
    let again = try OrderTests.order("replay", "--all", "--json", in: shop, environment)

    try expect(placed, fits: "order")
    try expect(sent, fits: "order-send")
    try expect(shown, fits: "order")
    try expect(advanced, fits: "order")
    let orders = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [Any] ?? []
    #expect(orders.count == 1 && again.output == "[]\n")
    for entry in orders {
      let text = String(decoding: try JSONSerialization.data(withJSONObject: entry), as: UTF8.self)
      #expect(try JSONSchema("order").findings(in: text) == [])
    }
  }

  @Test func `a proposed catalog file and the formats fit their schemas`() throws {
    let folder = try TemporaryFolder()
    let body = try folder.write(
      #"{"rows": [{"id": "a", "name": "Soup", "price": 4.5, "img": "https://a.example/a.jpg"}]}"#,
      to: "rows.json"
    )

    try expect(
      try Command.larder([
        "catalog", "init", body, "--out", folder.path("shop.yaml"), "--currency", "EUR", "--json",
      ]),
      fits: "proposal"
    )
    try expect(try Command.larder(["catalog", "formats", "--json"]), fits: "formats")
  }

  /// The source files that print JSON, and the schemas by which this suite or that of `catalog
  /// check` validates it.
  private static let printing = [
    "PictureRun": ["picture"], "VerifyCommand": ["verify"], "ShowCommand": ["show"],
    "DiffCommand": ["diff", "runs"], "HistoryCommand": ["history"], "SqlCommand": ["sql"],
    "NotifyCommand": ["order-send"],
    "CatalogFormatsCommand": ["formats"],
    "CatalogCheckCommand": ["check"], "CatalogInitCommand": ["proposal"],
    "CatalogFileOnDisk": ["plan"], "OrderReplayCommand": ["order"],
    "OrderSendCommand": ["order-send"], "OrderAdvanceCommand": ["order"],
    "OrderListCommand": ["order"], "OrderPlaceCommand": ["order"],
    "OrderShowCommand": ["order"], "OrderCancelCommand": ["order"], "FetchCommand": ["sync"],
    "StatusCommand": ["status"], "BenchCommand": ["bench"], "ExportCommand": ["export"],
    "WarmCommand": ["sync", "error"], "LarderCommand": ["error"],
    "DemoCommand": ["demo", "serve"],
    "CatalogShowCommand": ["format"], "GcCommand": ["gc"], "ReportCommand": ["report"],
    "ServeCommand": ["serve"],
    "ShardPlanCommand": ["shard-plan"],
    "ShardRunCommand": ["shard-run"], "ShardMergeCommand": ["sync"],
  ]

  @Test func `every command that prints JSON has a schema, and the list of schemas names it`()
    throws
  {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let commands = root.appending(path: "Sources/LarderCommands")
    let files = FileManager.default.enumerator(atPath: commands.path)?.compactMap { $0 as? String }
    var printing: Set<String> = []
    // `Output` has the functions that all the other files call.
    for file in files ?? [] where file.hasSuffix(".swift") && file != "Output/Output.swift" {
      let text = try String(contentsOf: commands.appending(path: file), encoding: .utf8)
      let name = URL(filePath: file).deletingPathExtension().lastPathComponent
      if text.contains("Output.json(") || text.contains("output.show(") { printing.insert(name) }
    }
    let list = try String(
      contentsOf: root.appending(path: "docs/schemas/README.md"),
      encoding: .utf8
    )

    #expect(printing == Set(Self.printing.keys))
    for schema in Self.printing.values.joined() {
      #expect(list.contains("(\(schema).schema.json)"), "\(schema)")
      _ = try JSONSchema(schema)
    }
  }

  @Test func `a measurement fits its schema`() throws {
    let shop = try Shop()

    let printed = try Command.larder([
      "bench", shop.catalog, "--parallel", "2", "--runs", "1", "--json",
    ])

    try expect(printed, fits: "bench")
  }

  @Test(arguments: [
    (#"{"checked": 1}"#, 7), (#"[]"#, 1),
    (
      #"{"checked": -1, "damaged": [1], "missing": [], "stray": [], "index": true, "#
        + #""complete": 1, "clean": true, "new": null}"#, 6
    ),
  ])
  func `a document of another shape does not fit`(_ text: String, _ faults: Int) throws {
    #expect(try JSONSchema("verify").findings(in: text).count == faults)
  }

  private func expect(_ printed: Command, fits name: String) throws {
    let schema = try JSONSchema(name)
    #expect(!printed.lines.isEmpty, "\(printed.errors)")
    for line in printed.lines {
      let findings = try schema.findings(in: line)
      #expect(findings == [], "\(line)")
    }
  }
}
