import Foundation

/// The parser's help, its sections in the order in which people look for them.
struct HelpText {
  /// The help, a line that ends it left out.
  let text: String

  /// Takes the parser's text; nil when that is no help.
  ///
  /// The parser puts a command's own options after the groups that it shares with others, and calls each group of
  /// commands one of subcommands.
  init?(_ message: String) {
    guard message.hasPrefix("OVERVIEW: ") else { return nil }
    var blocks = message.components(separatedBy: "\n\n").map(Self.withoutEnd)
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

  private static func withoutEnd(_ block: String) -> String {
    String(block[..<(block.lastIndex { $0 != "\n" }.map(block.index(after:)) ?? block.startIndex)])
  }

  /// The usage in lines that fit 80 columns, no option parted from its value: the parser leaves it in one.
  private static func folded(_ usage: String) -> String {
    var lines = [""]
    for part in usage.replacing(" [", with: "\u{0} [").split(separator: "\u{0}") {
      if lines[lines.count - 1].count + part.count > 80 { lines.append("      ") }
      lines[lines.count - 1] += part
    }
    return lines.joined(separator: "\n")
  }
}

/// The statuses that one command ends with, as its help lists them: one a line.
///
/// The commands' tests hold every run of the binary to these lists.
struct StatusHelp {
  /// The list, its lines fit for a terminal of 80 columns.
  let text: String

  /// A list.
  ///
  /// - Parameters:
  ///   - meanings: the meaning of each status for this command, besides a wrong command line.
  ///   - stops: whether Ctrl-C and SIGTERM keep whole results and report the unfinished ones.
  init(_ meanings: KeyValuePairs<ExitStatus, String>, stops: Bool = false) {
    var all = meanings.map { ($0.key.rawValue, $0.value) }
    all.append((ExitStatus.usage.rawValue, "the command line is wrong"))
    if stops {
      all.append((ExitStatus.interrupted.rawValue, "interrupted by Ctrl-C"))
      all.append((ExitStatus.terminated.rawValue, "ended by SIGTERM"))
    }
    let lines = all.sorted { $0.0 < $1.0 }.map { status, words in
      let number = "\(status)"
      return String(repeating: " ", count: 5 - number.count) + number + "  " + words
    }
    text = "Exit statuses:\n" + lines.joined(separator: "\n")
  }
}

/// The headings under which the help of every command lists its options.
enum Topic {
  static let scope = "What is fetched"
  static let limits = "Limits"
  static let doubt = "When the feed looks wrong"
  static let connection = "Connection"
  static let trust = "What the plan may use"
  static let monitoring = "Monitoring"
  static let cache = "Cache"
  static let pictures = "Pictures"
  static let upload = "Posting"
  static let orders = "Orders"
  static let webhook = "Webhook"
  static let notices = "Notices of changes"
  static let items = "Which items"
  static let origin = "The embedded origin"
  static let output = "Output"
}
