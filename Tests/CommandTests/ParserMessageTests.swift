import Testing

@testable import LarderCommands

struct ParserMessageTests {
  private static let see =
    "\nUsage: larder crop [<options>]\n  See 'larder crop --help' for more information."

  @Test(arguments: [
    (
      "Error: Unknown option '--paralel'. Did you mean '--parallel'?",
      "unknown option '--paralel', nearest is '--parallel'"
    ),
    ("Error: Unknown option '--from'. Did you mean '--json'?", "unknown option '--from'"),
    ("Error: Unknown option '-x'", "unknown option '-x'"),
    ("Error: Unexpected argument 'b.yaml'", "unexpected argument 'b.yaml'"),
    (
      "Error: Missing expected argument '--out <dir>'\nHelp:  --out <dir>  Where the squares go.",
      "missing expected argument '--out <dir>': where the squares go"
    ),
    (
      "Error: Missing value for '--size <n>'\nHelp:  --size <n>  JPEG's side. (default: none)",
      "missing value for '--size <n>': JPEG's side (default: none)"
    ),
    (
      "Error: The value '20' is invalid for '--rate <n/s>': it needs a unit: 20/s\nHelp:  --rate <n/s>  Requests.",
      "the value '20' is invalid for '--rate <n/s>': it needs a unit: 20/s"
    ),
    (
      "Error: The value 'bmp' is invalid for '--format <f>'. Please provide one of 'jpeg' or 'png'.",
      "the value 'bmp' is invalid for '--format <f>': it takes one of 'jpeg' or 'png'"
    ),
    (
      "Error: The value 'x' is invalid for '--g <g>'. Please provide one of the following:\n  - top\n  - top-left",
      "the value 'x' is invalid for '--g <g>': it takes one of top, top-left"
    ),
    (
      "Error: --size takes a number from 1 to 9, not 0", "--size takes a number from 1 to 9, not 0"
    ),
  ])
  func `the parser's message becomes one sentence with advice`(
    _ fault: String,
    _ sentence: String
  ) {
    let message = ParserMessage(fault + Self.see, arguments: [])

    #expect(message.text == sentence + "; see \"larder crop --help\"")
  }

  @Test func `an argument cannot add a line, a sentence or a terminal escape to the message`() {
    let argument = "--a'\nUsage: b\n\u{1B}[2J. Please provide one of the following:\n  - c"
    let message = ParserMessage(
      "Error: Unknown option '\(argument)'" + Self.see,
      arguments: [argument]
    )

    #expect(!message.text.contains("\n") && !message.text.contains("\u{1B}"))
    #expect(message.text.hasPrefix("unknown option '--a'"))
    #expect(message.text.hasSuffix("; see \"larder crop --help\""))
  }

  @Test func `an empty message stays empty`() {
    #expect(ParserMessage("", arguments: ["x"]).text.isEmpty)
  }
}
