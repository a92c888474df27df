import Testing

@Suite struct HelpTests {
  private static let subcommands = [
    "sync", "warm", "list", "show", "diff", "status", "verify", "gc", "export", "bench", "demo",
    "order", "catalog",
  ]

  @Test(arguments: subcommands)
  func `the help of a subcommand has an example and its exit statuses`(_ name: String) throws {
    let help = try Command.larder([name, "--help"])

    #expect(help.status == 0)
    #expect(help.errors == "")
    #expect(help.output.contains("Example:"))
    #expect(help.output.contains("larder \(name)"))
    #expect(help.output.contains("Exit statuses:"))
  }

  @Test func `the help of the program names every subcommand and every exit status`() throws {
    let help = try Command.larder(["--help"])

    #expect(help.status == 0)
    for name in Self.subcommands { #expect(help.output.contains("\n  \(name) ")) }
    for status in [0, 1, 3, 4, 64, 65, 69, 74, 75, 78, 130, 143] {
      #expect(help.output.contains(" \(status) "))
    }
  }

  @Test func `the version is a number on stdout`() throws {
    let version = try Command.larder(["--version"])

    #expect(version.status == 0)
    #expect(version.errors == "")
    #expect(version.output.wholeMatch(of: #/\d+\.\d+\.\d+\n/#) != nil)
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `a completion script knows every subcommand`(_ shell: String) throws {
    let script = try Command.larder(["--generate-completion-script", shell])

    #expect(script.status == 0)
    #expect(script.errors == "")
    for name in Self.subcommands { #expect(script.output.contains(name)) }
  }

  @Test func `bash can read its completion script`() throws {
    let check = try Command.shell(
      #"bash -n <("$larder" --generate-completion-script bash)"#
    )

    #expect(check.status == 0)
    #expect(check.errors == "")
  }
}
