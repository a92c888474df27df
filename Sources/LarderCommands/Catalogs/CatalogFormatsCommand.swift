import ArgumentParser
import Catalog

/// `larder catalog formats`: lists the built-in formats.
struct CatalogFormatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "formats",
    abstract: "List the built-in formats, one on each line.",
    discussion: """
      Example:  larder catalog formats
      """,
    statuses: [.done: "listed"]
  )

  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let formats = FormatCatalog.entries
    let rows = aligned(formats.map { [$0.name, $0.summary] })
    try output.show(
      formats,
      text: rows.map { $0.joined(separator: "  ") }.joined(separator: "\n"),
      always: true
    )
  }
}
