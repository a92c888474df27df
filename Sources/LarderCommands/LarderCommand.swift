import ArgumentParser

/// The `larder` command: only names its subcommands.
package struct LarderCommand: ParsableCommand {
  /// What `--version` prints, and servers see.
  package static let version = "0.2.0"

  private static let statuses = StatusHelp(
    [
      .done: "done, nothing failed",
      .failed: "failed: nothing useful was done",
      .partial: "partly done; what failed is listed",
      .withheld: "the shrink guard kept items that the feed no longer lists",
      .data: "the catalog, picture or order given cannot be read",
      .unavailable: "the origin or webhook cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "try again: another run holds the cache, or it is not time yet",
      .configuration: "the catalog file is wrong; file, line and key are named",
    ],
    stops: true
  )

  /// Name, help and subcommands.
  package static let configuration = CommandConfiguration(
    commandName: "larder",
    abstract: "Keeps a store's catalog, and every picture in it, on disk.",
    discussion: """
      Example:  larder demo
                larder sync shop.yaml && larder list

      \(statuses.text)

      Each command's help says what they mean there. docs/catalog-files.md describes catalog files; \
      "larder catalog init URL" writes one.
      """,
    version: version,
    subcommands: [BenchOriginCommand.self],
    groupedSubcommands: [
      CommandGroup(name: "See it work", subcommands: [DemoCommand.self]),
      CommandGroup(
        name: "Fetch a shop",
        subcommands: [SyncCommand.self, WarmCommand.self, CatalogCommand.self]
      ),
      CommandGroup(
        name: "Look at what is held",
        subcommands: [
          ListCommand.self, ShowCommand.self, DiffCommand.self, ReportCommand.self,
          ServeCommand.self, StatusCommand.self,
        ]
      ),
      CommandGroup(
        name: "Look after the cache",
        subcommands: [VerifyCommand.self, GcCommand.self, ExportCommand.self]
      ),
      CommandGroup(
        name: "Work on pictures",
        subcommands: [CropCommand.self, StampCommand.self]
      ),
      CommandGroup(name: "Order", subcommands: [OrderCommand.self]),
      CommandGroup(name: "Use many machines", subcommands: [ShardCommand.self]),
      CommandGroup(name: "Measure", subcommands: [BenchCommand.self]),
    ]
  )

  /// Made by the argument parser.
  package init() {}

  /// Parses the arguments, runs, and ends the process with the status of ``ExitStatus``.
  package static func main() {
    guard !ProgramArguments.all.isEmpty else {
      log.error("cannot start: the system handed over no command line; start larder by its name")
      Output.end(.failed)
    }
    Signals.ignoreBrokenPipe()
    Memory.prepare()
    Workers.beOneIfAsked(by: ProgramArguments.all)
    Descriptors.makeRoom()
    if LibraryVersions.areWanted(by: ProgramArguments.all) {
      Output.data(LibraryVersions.text)
      Output.end(.done)
    }
    do {
      let arguments = Array(ProgramArguments.all.dropFirst())
      if let fault = CommandName.fault(in: arguments, of: Self.self) {
        throw CommandFailure(fault, .usage)
      }
      var command = try parseAsRoot(arguments)
      try command.run()
    } catch {
      exit(for: error)
    }
  }

  /// Ends the process: our own failures with their sentence on stderr and their status, the
  /// parser's as ``exit(forParser:)`` says.
  private static func exit(for error: any Error) -> Never {
    guard let failure = CommandFailure(error) else { exit(forParser: error) }
    if let message = failure.message { log.error(message) }
    tell(failure)
    Output.end(failure.status)
  }

  /// Prints a failure as a JSON document where one is wanted and nothing was printed yet.
  private static func tell(_ failure: CommandFailure) {
    guard !Output.hasPrinted, wantsJSON(ProgramArguments.all) else { return }
    Output.json(failure.json)
  }

  /// Whether a command line asks for JSON, also one that cannot be parsed.
  static func wantsJSON(_ arguments: [String]) -> Bool {
    arguments.prefix { $0 != "--" }.contains("--json")
  }

  /// The options may be what failed to parse, so the arguments are asked themselves.
  private static var log: Log {
    let isJSON =
      ProgramArguments.all.joined(separator: " ").contains("--log-format=json")
      || zip(ProgramArguments.all, ProgramArguments.all.dropFirst())
        .contains { $0 == "--log-format" && $1 == "json" }
    return Log(isJSON ? .json : .text)
  }

  /// Ends the process: help and completions on stdout, what is wrong with the arguments on stderr.
  private static func exit(forParser error: any Error) -> Never {
    let code = exitCode(for: error)
    if code.isSuccess, let help = HelpText(fullMessage(for: error)) {
      Output.data(help.text)
      Output.end(.done)
    }
    guard !code.isSuccess else { exit(withError: error) }
    let message = ParserMessage(fullMessage(for: error), arguments: ProgramArguments.all).text
    if !message.isEmpty { log.error(message) }
    tell(CommandFailure(message, .usage))
    exit(withError: code)
  }
}
