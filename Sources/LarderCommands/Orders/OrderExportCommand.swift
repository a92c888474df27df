import ArgumentParser
import Orders

/// `larder order export`: every order for other programs.
struct OrderExportCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "printed",
      .io: "the orders cannot be read",
      .tryAgain: "another process holds the orders",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print every order as JSON lines, or every item of every order as CSV.",
    discussion: """
      Example:  larder order export --format csv > orders.csv

      In CSV, text that a spreadsheet would take for a formula has an apostrophe before it.

      \(statuses.text)
      """
  )

  @Option(help: ArgumentHelp("jsonl or csv.", valueName: "format"))
  var format = OrderExportFormat.jsonl

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let orders = try outbox.existing()?.orders() ?? []
    let text = try OrderExport(orders, format).text
    if !text.isEmpty { Output.data(text) }
  }
}
