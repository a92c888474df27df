import ArgumentParser
import Orders

/// `larder order show ID`: prints an order with its history.
struct OrderShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one order with its history and every attempt to deliver it.",
    discussion: """
      Example:  larder order show ord_01k0
      """,
    statuses: [
      .done: "shown",
      .failed: "there is no such order",
      .io: "the orders cannot be read",
      .tryAgain: "another process holds the orders",
    ]
  )

  @Argument(help: ArgumentHelp("The order's id, or the beginning of it.", valueName: "order"))
  var order: String

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let entry = try outbox.outbox(of: order).order(order)
    let card = entry.card(outbox.language, Terminal(output))
    try output.show(entry, text: card, always: true)
  }
}
