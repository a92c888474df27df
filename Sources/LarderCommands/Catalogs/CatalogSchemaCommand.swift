import ArgumentParser
import Catalog

/// `larder catalog schema`: prints the JSON Schema for editors.
struct CatalogSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the JSON Schema of catalog files, for editors.",
    discussion: """
      Example:  larder catalog schema > larder.schema.json

      With "# yaml-language-server: $schema=larder.schema.json" as its first line, editors that \
      know the YAML language server complete and check a catalog file.
      """,
    statuses: [.done: "printed"]
  )

  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    Output.data(CatalogSchema.text)
  }
}
