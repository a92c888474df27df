import ArgumentParser
import Orders

/// `larder order list`: lists orders with their states.
struct OrderListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List orders with their state and age.",
    discussion: """
      Example:  larder order list --delivery ambiguous --json
      """,
    statuses: [
      .done: "listed",
      .io: "the orders cannot be read",
      .tryAgain: "another process holds the orders",
    ]
  )

  @Option("Only orders in this state.", value: "state")
  var state: OrderState?

  @Option("Only orders with this state of delivery.", value: "delivery")
  var delivery: Delivery.State?

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let orders = try outbox.existing()?.orders() ?? []
    let chosen = orders.filter {
      $0.state == state ?? $0.state && $0.delivery.state == delivery ?? $0.delivery.state
    }
    if chosen.isEmpty, !output.json { return }
    let now = SystemSenderClock().now()
    try output.show(
      chosen,
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
