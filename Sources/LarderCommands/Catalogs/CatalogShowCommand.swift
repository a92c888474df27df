import ArgumentParser
import Catalog

/// `larder catalog show FORMAT`: prints the catalog file of a built-in format.
struct CatalogShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print the file of a built-in format.",
    discussion: """
      Example:  larder catalog show contentful > mine.yaml

      Its first lines list the other keys that a catalog file needs. To use a changed copy, give its \
      path: format: ./mine.yaml. With --json, the document is {"name", "file"}.
      """,
    statuses: [.done: "printed"]
  )

  @Argument(
    help: ArgumentHelp("The format; larder catalog formats lists them.", valueName: "format"),
    completion: .list(FormatCatalog.names)
  )
  var format: String

  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let file: String
    do throws(CatalogError) {
      file = try FormatCatalog.file(of: format)
    } catch {
      throw CommandFailure(error.description)
    }
    try output.show(["name": format, "file": file], text: file, always: true)
  }
}
