import ArgumentParser

/// The `larder` command: only names its subcommands.
package struct LarderCommand: ParsableCommand {
  /// What `--version` prints, and servers see.
  package static let version = "0.1.0"

  /// Name, help and subcommands.
  package static let configuration = CommandConfiguration(
    commandName: "larder",
    abstract: "Keeps a store's catalog, and every picture in it, on disk.",
    discussion: """
      Try it:  larder demo
               larder sync shop.yaml && larder list

      EXIT STATUSES
        0 done   1 failed   3 partly done   4 withheld by the shrink guard   64 usage
        65 data   69 unavailable   74 I/O   75 try again   78 configuration
        130 interrupted   143 terminated
      """,
    version: version,
    subcommands: [
      SyncCommand.self, WarmCommand.self, CatalogCommand.self, ListCommand.self, ShowCommand.self,
      DiffCommand.self,
      StatusCommand.self, VerifyCommand.self, GcCommand.self, ExportCommand.self,
      CropCommand.self, StampCommand.self, OrderCommand.self, BenchCommand.self, DemoCommand.self,
      BenchOriginCommand.self,
    ]
  )

  /// Made by the argument parser.
  package init() {}

  /// Parses the arguments, runs, and ends the process with the status of ``ExitStatus``.
  package static func main() {
    Signals.ignoreBrokenPipe()
    Memory.prepare()
    Descriptors.makeRoom()
    if LibraryVersions.areWanted(by: CommandLine.arguments) {
      Output.data(LibraryVersions.text)
      Output.end(.done)
    }
    do {
      if let fault = CommandName.fault(in: Array(CommandLine.arguments.dropFirst()), of: Self.self)
      {
        throw CommandFailure(fault, .usage)
      }
      var command = try parseAsRoot()
      try command.run()
    } catch {
      exit(for: error)
    }
  }

  /// Ends the process: our own failures with their sentence on stderr and their status, the
  /// parser's as ``exit(forParser:)`` says.
  private static func exit(for error: any Error) -> Never {
    guard let failure = CommandFailure(error) else { exit(forParser: error) }
    if let message = failure.message {
      // The options may be what failed to parse, so the arguments are asked themselves.
      let isJSON =
        CommandLine.arguments.joined(separator: " ").contains("--log-format=json")
        || zip(CommandLine.arguments, CommandLine.arguments.dropFirst())
          .contains { $0 == "--log-format" && $1 == "json" }
      Log(isJSON ? .json : .text).error(message)
    }
    Output.end(failure.status)
  }

  /// Ends the process: help and completions on stdout, what is wrong with the arguments on stderr.
  private static func exit(forParser error: any Error) -> Never {
    let code = exitCode(for: error)
    guard !code.isSuccess else { exit(withError: error) }
    let message = ParserMessage(fullMessage(for: error), arguments: CommandLine.arguments).text
    if !message.isEmpty { Output.note(message) }
    exit(withError: code)
  }
}
