import ArgumentParser
import Catalog
import Pipeline

/// `larder catalog formats`: lists the built-in formats.
struct CatalogFormatsCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "listed"
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "formats",
    abstract: "List the built-in formats, one on each line.",
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
  }
}

/// The built-in formats, as JSON or text.
struct FormatsDocument: Encodable {
  private struct Format: Encodable {
    var name: String
    var summary: String
  }

  private let formats: [Format]

  init(_ entries: [FormatCatalog.Entry]) {
    formats = entries.map { Format(name: $0.name, summary: $0.summary) }
  }

  /// An array with one object for each format.
  func json() throws -> [UInt8] { try formats.jsonLine() }

  /// One line for each format.
  var text: String {
    let width = formats.map(\.name.count).max() ?? 0
    return formats.map { "\(padded($0.name, to: width))  \($0.summary)" }.joined(separator: "\n")
  }
}
