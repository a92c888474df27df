import ArgumentParser
import Catalog
import CurlTransport
import Dispatch

/// The `larder` command: parses the command line and runs a subcommand.
package struct LarderCommand: ParsableCommand {
  /// The version that `--version` prints and that servers see.
  package static let version = "0.2.0"

  private static let statuses = statusHelp(
    [
      .done: "done, nothing failed",
      .failed: "failed: nothing useful was done",
      .partial: "partly done; each failure is listed",
      .withheld: "the shrink guard kept items that the feed no longer lists",
      .data: "the catalog, picture or order given cannot be read",
      .unavailable: "the origin or webhook cannot be reached",
      .io: "the disk is full, not writable or damaged",
      .tryAgain: "try again: another run holds the cache, or it is not time yet",
      .configuration: "the catalog file is wrong; the message names file, line and key",
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

      \(statuses)

      Each command's help lists its own statuses. docs/catalog-files.md describes catalog files; \
      "larder catalog init URL" writes one.
      """,
    version: version,
    groupedSubcommands: [
      CommandGroup("See it work", DemoCommand.self),
      CommandGroup("Fetch a shop", SyncCommand.self, WarmCommand.self, CatalogCommand.self),
      CommandGroup(
        name: "Read the cache",
        subcommands: [
          ListCommand.self, ShowCommand.self, DiffCommand.self, HistoryCommand.self,
          SqlCommand.self, ReportCommand.self, ServeCommand.self, StatusCommand.self,
        ]
      ),
      CommandGroup("Look after the cache", VerifyCommand.self, GcCommand.self, ExportCommand.self),
      CommandGroup("Work on pictures", CropCommand.self, StampCommand.self),
      CommandGroup("Orders and notices", OrderCommand.self, NotifyCommand.self),
      CommandGroup("Use many machines", ShardCommand.self),
      CommandGroup("Measure", BenchCommand.self),
    ]
  )

  /// Makes an empty command, for the argument parser.
  package init() {}

  /// Parses the arguments, runs the command, and ends the process with an ``ExitStatus``.
  package static func main() {
    guard !ProgramArguments.all.isEmpty else {
      log.error("cannot start: the argument list is empty; start larder by its name")
      Output.end(.failed)
    }
    Descriptors.openStandard()
    Signals.prepare()
    Memory.prepare()
    Workers.beOneIfAsked(by: ProgramArguments.all)
    Descriptors.makeRoom()
    do {
      let arguments = withEmptyValues(Array(ProgramArguments.all.dropFirst()))
      if let fault = CommandName.fault(in: arguments, of: Self.self) {
        throw CommandFailure(fault)
      }
      let command = CommandName.command(in: arguments, of: Self.self).command
      if command != CropCommand.self, command != StampCommand.self,
        let fault = ProgramArguments.fault(in: arguments)
      {
        throw CommandFailure(fault)
      }
      var parsed = try parsed(arguments)
      try parsed.run()
    } catch {
      exit(for: error)
    }
    Output.end(.done)
  }

  /// The initialization of libcurl beside the parsing of the arguments.
  ///
  /// The process must not end during it: the clean-up of its libraries would crash if a command fails early.
  static let libcurlOpening = DispatchGroup()

  /// The arguments, in which an option with an empty value, such as `--badge=`, is two words.
  ///
  /// For `--badge=`, the argument parser would take the next argument as the value. A query that begins with an SQL
  /// comment, such as `-- All items`, gets a line break before it, because the parser would take it for an option.
  static func withEmptyValues(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return arguments[..<end].flatMap { word in
      if word.hasPrefix("-- ") { return ["\n\(word)"] }
      return word.hasPrefix("--") && word.firstIndex(of: "=") == word.indices.last
        ? [String(word.dropLast()), ""] : [word]
    } + arguments[end...]
  }

  /// Parses the arguments as those of the command that they name.
  ///
  /// When the root parses them, it makes all options of that command twice more, to see whether the command takes the
  /// rest of the line unparsed: 27 % of the instructions of a start. Errors, help and completion are left to the root,
  /// because their texts have the whole name of the command.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    let (command, words) = CommandName.command(in: arguments, of: Self.self)
    // libcurl loads 26 other libraries, which takes as long as parsing the arguments.
    if command is any FetchCommand.Type {
      DispatchQueue.global().async(group: libcurlOpening) { CurlTransport.openLibrary() }
    }
    guard command.configuration.subcommands.isEmpty,
      let parsed = try? command.parseAsRoot(Array(words)), type(of: parsed) == command
    else { return try parseAsRoot(arguments) }
    return parsed
  }

  /// Ends the process after printing the error's message on stderr.
  ///
  /// With `--json`, the failure is also printed as a JSON document, unless a part of another document was printed.
  private static func exit(for error: any Error) -> Never {
    let failure = CommandFailure(error) ?? parserFailure(error)
    tell(failure)
    Output.end(failure.status)
  }

  /// Prints the message of the error that ends the process on stderr, and its JSON document on stdout.
  static func tell(_ failure: CommandFailure) {
    if let message = failure.message { log.error(message) }
    if !Output.hasPrinted, wantsJSON(ProgramArguments.all) { Output.json(failure.json) }
  }

  /// The failure for an error in the arguments.
  ///
  /// If the error is a request for help or completions, that text is printed on stdout, and the process ends.
  private static func parserFailure(_ error: any Error) -> CommandFailure {
    let text = fullMessage(for: error, columns: Terminal.widthOfHelp)
    if let help = HelpText(text) {
      if let word = helpByAccident(ProgramArguments.all) {
        return CommandFailure(
          "unknown option \(word); write ./\(word) for a file of this name",
          .usage
        )
      }
      Output.data(help.text)
      Output.end(.done)
    }
    let code = exitCode(for: error)
    guard !code.isSuccess else {
      // The version, or a completion script.
      Output.file(Array("\(text)\n".utf8))
      Output.end(.done)
    }
    let message = ParserMessage(text, arguments: ProgramArguments.all).text
    return CommandFailure(
      message.isEmpty ? nil : message,
      ExitStatus(rawValue: code.rawValue) ?? .failed
    )
  }

  /// The word in which the parser found an `-h` that nobody wrote; nil if the help was asked for.
  ///
  /// The parser reads the file name `-dash.png` as `-d`, `-a`, `-s` and `-h`, and prints the help.
  static func helpByAccident(_ arguments: [String]) -> String? {
    let words = arguments.prefix { $0 != "--" }
    guard !words.contains(where: { ["-h", "--help", "help"].contains($0) }) else { return nil }
    return words.first {
      $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.dropFirst(2).contains("h")
    }
  }

  /// Whether a command line contains `--json`.
  ///
  /// The answer is right even if the command line cannot be parsed.
  static func wantsJSON(_ arguments: [String]) -> Bool {
    arguments.prefix { $0 != "--" }.contains("--json")
  }

  /// A log in the format that `--log-format` names.
  ///
  /// The option is looked up in the raw arguments, because it is possible that they cannot be parsed.
  private static var log: Log {
    let isJSON = ProgramArguments.all.joined(separator: " ")
      .contains(/--log-format[= ]json( |$)/)
    return Log(isJSON ? .json : .text)
  }
}

extension CommandGroup {
  fileprivate init(_ name: String, _ commands: any ParsableCommand.Type...) {
    self.init(name: name, subcommands: commands)
  }
}

/// Checks that a command line names a known command.
///
/// The argument parser's own messages would mislead. For example, the parser reports an unknown command as a
/// superfluous argument, and answers `help UNKNOWN` with the general help.
enum CommandName {
  /// The message about an unknown command; nil if the command line has none.
  ///
  /// - Parameters:
  ///   - arguments: The words after the program's name.
  ///   - root: The root command.
  /// - Returns: The message, which suggests the nearest command.
  static func fault(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
    let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
    let (command, rest) = self.command(in: words, of: root)
    let known = command.configuration.subcommands
    // An option, and the first argument of a command without subcommands, name no command.
    guard !known.isEmpty, let word = rest.first, !word.hasPrefix("-") else { return nil }
    if command == root, isCatalogFile(word) {
      return "\"\(word)\" is not a command; to fetch that shop: larder sync \(word)"
    }
    let path = ([name(of: root)] + words.dropLast(rest.count)).joined(separator: " ")
    let names = known.map { name(of: $0) }
    let meant = probablyMeant(by: word, in: names)
    let near = meant.map { ", nearest is \"\(path) \($0)\"" } ?? ""
    return "there is no command \"\(path) \(word)\"\(near); see \"\(path) --help\""
  }

  /// The command that a command line names, and the words after its name.
  ///
  /// The command is a group, such as `order`, or the root if the line does not name one of its commands.
  ///
  /// - Parameters:
  ///   - arguments: The words after the program's name.
  ///   - root: The root command.
  /// - Returns: The command and its arguments.
  static func command(
    in arguments: [String],
    of root: any ParsableCommand.Type
  ) -> (command: any ParsableCommand.Type, words: ArraySlice<String>) {
    var (command, words) = (root, arguments[...])
    while let word = words.first,
      let next = command.configuration.subcommands.first(where: { name(of: $0) == word })
    {
      command = next
      words = words.dropFirst()
    }
    return (command, words)
  }

  /// Whether a word looks like the name of a catalog file.
  ///
  /// In `larder shop.yaml`, for example, the command is missing.
  private static func isCatalogFile(_ word: String) -> Bool {
    [".yaml", ".yml", ".json"].contains { word.lowercased().hasSuffix($0) }
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? ""
  }
}

/// Turns the argument parser's error into one sentence with the fault and a remedy.
///
/// The parser prints three or more lines, and its usage line can be longer than the terminal is wide. It also repeats
/// arguments unescaped, although a script could have taken them from a file name or from a shop's response.
struct ParserMessage {
  /// The sentence, without line feeds and control characters; empty when the parser has no message.
  let text: String

  /// Converts the parser's message about a command line.
  init(_ message: String, arguments: [String]) {
    var message = message
    // The parser's message quotes either a whole argument, or the part after the argument's equals sign.
    let parts = arguments.flatMap {
      [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init)
    }
    let harmful = parts.filter { !PlainText.isPlain($0) }
    for part in harmful.sorted(by: { $0.utf8.count > $1.utf8.count }) {
      message = message.replacing(part, with: PlainText.row(part))
    }
    let lines = message.split(separator: "\n")
    let fault = lines.prefix { !$0.hasPrefix("Help:  ") && !$0.hasPrefix("Usage: ") }
      .joined(separator: "\n")
    var sentence = Self.plain(fault)
    // If the parser gives no reason, the option's help follows.
    if fault.hasSuffix("'"), let help = Self.help(in: lines) { sentence += ": \(help)" }
    if let match = message.firstMatch(of: /See '([^']+)' for more information/) {
      sentence += "; see \"\(match.1)\""
    }
    text = PlainText.row(sentence)
  }

  /// The fault in the style of larder's other messages.
  private static func plain(_ fault: String) -> String {
    let prefix = "Error: "
    var text = fault.hasPrefix(prefix) ? String(fault.dropFirst(prefix.count)) : fault
    if let match = text.wholeMatch(of: /Unknown option '(.*)'\. Did you mean '(.*)'\?/) {
      let words = [match.1, match.2].map { String($0.drop { $0 == "-" }) }
      let isMeant = probablyMeant(by: words[0], in: [words[1]]) != nil
      text = "unknown option '\(match.1)'" + (isMeant ? ", nearest is '\(match.2)'" : "")
    }
    // If there are many choices, the parser lists them on several lines.
    if let match = text.firstMatch(of: /\. Please provide one of (the following:\n)?/) {
      let choices = text[match.range.upperBound...].split(separator: "\n")
        .map { $0.drop { $0 == " " || $0 == "-" } }
      text =
        text[..<match.range.lowerBound] + ": it takes one of " + choices.joined(separator: ", ")
      if text.hasSuffix(".") { text.removeLast() }
    }
    return lowercased(text)
  }

  /// The option's help that the parser quotes, such as "transfers at once, 1 to 1024".
  private static func help(in lines: [Substring]) -> String? {
    guard let line = lines.first(where: { $0.hasPrefix("Help:  ") }),
      let match = line.wholeMatch(of: /Help:  .+?  (.+?)\.?/)
    else { return nil }
    return lowercased(String(match.1).replacing(". (default: ", with: " (default: "))
  }

  /// The text with its first letter in lower case, unless it begins with an abbreviation.
  private static func lowercased(_ text: String) -> String {
    guard let first = text.first, text.dropFirst().first?.isUppercase == false else { return text }
    return first.lowercased() + text.dropFirst()
  }
}
