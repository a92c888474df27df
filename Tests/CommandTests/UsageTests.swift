import Support
import Testing

@testable import LarderCommands

/// Wrong command lines, which end with the status 64, a reason and advice.
@Suite struct UsageTests {
  /// Whether a command with `--json` printed the error as its document.
  private func isError(_ command: Command, _ words: [String]) -> Bool {
    words.contains("--json") && command.output.hasPrefix("{\"error\":")
  }

  @Test(arguments: [
    ["--frobnicate"],
    ["frobnicate"],
    ["sync"],
    ["sync", "CATALOG", "--frobnicate"],
    ["sync", "CATALOG", "--rate", "fast"],
    ["sync", "CATALOG", "--rate", "0/s"],
    ["sync", "CATALOG", "--max-bytes", "much"],
    ["sync", "CATALOG", "--max-bytes", "0"],
    ["sync", "CATALOG", "--deadline", "soon"],
    ["sync", "CATALOG", "--parallel", "0"],
    ["sync", "CATALOG", "--per-host", "many"],
    ["sync", "CATALOG", "--connect-to", "there"],
    ["sync", "CATALOG", "--connect-to", "a:80:b:99999"],
    ["crop", "-dash.png"],
    ["sync", "CATALOG", "--cacert", "no-such.pem"],
    ["sync", "CATALOG", "--cacert", "CATALOG"],
    ["sync", "CATALOG", "--deadline", "0s"],
    ["sync", "CATALOG", "--per-host", "2000"],
    ["sync", "CATALOG", "--base", "develop"],
    ["sync", "CATALOG", "--log-format", "xml"],
    ["status", "--check", "often"],
    ["diff", "one"],
    ["bench"],
    ["bench", "CATALOG", "--parallel", "1,0"],
    ["bench", "CATALOG", "--pass", "hot"],
    ["bench", "CATALOG", "--runs", "0"],
    ["demo", "--port", "65536"],
    ["demo", "--samples", "/nowhere"],
  ])
  func `a wrong command line is status 64, has a reason and does nothing`(
    _ arguments: [String]
  ) throws {
    let shop = try Shop()
    let words = arguments.map { $0 == "CATALOG" ? shop.catalog : $0 }

    let command = try Command.larder(words, environment: ["LARDER_CACHE": shop.cache])

    #expect(command.status == 64)
    #expect(command.output.isEmpty || isError(command, words))
    #expect(command.errors.hasPrefix("larder: ") && command.errors.contains(/; \S/))
    #expect(command.errors.split(separator: "\n").count <= 2)
    #expect(shop.store.requests.isEmpty)
    #expect(throws: (any Error).self) { try shop.folder.stamps(below: "cache") }
  }

  @Test(arguments: [
    (["bogus"], "there is no command"), (["help", "bogus"], "there is no command"),
    (["publish"], "there is no command"), (["diff", "--from", "3"], "unknown option '--from'"),
    (["crop", "a.jpg", "--out", "o", "--at", "x"], "unknown option '--at'"),
  ])
  func `a word that is like no command or option gets no suggestion`(
    _ arguments: [String],
    _ said: String
  ) throws {
    let command = try Command.larder(arguments)

    #expect(command.status == 64)
    #expect(command.errors.contains(said), "\(command.errors)")
    #expect(!command.errors.contains("nearest"), "\(command.errors)")
  }

  @Test(arguments: [
    (["gc", "--grace", "-1d"], "from 0s to 100000d"),
    (["gc", "--history", "99999999d"], "from 0s to 100000d"),
    (["gc", "--max-size", "-5G"], "from 1B to 1000000T"),
    (["sync", "CATALOG", "--rate", "-5/s"], "above 0/s, up to 1000000/s"),
    (["sync", "CATALOG", "--max-bytes", "99999999T"], "from 1B to 1000000T"),
    (["sync", "CATALOG", "--deadline", "-1m"], "from 0s to 100000d"),
    (["sync", "CATALOG", "--parallel", "-3"], "auto or a number from 1 to 1024"),
    (["sync", "CATALOG", "--per-host", ""], "auto or a number from 1 to 1024"),
    (["sync", "CATALOG", "--retries", "-1"], "from 0 to 100"),
    (["sync", "CATALOG", "--max-skipped", "200%"], "from 0% to 100%"),
    (["sync", "CATALOG", "--max-skipped", "-1"], "from 0% to 100%"),
    (["sync", "CATALOG", "--square", "-1"], "from 1 to 4096"),
    (["crop", "a.jpg", "--out", "o", "--size", "big"], "from 1 to 16384"),
    (["crop", "a.jpg", "--out", "o", "--quality", "-1"], "from 1 to 100"),
    (["crop", "a.jpg", "--out", "o", "--max-pixels", ""], "from 1 to 2000000000"),
    (["bench", "CATALOG", "--runs", "99999999999999999999"], "from 1 to 1000"),
    (["bench", "CATALOG", "--parallel", "-1"], "auto, or different numbers from 1 to 1024"),
    (["bench", "CATALOG", "--pass", "hot"], "one or more of cold,warm,revalidate"),
    (["bench", "http://a.example/", "--count", "0"], "from 1 to 1000000"),
    (["order", "place", "A1", "--by", "a", "--quantity", "-1"], "from 1 to 1000000"),
    (["order", "send", "--limit", "none"], "from 1 to 1000000000"),
    (["demo", "--port", "99999"], "from 0 to 65535"),
    (["diff", "yesterday"], "larder diff --runs lists them"),
  ])
  func `a negative, empty or too large value is refused with the allowed range`(
    _ arguments: [String],
    _ allowed: String
  ) throws {
    let folder = try TemporaryFolder()
    let words = arguments.map { $0 == "CATALOG" ? "\(Command.samples)/catalog.yaml" : $0 }

    let command = try Command.larder(words, environment: ["LARDER_CACHE": folder.path("cache")])

    #expect(command.status == 64)
    #expect(command.output == "")
    #expect(command.errors.contains(allowed), "\(command.errors)")
  }

  @Test(
    arguments: [
      ["gc", "--grace", "7"], ["gc", "--grace", "0"],
      ["gc", "--max-size", "100"], ["gc", "--history", "90.5"], ["status", "--check", "6"],
      ["sync", "CATALOG", "--deadline", "30"], ["sync", "CATALOG", "--max-bytes", "100"],
      ["sync", "CATALOG", "--rate", "20"], ["warm", "CATALOG", "--rate", "20"],
      ["warm", "CATALOG", "--min-interval", "40"], ["warm", "CATALOG", "--splay", "0"],
      ["order", "send", "--timeout", "30"], ["order", "send", "--wait", "10"],
    ])
  func `a number without a unit is refused with the known units`(
    _ arguments: [String]
  ) throws {
    let folder = try TemporaryFolder()
    let words = arguments.map { $0 == "CATALOG" ? "\(Command.samples)/catalog.yaml" : $0 }

    let command = try Command.larder(words, environment: ["LARDER_CACHE": folder.path("cache")])

    #expect(command.status == 64)
    #expect(command.output == "")
    #expect(command.errors.contains("it needs a unit: "))
    #expect(command.errors.contains(arguments[arguments.count - 2]))
  }

  @Test(
    arguments: [
      ["sync", "CATALOG"], ["warm", "CATALOG"], ["bench", "CATALOG"], ["stamp", "x.jpg"],
    ],
    ["-1", "101", "99999999999999999999", "many", "4.5", "", "--json"]
  )
  func `an invalid number of retries is refused with the range`(
    _ arguments: [String],
    _ retries: String
  ) throws {
    let folder = try TemporaryFolder()
    let words = arguments.map { $0 == "CATALOG" ? "\(Command.samples)/catalog.yaml" : $0 }

    let command = try Command.larder(
      words + ["--retries", retries],
      environment: ["LARDER_CACHE": folder.path("cache")]
    )

    #expect(command.status == 64)
    #expect(command.output.isEmpty || isError(command, [retries]))
    #expect(command.errors.contains("--retries"))
    #expect(command.errors.contains("a number from 0 to 100"), "\(command.errors)")
  }

  @Test func `--cache overrides its variable, which overrides the working folder`()
    throws
  {
    let shop = try Shop()
    let other = ["LARDER_CACHE": shop.folder.path("other")]
    #expect(try shop.sync().status == 0)

    #expect(try shop.larder("status", environment: other).status == 0)
    #expect(try Command.larder(["status"], environment: other).status == 1)
    #expect(try Command.larder(["status"], environment: ["LARDER_CACHE": shop.cache]).status == 0)
    #expect(try Command.shell("mkdir a && cd a && \"$larder\" status").status == 1)
  }

  @Test(arguments: [
    ["sync", "x.yaml", "--\u{1B}]0;owned\u{7}"], ["sync", "x.yaml", "--rate=\u{1B}[2J\u{9B}31m5"],
    ["sync", "x.yaml", "more\u{202E}gnp.exe\u{2066}"], ["\u{1B}[31mred", "a"],
    ["list", "--limit", "1\nlarder: all is well\n\u{85}\u{2028}x"],
    ["sync", "x.yaml", "--frobnicate\r\nlarder: all is well"],
  ])
  func `an error about an argument shows none of its control characters and line breaks`(
    _ arguments: [String]
  ) throws {
    let run = try Command.larder(arguments)

    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    let isPlain = run.errors.unicodeScalars.allSatisfy { scalar in
      scalar == "\n"
        || !scalar.properties.isBidiControl
          && scalar.properties.generalCategory != .control
          && scalar.properties.generalCategory != .lineSeparator
    }
    #expect(isPlain, "\(run.errors.debugDescription)")
    #expect(!run.errors.split(separator: "\n").contains { $0.hasPrefix("larder: all is well") })
  }

  @Test func `an option with an empty value does not take the next argument`() throws {
    let shop = try Shop()
    #expect(try shop.sync("--no-details").status == 0)

    let badge = try shop.larder("list", "--badge=", "main", "--json")
    let deadline = try Command.larder(["sync", "--deadline=", "--json", shop.catalog])

    #expect(try shop.larder("list", "--badge", "", "main", "--json").output == badge.output)
    #expect(deadline.status == 64)
    #expect(
      LarderCommand.withEmptyValues(["a", "--b=", "--c=d=", "--", "--e="]) == [
        "a", "--b", "", "--c=d=", "--", "--e=",
      ]
    )
  }

  @Test func `an argument that is not UTF-8 is refused, so that no other folder is used`() throws {
    let command = try Command.shell(#""$larder" list --cache $'m\xfcller'"#)

    #expect(command.status == 64)
    #expect(command.errors.contains(#"the argument m\xFCller: it is not UTF-8"#))
  }
}
