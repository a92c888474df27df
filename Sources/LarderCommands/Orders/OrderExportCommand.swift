import ArgumentParser
import Orders

/// `larder order export`: every order for other programs.
struct OrderExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print every order as JSON lines, or every item of every order as CSV.",
    discussion: """
      Example:  larder order export --format csv > orders.csv

      In CSV, text that a spreadsheet would take for a formula has an apostrophe before it.

      Exit statuses: 0 printed, 64 usage, 74 the orders cannot be read.
      """
  )

  @Option(help: ArgumentHelp("jsonl or csv.", valueName: "format"))
  var format = OrderExportFormat.jsonl

  @OptionGroup var outbox: OutboxOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let orders = try outbox.existing()?.orders() ?? []
    let text = try OrderExport(orders, format).text
    if !text.isEmpty { Output.data(text) }
  }
}
