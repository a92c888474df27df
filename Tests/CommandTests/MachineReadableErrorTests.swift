import Foundation
import Support
import Testing

@testable import LarderCommands
@testable import Pipeline

/// Errors as JSON documents.
@Suite struct MachineReadableErrorTests {
  /// The value of `error` in the command's output, which must be its only line.
  private static func error(_ command: Command) throws -> [String: Any] {
    let lines = command.lines
    try #require(lines.count == 1, "\(command.output)")
    let document = try JSONSerialization.jsonObject(with: Data(lines[0].utf8))
    let object = try #require(document as? [String: Any])
    #expect(Array(object.keys) == ["error"])
    let error = try #require(object["error"] as? [String: Any])
    #expect(Set(error.keys) == ["status", "code", "message", "remedy"])
    return error
  }

  @Test(
    arguments: [
      (["list", "--json"], 1, "empty"), (["status", "--json"], 1, "empty"),
      (["sync", "no-such.yaml", "--json"], 64, "usage"),
      (["warm", "no-such.yaml", "--json"], 64, "usage"),
      (["sync", "--json"], 64, "usage"),
      (["sync", "x.yaml", "--frobnicate", "--json"], 64, "usage"),
      (["frobnicate", "--json"], 64, "usage"),
      (["crop", "nothing-here", "--out", "out", "--size", "x", "--json"], 64, "usage"),
      (["crop", "a.png", "a.png", "--out", "", "--json"], 64, "usage"),
      (["order", "show", "ord_1", "--json"], 1, nil),
      (["demo", "--samples", "/no", "--json"], 64, nil),
    ] as [([String], Int, String?)]
  )
  func `a command that fails before its document prints its error as a document`(
    _ arguments: [String],
    _ status: Int,
    _ code: String?
  ) throws {
    let folder = try TemporaryFolder()

    let command = try Command.larder(
      arguments,
      environment: [
        "LARDER_CACHE": folder.path("cache"), "LARDER_ORDERS": folder.path("orders.sqlite"),
      ]
    )
    let error = try Self.error(command)

    #expect(Int(command.status) == status && error["status"] as? Int == status)
    if let code { #expect(error["code"] as? String == code) }
    let message = try #require(error["message"] as? String)
    #expect(!message.isEmpty && command.errors.contains(message), "\(message)")
    #expect(command.errors.hasPrefix("larder: "))
  }

  @Test func `without --json stdout stays empty, and --json after -- is not an option`() {
    #expect(LarderCommand.wantsJSON(["larder", "list", "--json"]))
    #expect(!LarderCommand.wantsJSON(["larder", "list"]))
    #expect(!LarderCommand.wantsJSON(["larder", "crop", "--", "--json"]))
  }

  @Test func `the remedy is the text after the last semicolon`() throws {
    let failure = CommandFailure("cannot read a; b: it is gone; check the path", .io)

    let text = String(decoding: failure.json, as: UTF8.self)

    #expect(
      text == #"{"error":{"code":"io","message":"cannot read a; b: it is gone","#
        + #""remedy":"check the path","status":74}}"#
    )
    let bare = String(decoding: CommandFailure("no", .tryAgain).json, as: UTF8.self)
    #expect(
      bare == #"{"error":{"code":"try-again","message":"no","remedy":null,"status":75}}"#
    )
  }

  @Test func `a catalog that warm cannot run has a line of its own`() throws {
    let shop = try Shop()

    let warm = try Command.larder([
      "warm", "no-such.yaml", shop.catalog, "--json", "--cache", shop.cache,
    ])

    let lines = try warm.lines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(lines.count == 2 && warm.status == 64)
    #expect(lines.first?["error"] != nil && lines.last?["outcome"] != nil)
  }

  @Test func `the demo writes nothing but its document to stdout`() throws {
    let folder = try TemporaryFolder()

    let demo = try Command.larder([
      "demo", "--json", "--samples", Command.samples, "--cache", folder.path("cache"),
    ])

    #expect(demo.status == 0 && demo.lines.count == 1)
    let document = try JSONSerialization.jsonObject(with: Data(demo.output.utf8))
    let object = try #require(document as? [String: Any])
    #expect((object["syncs"] as? [[String: Any]])?.count == 3)
    #expect((object["verify"] as? [String: Any])?["clean"] as? Bool == true)
    #expect(demo.errors.contains("1. Sync:"))
  }

  @Test(arguments: [
    ["sync", ""], ["sync", "x.yaml", "--cache", ""], ["list", "--cache", ""],
    ["crop", "x.png", "--out", ""], ["crop", "", "--out", "out"], ["export", ""],
    ["report", "--out", ""], ["warm", ""],
    ["order", "list", "--orders", ""], ["stamp", "x.png", "--out", "o", "--logo", ""],
    ["shard", "merge", "--plan", ""], ["catalog", "check", ""],
    ["catalog", "init", "x.json", "--out", ""], ["demo", "--samples", ""],
    ["order", "send", "--webhook-secret-file", ""],
  ])
  func `an empty path is a usage error for every command that takes a path`(_ arguments: [String])
    throws
  {
    let command = try Command.larder(arguments)

    #expect(command.status == 64)
    #expect(command.output == "" && command.errors.contains("the path is empty; give one"))
  }

  @Test func `the program's arguments are those that Swift's CommandLine returns`() {
    #expect(ProgramArguments.all == CommandLine.arguments)
  }

  @Test func `a section that times out has the same advice as one that refuses`() {
    let advices = ["timeout-connect", "connect-refused", "connect-failed"].map { reason in
      SyncReport.Failure(
        stage: .section,
        id: "main",
        url: "http://a.test/",
        reason: reason,
        attempts: 1
      ).advice
    }

    #expect(advices[0] != nil && Set(advices).count == 1)
  }

  @Test func `schema and show accept --json`() throws {
    let schema = try Command.larder(["catalog", "schema", "--json"])
    let show = try Command.larder(["catalog", "show", "shopify", "--json"])

    #expect(try JSONSerialization.jsonObject(with: Data(schema.output.utf8)) is [String: Any])
    let document = try JSONSerialization.jsonObject(with: Data(show.output.utf8))
    let object = try #require(document as? [String: String])
    #expect(object["name"] == "shopify")
    #expect(object["file"] == (try Command.larder(["catalog", "show", "shopify"]).output))
  }

  @Test func `an invalid host is reported without the library's message`() throws {
    let shop = try Shop()
    _ = try shop.larder("sync", shop.catalog)

    // `a..b` is not a valid name, so no resolver is asked.
    let serve = try shop.larder("serve", "--bind", "a..b", "--port", "0")

    #expect(serve.status == 1)
    #expect(
      serve.errors
        == "larder: cannot listen on a..b: no such host; name an address of this machine, "
        + "such as 127.0.0.1\n"
    )
  }
}
