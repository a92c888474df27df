import ArgumentParser
import Catalog
import Pipeline

/// `larder catalog formats`: which formats there are.
struct CatalogFormatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "formats",
    abstract: "List the built-in formats, one a line.",
    discussion: """
      Example:  larder catalog formats

      Exit statuses: 0 listed, 64 usage.
      """
  )

  @OptionGroup var output: OutputOptions

  func run() throws {
    let document = FormatsDocument(FormatCatalog.entries)
    if output.json { Output.json(try document.json()) } else { Output.data(document.text) }
  }
}
