import ArgumentParser
import Catalog
import CurlTransport

/// `larder catalog check FILE`: what a catalog file reads, and what looks wrong.
struct CatalogCheckCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "all is well",
      .failed: "nothing could be read, for a reason that is none of these",
      .partial: "something looks wrong, or a section failed",
      .data: "no section could be read",
      .unavailable: "the origin cannot be reached",
      .configuration: "the catalog file is wrong",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Fetch a page of each section and say what maps and what looks wrong.",
    discussion: """
      Example:  larder catalog check shop.yaml
                larder catalog check shop.yaml --json

      Reads the first page of each section and the beginning of three pictures; keeps nothing. Says \
      how many items have each field, which paths lead to nothing, and what looks wrong: sale \
      prices above normal ones, repeated ids, prices in cents that are read as whole units, pictures \
      that are pages, listings that go on.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The catalog file (YAML or JSON).", valueName: "catalog"),
    completion: .catalogFile,
    transform: PathArgument.read
  )
  var file: String

  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let file = try CatalogFileOnDisk(file)
    let options = try connection.transport(named: try file.namedHosts(base: nil))
    let transport = try CurlTransport(options)
    defer { transport.shutdown() }
    let trial = try CatalogTrial(file, transport)
    let document = CheckDocument(file.catalog.name, trial.sources())
    if output.json {
      Output.json(try document.json())
    } else {
      Output.data(document.text(Terminal(output)))
    }
    Output.end(document.status)
  }
}
