import ArgumentParser
import Orders

/// `larder order advance ID`: moves an order to its next state.
struct OrderAdvanceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advance",
    abstract: "Move an order one step: ordered, preparing, ready, collected.",
    discussion: """
      Example:  larder order advance ord_01k0
                larder order advance ord_01k0 --to collected --post
      """,
    statuses: [
      .done: "moved",
      .failed: "there is no such order, or the move is refused",
      .io: "the orders cannot be read or written",
      .tryAgain: "another process holds the orders",
    ]
  )

  @Argument(help: ArgumentHelp("The order's id, or the beginning of it.", valueName: "order"))
  var order: String

  @Option("Refuse unless this is the next step.", value: "state")
  var to: OrderState?

  @Flag(help: "Also tell the webhook, with the next send.")
  var post = false

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if to == .cancelled { throw ValidationError("larder order cancel cancels an order") }
  }

  func run() throws {
    let moved = try outbox.outbox(of: order)
      .move(order, to: to, posting: post, at: SystemSenderClock().now())
    try output.show(moved, text: moved.stateLine(outbox.language))
  }
}
