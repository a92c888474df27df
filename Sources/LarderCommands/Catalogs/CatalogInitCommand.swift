import ArgumentParser
import Catalog

/// `larder catalog init URL|FILE…`: a catalog file to begin with.
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
                larder catalog init main.json soup.json --detail detail-H1.json
                larder catalog init https://shop.example/graphql --body @query.json
                larder catalog init https://shop.example/ --header 'token: ${TOKEN}'
                curl -s https://shop.example/products.json | larder catalog init -

      Finds the items and their fields by names and values, says in comments how sure it is of each \
      and what else it may be, and shows the first items as they are read. Several listings become \
      several sections. With the detail of one listed item, the file has the details of all. Where a \
      listing seems to have more pages, up to 8 requests find out how the shop is asked for the \
      second. Look through the file, then try it with larder catalog check.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp(
      "URLs, or files with responses, - for stdin; several become sections of one catalog.",
      valueName: "url|file"
    ),
    completion: .file(),
    transform: PathArgument.read
  )
  var sources: [String]

  @Option(
    help: ArgumentHelp("The detail of an item that is listed.", valueName: "url|file"),
    completion: .file(),
    transform: PathArgument.read
  )
  var detail: String?

  @Option(
    help: ArgumentHelp(
      "Ask for the listing by a POST of this JSON, or of a file's after @.",
      valueName: "json|@file"
    )
  )
  var body: String?

  @Option(
    help: ArgumentHelp(
      "Send this header, with '${NAME}' of the environment for secrets; repeatable.",
      valueName: "name: value"
    )
  )
  var header: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file, - for stdout. (default: NAME.yaml)",
      valueName: "file"
    ),
    transform: PathArgument.read
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
    if sources.filter({ $0 == "-" }).count + (detail == "-" ? 1 : 0) > 1 {
      throw ValidationError(
        "only one of the responses can come from stdin; put the others into files"
      )
    }
    if let repeated = sources.first(where: { source in sources.filter { $0 == source }.count > 1 })
    {
      throw ValidationError("\(repeated) is named twice; each listing is one section")
    }
    if let name, !ProposedSource.isName(name) {
      throw ValidationError("--name takes what could be a file name, not \"\(name)\"")
    }
    if body != nil, sources.count > 1 {
      throw ValidationError("--body asks for one listing, and \(sources.count) are named")
    }
    if body != nil, !CatalogProposal.isURL(sources[0]) {
      throw ValidationError("--body needs a URL to be sent to, not \(sources[0])")
    }
    if output.json, out == "-" {
      throw ValidationError("--json and --out - exclude each other: both print to stdout")
    }
  }

  func run() throws {
    try CatalogProposal(
      sources,
      detail: detail,
      body: body,
      headers: header,
      out: out,
      name: name,
      currency: currency,
      connection: connection,
      output: output
    ).run()
  }
}
