import ArgumentParser
import Orders
import Pipeline

/// `larder order export`: prints every order as JSON lines or CSV, for other programs.
struct OrderExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print every order as JSON lines, or every item of every order as CSV.",
    discussion: """
      Example:  larder order export --format csv > orders.csv

      In CSV, text that a spreadsheet could read as a formula is preceded by an apostrophe.
      """,
    statuses: [
      .done: "printed",
      .io: "the orders cannot be read",
      .tryAgain: "another process holds the orders",
    ]
  )

  @Option(help: ArgumentHelp("The format: jsonl or csv.", valueName: "format"))
  var format = OrderExportFormat.jsonl

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let orders = try outbox.existing()?.orders() ?? []
    switch format {
    case .jsonl:
      // The lines are escaped, so that they are safe to print on a terminal.
      let lines = try orders.map { TerminalJSON.text(try OrderWithMessages($0).jsonLine()) + "\n" }
      if !lines.isEmpty { Output.data(lines.joined()) }
    case .csv:
      Output.data(CSVLine.table([CSVLine(heading: Self.header)] + orders.flatMap(Self.rows)))
    }
  }

  private static let header = [
    "order", "placed", "by", "state", "delivery", "attempts", "item", "title", "quantity",
    "price", "amount", "currency", "note",
  ]

  private static func rows(_ entry: Order) -> [CSVLine] {
    let order = entry.order
    return order.lines.map { line in
      CSVLine([
        .text(order.id.rawValue), .text(order.placed.text), .text(order.by),
        .text(entry.state.rawValue), .text(entry.delivery.state.rawValue),
        .number(String(entry.delivery.attempts)), .text(line.item), .text(line.title),
        .number(String(line.quantity)), .number(String(line.price.minorUnits)),
        .number(String(line.price.minorUnits * line.quantity)), .text(order.total.currency),
        .note(order.note),
      ])
    }
  }
}

/// The formats of `order export`.
enum OrderExportFormat: String, ExpressibleByArgument, CaseIterable {
  /// One JSON object on each line; each object is an order.
  case jsonl
  /// CSV: a header, then one line for each item of each order. (RFC 4180)
  case csv
}
