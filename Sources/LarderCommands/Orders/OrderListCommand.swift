import ArgumentParser
import Orders

/// `larder order list`: every order, and how far it is.
struct OrderListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List orders: how far each is, and how long ago it was placed.",
    discussion: """
      Example:  larder order list --delivery ambiguous --json

      Exit statuses: 0 listed, 64 usage, 74 the orders cannot be read.
      """
  )

  @Option(help: ArgumentHelp("Only orders in this state.", valueName: "state"))
  var state: OrderState?

  @Option(help: ArgumentHelp("Only orders whose delivery stands so.", valueName: "delivery"))
  var delivery: Delivery.State?

  @OptionGroup var outbox: OutboxOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let orders = try outbox.existing()?.orders() ?? []
    let chosen = orders.filter { entry in
      (state.map { $0 == entry.state } ?? true)
        && (delivery.map { $0 == entry.delivery.state } ?? true)
    }
    if output.json {
      Output.json(try OrderDocument.list(chosen))
    } else {
      let now = SystemCourierClock().now()
      let table = OrderTable(chosen, outbox.language, now: now, Terminal(output))
      if !table.text.isEmpty { Output.data(table.text) }
    }
  }
}
