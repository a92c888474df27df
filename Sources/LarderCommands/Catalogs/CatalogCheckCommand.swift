import ArgumentParser
import Catalog
import CurlTransport

/// `larder catalog check FILE`: what a catalog file reads, and what looks wrong.
struct CatalogCheckCommand: ParsableCommand {
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

      Exit statuses: 0 all is well, 3 something looks wrong or a section failed, 64 usage, 65 no \
      section could be read, 69 the origin cannot be reached, 78 the catalog file is wrong.
      """
  )

  @Argument(
    help: ArgumentHelp("The catalog file (YAML or JSON).", valueName: "catalog"),
    completion: CacheCompletion.files
  )
  var file: String

  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var output: OutputOptions

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
