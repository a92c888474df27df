import Foundation
import SampleStore
import Testing

@Suite struct CompletionTests {
  /// What `larder` offers when a shell asks for one argument.
  ///
  /// - Parameters:
  ///   - argument: The argument, as the shell's script names it: `positional@0` or `--catalog`.
  ///   - subcommand: The subcommand's name, which may have several words.
  ///   - words: The command line, the word that is being typed last.
  ///   - environment: Beside `PATH` and `HOME`.
  /// - Returns: What it prints, a word a line.
  /// - Throws: What running it throws.
  private func offers(
    _ argument: String,
    of subcommand: String,
    _ words: [String],
    environment: [String: String] = [:]
  ) throws -> [String] {
    let line = ["larder"] + subcommand.split(separator: " ").map(String.init) + words
    let cursor = words.last?.count ?? 0
    let command = try Command.larder(
      ["---completion"] + line.dropFirst().prefix(line.count - 1 - words.count)
        + ["--", argument, "\(line.count - 1)", "\(cursor)"] + line,
      environment: environment
    )
    return command.lines.map(String.init)
  }

  @Test("A shell is offered what the cache holds: sections, ids and catalogs")
  func cache() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let cache = ["LARDER_CACHE": shop.cache]

    #expect(try offers("positional@0", of: "list", [""], environment: cache) == ["main", "soup"])
    #expect(try offers("positional@0", of: "list", ["s"], environment: cache) == ["soup"])
    #expect(
      try offers("positional@0", of: "show", ["--cache", shop.cache, "A"]) == ["A1", "A2"]
    )
    #expect(try offers("positional@0", of: "show", ["--cache=\(shop.cache)", "S"]) == ["S1"])
    #expect(
      try offers("positional@0", of: "order place", ["--cache", "'\(shop.cache)'", ""])
        == ["A1", "A2", "S1"]
    )
    #expect(
      try offers("--catalog", of: "list", ["--cache", shop.cache, "--catalog", ""]) == ["banchan"]
    )
  }

  @Test("A cache that is not there offers nothing, and no message")
  func nothing() throws {
    #expect(try offers("positional@0", of: "list", ["--cache", "/nowhere", ""]) == [])
    #expect(try offers("positional@0", of: "show", [""]) == [])
  }

  @Test("A shell is offered the ids of orders, and what it asks for makes no file of orders")
  func orders() throws {
    let (shop, environment) = try OrderTests.shop()
    #expect(try offers("positional@0", of: "order show", [""], environment: environment) == [])
    #expect(!FileManager.default.fileExists(atPath: shop.folder.path("state")))
    var placed: [String] = []
    for name in ["Jiyeon", "Minsu"] {
      let order = try OrderTests.order(
        "place",
        "A1",
        "--by",
        name,
        "--json",
        in: shop,
        environment
      )
      placed.append(try #require(try Document(order)["order"].string))
    }

    for command in ["show", "cancel", "advance", "replay"] {
      let offered = try offers(
        "positional@0",
        of: "order \(command)",
        ["ord_"],
        environment: environment
      )
      #expect(offered == Array(placed.reversed()), "\(command)")
    }
    #expect(
      try offers("positional@0", of: "order show", [placed[0]], environment: environment)
        == [placed[0]]
    )
    #expect(
      try offers(
        "positional@0",
        of: "order show",
        ["--orders", "/nowhere", ""],
        environment: environment
      )
        == []
    )
  }

  @Test(
    "The scripts ask larder for sections, and the shell for files",
    arguments: ["bash", "zsh", "fish"]
  )
  func scripts(_ shell: String) throws {
    let script = try Command.larder(["--generate-completion-script", shell]).output

    #expect(script.contains("---completion list -- positional@0"), "\(shell)")
    #expect(script.contains("---completion show -- positional@0"), "\(shell)")
    #expect(script.contains("yaml"), "\(shell)")
  }

  @Test("bash completes a section from the cache")
  func bash() throws {
    let shop = try Shop()
    _ = try shop.sync()

    let typed = try Command.shell(
      """
      PATH=$(dirname "$larder"):$PATH
      source <(larder --generate-completion-script bash)
      COMP_WORDS=(larder list so) COMP_CWORD=2 COMP_LINE='larder list so' COMP_POINT=14
      _larder; printf '%s\\n' "${COMPREPLY[@]}"
      """,
      environment: ["LARDER_CACHE": shop.cache]
    )

    #expect(typed.output == "soup\n", "\(typed.errors)")
  }
}
