import Catalog

/// What the argument parser says of a wrong command line, as one sentence: what is wrong, and what to do.
///
/// The parser says it in three lines and more, with a usage line that may be longer than the terminal, and repeats
/// arguments as they came; a script may have them from anywhere: a file name, a feed.
struct ParserMessage {
  /// The sentence, without a line feed or a control character; empty when the parser says nothing.
  let text: String

  /// Takes all that the parser says of these arguments.
  init(_ message: String, arguments: [String]) {
    var message = message
    // What the parser repeats is an argument, or what stands behind its equals sign.
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
    // Where the parser gives no reason, the option's own help has it.
    if fault.hasSuffix("'"), let help = Self.help(in: lines) { sentence += ": \(help)" }
    if let match = message.firstMatch(of: /See '([^']+)' for more information/) {
      sentence += "; see \"\(match.1)\""
    }
    text = PlainText.row(sentence)
  }

  /// What is wrong, in the words that larder's other messages use.
  private static func plain(_ fault: String) -> String {
    let prefix = "Error: "
    var text = fault.hasPrefix(prefix) ? String(fault.dropFirst(prefix.count)) : fault
    if let match = text.wholeMatch(of: /Unknown option '(.*)'\. Did you mean '(.*)'\?/) {
      let words = [match.1, match.2].map { String($0.drop { $0 == "-" }) }
      let isMeant = probablyMeant(by: words[0], in: [words[1]]) != nil
      text = "unknown option '\(match.1)'" + (isMeant ? ", nearest is '\(match.2)'" : "")
    }
    // Several lines, when there are many.
    if let match = text.firstMatch(of: /\. Please provide one of the following:\n/) {
      let choices = text[match.range.upperBound...].split(separator: "\n")
        .map { $0.drop { $0 == " " || $0 == "-" } }
      text =
        text[..<match.range.lowerBound] + ": it takes one of "
        + choices.joined(separator: ", ")
    } else if let match = text.firstMatch(of: /\. Please provide one of (.*)\.$/) {
      text = text[..<match.range.lowerBound] + ": it takes one of \(match.1)"
    }
    return lowercased(text)
  }

  /// What the parser quotes from the option's help, such as "transfers at once, 1 to 1024".
  private static func help(in lines: [Substring]) -> String? {
    guard let line = lines.first(where: { $0.hasPrefix("Help:  ") }),
      let match = line.wholeMatch(of: /Help:  .+?  (.+?)\.?/)
    else { return nil }
    return lowercased(String(match.1).replacing(". (default: ", with: " (default: "))
  }

  /// The text with its first letter small, unless it begins with an abbreviation.
  private static func lowercased(_ text: String) -> String {
    guard let first = text.first, text.dropFirst().first?.isUppercase == false else { return text }
    return first.lowercased() + text.dropFirst()
  }
}
