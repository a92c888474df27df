import ArgumentParser
import Catalog
import Pipeline

/// `larder catalog show FORMAT`: a format as a file to edit.
struct CatalogShowCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "printed"
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print a built-in format, or an example, as a catalog file to edit.",
    discussion: """
      Example:  larder catalog show shopify > shop.yaml
                larder catalog show contentful > shop.yaml

      Contentful and Square are modelled by each owner: theirs are examples to edit, and no formats.

      \(statuses.text)
      """
  )

  @Argument(
    help: ArgumentHelp("The format; larder catalog formats lists them.", valueName: "format"),
    completion: .list((FormatCatalog.entries + FormatCatalog.examples).map(\.name))
  )
  var format: String

  @Flag(
    help: "Print one JSON document, {\"name\", \"file\"}: the format and the catalog file's text."
  )
  var json = false

  func run() throws {
    do throws(CatalogError) {
      let file = try FormatCatalog.catalogFile(of: format)
      guard json else { return Output.data(file) }
      Output.json((try? ["name": format, "file": file].jsonLine()) ?? [])
    } catch {
      throw CommandFailure(error.description, .usage)
    }
  }
}
