import Catalog

/// What the argument parser says of a wrong command line, fit for a terminal.
///
/// The parser repeats arguments as they came, and a script may have them from anywhere: a file name, a feed.
struct ParserMessage {
  /// The message: the parser's lines, with no line and no control character of an argument's own.
  let text: String

  /// Takes the parser's message about these arguments.
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
    text = message.split(separator: "\n", omittingEmptySubsequences: false)
      .map { PlainText.row(String($0)) }.joined(separator: "\n")
  }
}
