import Foundation

/// The parser's help, its sections in the order in which people look for them.
struct HelpText {
  /// The help, a line that ends it left out.
  let text: String

  /// Takes what the parser says; nil when that is no help.
  ///
  /// The parser puts what a command alone has behind the topics that it shares with others, and calls each group of
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
