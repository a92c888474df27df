import ArgumentParser
import Catalog
import Pipeline

/// `larder catalog formats`: which formats there are.
struct CatalogFormatsCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "listed"
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "formats",
    abstract: "List the built-in formats, one a line.",
    discussion: """
      Example:  larder catalog formats

      \(statuses.text)
      """
  )

  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let document = FormatsDocument(FormatCatalog.entries)
    guard !output.json else { return Output.json(try document.json()) }
    Output.data(document.text)
    let examples = FormatCatalog.examples.map(\.name).joined(separator: ", ")
    if !output.quiet { Output.note("larder catalog show also has examples to edit: \(examples)") }
  }
}
