import ArgumentParser
import Orders
import Pipeline

/// `larder order list`: lists orders with their states.
struct OrderListCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "listed",
      .io: "the orders cannot be read",
      .tryAgain: "another process holds the orders",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List orders with their state and age.",
    discussion: """
      Example:  larder order list --delivery ambiguous --json

      \(statuses.text)
      """
  )

  @Option(help: ArgumentHelp("Only orders in this state.", valueName: "state"))
  var state: OrderState?

  @Option(help: ArgumentHelp("Only orders with this state of delivery.", valueName: "delivery"))
  var delivery: Delivery.State?

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let orders = try outbox.existing()?.orders() ?? []
    let chosen = orders.filter { entry in
      (state.map { $0 == entry.state } ?? true)
        && (delivery.map { $0 == entry.delivery.state } ?? true)
    }
    if chosen.isEmpty, !output.json { return }
    let now = SystemSenderClock().now()
    try output.show(
      json: chosen.jsonLine(),
      text: OrderTable(
        orders: chosen,
        language: outbox.language,
        now: now,
        terminal: Terminal(output)
      ).text,
      always: true
    )
  }
}
