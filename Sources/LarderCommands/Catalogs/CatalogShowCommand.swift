import ArgumentParser
import Catalog
import Pipeline

/// `larder catalog show FORMAT`: prints the catalog file of a built-in format.
struct CatalogShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print the file of a built-in format.",
    discussion: """
      Example:  larder catalog show contentful > mine.yaml

      Its first lines list the other keys that a catalog file needs. To use a changed copy, give its \
      path: format: ./mine.yaml
      """,
    statuses: [.done: "printed"]
  )

  @Argument(
    help: ArgumentHelp("The format; larder catalog formats lists them.", valueName: "format"),
    completion: .list(FormatCatalog.names)
  )
  var format: String

  @Flag(
    help: "Print one JSON document, {\"name\", \"file\"}: the format and its file's text."
  )
  var json = false

  func run() throws {
    do throws(CatalogError) {
      let file = try FormatCatalog.file(of: format)
      guard json else { return Output.data(file) }
      Output.json((try? ["name": format, "file": file].jsonLine()) ?? [])
    } catch {
      throw CommandFailure(error.description)
    }
  }
}
