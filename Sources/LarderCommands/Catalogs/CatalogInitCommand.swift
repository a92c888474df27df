import ArgumentParser
import Catalog

/// `larder catalog init URL|FILE`: a catalog file to begin with.
struct CatalogInitCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "written",
      .failed: "the file exists",
      .data: "nothing looks like items",
      .unavailable: "the origin cannot be reached",
      .io: "the file cannot be written",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Look at a response and propose a catalog file for it.",
    discussion: """
      Example:  larder catalog init https://shop.example/products.json
                larder catalog init products.json --out shop.yaml --currency EUR

      Finds the items and their fields by names and values, says in comments how sure it is of each \
      and what else it may be, and shows the first items as they are read. Look through the file, \
      then try it with larder catalog check.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("A URL, or a file with a response.", valueName: "url|file"),
    completion: .file()
  )
  var source: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to this file, - for stdout. (default: NAME.yaml)", valueName: "file")
  )
  var out: String?

  @Option(
    help: ArgumentHelp("The catalog's name. (default: from the URL or file)", valueName: "name")
  )
  var name: String?

  @Option(help: ArgumentHelp("The currency, such as EUR. (default: judged)", valueName: "code"))
  var currency: String?

  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if let currency, !MappingProposal.isCurrency(currency) {
      throw ValidationError("--currency takes an ISO 4217 code such as EUR, not \"\(currency)\"")
    }
    if output.json, out == "-" {
      throw ValidationError("--json and --out - exclude each other: both print to stdout")
    }
  }

  func run() throws {
    try CatalogProposal(
      source,
      out: out,
      name: name,
      currency: currency,
      connection: connection,
      output: output
    ).run()
  }
}
