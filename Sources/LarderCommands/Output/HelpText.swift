import ArgumentParser
import Foundation

/// Rearranges the argument parser's help, so that a command's own options come first.
struct HelpText {
  /// The help, without a trailing line feed.
  let text: String

  /// Rearranges a text of the parser; nil if the text is not a help text.
  ///
  /// The parser puts a command's own options after the groups that it shares with other commands. It also adds
  /// "SUBCOMMANDS" to the heading of each group of commands.
  init?(_ message: String) {
    guard message.hasPrefix("OVERVIEW: ") else { return nil }
    var blocks = message.trimmingCharacters(in: .newlines).components(separatedBy: "\n\n")
    if let own = blocks.firstIndex(where: { $0.hasPrefix("OPTIONS:\n") }),
      let usage = blocks.firstIndex(where: { $0.hasPrefix("USAGE: ") }), own > usage
    {
      blocks[usage] = Self.folded(blocks[usage])
      let options = blocks.remove(at: own)
      let hasArguments = blocks.count > usage + 1 && blocks[usage + 1].hasPrefix("ARGUMENTS:\n")
      blocks.insert(options, at: usage + (hasArguments ? 2 : 1))
    }
    let groups = blocks.map { block in
      let heading = block.prefix { $0 != "\n" }
      let ending = " SUBCOMMANDS:"
      guard heading.hasSuffix(ending) else { return block }
      return heading.dropLast(ending.count) + ":" + block[heading.endIndex...]
    }
    text = groups.joined(separator: "\n\n")
  }

  /// Wraps the usage line at 80 columns.
  ///
  /// An option and its value stay on one line.
  private static func folded(_ usage: String) -> String {
    var lines = [""]
    for part in usage.replacing(" [", with: "\u{0} [").split(separator: "\u{0}") {
      if lines[lines.count - 1].count + part.count > 80 { lines.append("      ") }
      lines[lines.count - 1] += part
    }
    return lines.joined(separator: "\n")
  }
}

/// The list of a command's exit statuses for its help, in lines of at most 80 columns with one status each.
///
/// The tests run the binary many times, and check that each exit status is in the list of its command.
///
/// - Parameters:
///   - meanings: The meaning of each status for this command. The status 64, for a wrong command line, is added.
///   - stops: Whether the command handles Ctrl-C and SIGTERM. If it does, the statuses 130 and 143 are added.
/// - Returns: The list under its heading.
func statusHelp(_ meanings: KeyValuePairs<ExitStatus, String>, stops: Bool) -> String {
  var all = Array(meanings) + [(.usage, "the command line is wrong")]
  if stops {
    all += [(.interrupted, "interrupted by Ctrl-C"), (.terminated, "ended by SIGTERM")]
  }
  let lines = all.sorted { $0.key.rawValue < $1.key.rawValue }.map { status, words in
    "\(padded("\(status.rawValue)", to: 5, right: true))  \(words)"
  }
  return "Exit statuses:\n" + lines.joined(separator: "\n")
}

extension CommandConfiguration {
  /// The configuration of a command whose help ends with the list of its exit statuses; see ``statusHelp(_:stops:)``.
  init(
    commandName: String,
    abstract: String,
    discussion: String,
    statuses: KeyValuePairs<ExitStatus, String>,
    stops: Bool = false,
    subcommands: [any ParsableCommand.Type] = []
  ) {
    self.init(
      commandName: commandName,
      abstract: abstract,
      discussion: "\(discussion)\n\n\(statusHelp(statuses, stops: stops))",
      subcommands: subcommands
    )
    // When `LarderCommand` lets this command parse its own arguments, the parser then does not look whether they ask for
    // a completion script, for which it would make two more commands: 4 % of the instructions of a start.
    _superCommandName = "larder"
  }
}

/// The headings of the groups of options in the help.
enum Topic {
  static let scope = "Scope"
  static let limits = "Limits"
  static let doubt = "Protection against a broken feed"
  static let connection = "Connection"
  static let trust = "Permissions of the plan"
  static let monitoring = "Monitoring"
  static let cache = "Cache"
  static let pictures = "Pictures"
  static let upload = "Posting"
  static let orders = "Orders"
  static let webhook = "Webhook"
  static let notices = "Notices of changes"
  static let items = "Items"
  static let output = "Output"
}
