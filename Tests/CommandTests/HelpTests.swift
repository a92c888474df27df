import Foundation
import Support
import Testing

/// The help, the manual, the version and the completion scripts of the built binary.
@Suite struct HelpTests {
  private static let subcommands = [
    "sync", "warm", "list", "show", "diff", "history", "sql", "notify", "status", "verify", "gc",
    "export",
    "bench",
    "demo",
    "report", "serve",
    "order", "catalog", "shard",
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

  @Test func `the help of every command lists its statuses, and wraps no example at 80 columns`()
    throws
  {
    for (path, page) in try HelpPages.standard.get().all {
      let help = try Command.larder(path + ["--help"], environment: ["COLUMNS": "80"])
      let discussion = try #require(page.discussion, "\(path)")

      #expect(page.statuses.contains(0) && page.statuses.contains(64), "\(path)")
      #expect(help.output == (try Command.larder(["help"] + path)).output)
      for line in help.lines { #expect(line.count <= 80, "\(path): \(line)") }
      // Paragraphs may be wrapped, but an example or a status keeps its own line.
      for line in discussion.split(separator: "\n")
      where line.contains("  larder ") || line.hasPrefix("  ") {
        #expect(help.lines.contains(line), "\(path): \(line)")
      }
    }
  }

  @Test func `options are grouped by topic, a command's own first, and commands by purpose`()
    throws
  {
    let sync = try Command.larder(["sync", "--help"])
    let root = try Command.larder(["--help"])

    let headings = sync.lines.filter { $0.contains(#/^[A-Z ]+:$/#) }.map(String.init)
    #expect(
      headings == [
        "ARGUMENTS:", "OPTIONS:", "CACHE:", "SCOPE:", "LIMITS:", "CONNECTION:",
        "PROTECTION AGAINST A BROKEN FEED:", "MONITORING:", "OUTPUT:",
      ]
    )
    #expect(root.output.contains("\nFETCH A SHOP:\n  sync "))
    #expect(!root.output.contains("SUBCOMMANDS"))
  }

  @Test func `the manual has every option, status, variable and key of a catalog file`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try Command.shell("python3 \(root.path)/script/package.d/man \"$larder\"")
    let manual = page.output.replacing("\\-", with: "-")

    #expect(page.status == 0 && page.errors == "")
    for (path, page) in try HelpPages.standard.get().all {
      if let last = path.last { #expect(manual.contains(" \(last)\n"), "\(path)") }
      for option in page.options {
        let isCommon = ["--help", "-h", "--version"].contains(option)
        #expect(isCommon || manual.contains("\\fB\(option)\\fR"), "\(path) \(option)")
      }
    }
    for status in [0, 1, 3, 4, 64, 65, 69, 74, 75, 78, 130, 143] {
      #expect(manual.contains("\n\\fB\(status)\\fR\n"), "\(status)")
    }
    let sources = FileManager.default.enumerator(atPath: root.appending(path: "Sources").path)
    for case let file as String in try #require(sources) where file.hasSuffix(".swift") {
      let place = root.appending(path: "Sources/\(file)")
      let text = try String(contentsOf: place, encoding: .utf8)
      for match in text.matches(of: #/"(LARDER_[A-Z_]+)"/#) {
        #expect(manual.contains("\n\\fB\(match.1)\\fR\n"), "\(match.1)")
      }
    }
    let schema = try Command.larder(["catalog", "schema"])
    let object = try JSONSerialization.jsonObject(with: Data(schema.output.utf8))
    let keys = try #require((object as? [String: Any])?["properties"] as? [String: Any])
    for key in keys.keys.sorted() {
      #expect(manual.contains(try Regex("(\\\\fB|, )\(key)(\\\\fR|,)")), "\(key)")
    }
  }

  @Test func `the help of the program names every subcommand and every exit status`() throws {
    let help = try Command.larder(["--help"])

    #expect(help.status == 0)
    for name in Self.subcommands { #expect(help.output.contains("\n  \(name) ")) }
    for status in [0, 1, 3, 4, 64, 65, 69, 74, 75, 78, 130, 143] {
      #expect(help.output.contains(" \(status) "))
    }
  }

  @Test(
    arguments: [
      (["sync"], ["--parallel": "auto", "--per-host": "auto, at most 16", "--retries": "4"]),
      (["demo"], ["--port": "8080"]),
      (["order", "place"], ["--quantity": "1"]),
      (["order", "send"], ["--timeout": "30s", "--wait": "10s"]),
      (["crop"], ["--max-pixels": "150000000"]),
      (
        ["bench"],
        [
          "--parallel": "auto", "--pass": "cold,warm,revalidate", "--runs": "5",
        ]
      ),
    ] as [([String], [String: String])]
  )
  func `the help of an option states its default`(
    _ command: [String],
    _ defaults: [String: String]
  ) throws {
    let help = try Command.larder(command + ["--help"]).output
    // A short usage names the options too.
    let options = try #require(help.firstRange(of: "\nOPTIONS:"))
    let text = help[options.upperBound...].split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")

    for (option, value) in defaults {
      let start = try #require(text.firstRange(of: "\(option) <"), "\(option)")
      let own = text[start.upperBound...].prefix { $0 != ")" }
      #expect(own.hasSuffix("(default: \(value)"), "\(option): \(own)")
    }
  }

  @Test func `the version is a number on stdout`() throws {
    let version = try Command.larder(["--version"])

    #expect(version.status == 0)
    #expect(version.errors == "")
    #expect(version.output.wholeMatch(of: #/\d+\.\d+\.\d+\n/#) != nil)
  }

  @Test func `packagers can read from the binary which libraries it opens on demand`() throws {
    let opened = try Command.shell(
      #"readelf -p .note.dlopen "$larder" | grep -o 'lib[^"]*\.so[^"]*' | sort"#
    )

    #expect(
      opened.lines == [
        "libavif.so.15", "libcurl.so.4", "libde265.so.0", "libpangocairo-1.0.so.0", "libtiff.so.6",
      ],
      "\(opened.errors)"
    )
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `a completion script knows every subcommand`(_ shell: String) throws {
    let script = try Command.larder(["--generate-completion-script", shell])

    #expect(script.status == 0)
    #expect(script.errors == "")
    for name in Self.subcommands { #expect(script.output.contains(name)) }
  }
}
