import ArgumentParser

/// The options of every command that prints.
struct OutputOptions: ParsableArguments {
  @Flag(
    help:
      "Print one JSON document to stdout; crop, stamp and warm print one JSON object on each line."
  )
  var json = false

  @Flag(name: .shortAndLong, help: "Print only data and errors.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print more on stderr; -vv prints everything.")
  var verbose: Int

  @Flag(help: "Use no colours (also: NO_COLOR).")
  var noColor = false

  @Option("The format of logs on stderr: text or json.", value: "format")
  var logFormat = LogFormat.text
}

/// The formats of logs on stderr.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
}
