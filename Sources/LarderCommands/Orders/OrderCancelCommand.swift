import ArgumentParser
import Orders

/// `larder order cancel ID`: cancels an order before work on it begins.
struct OrderCancelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel an order before work on it begins; an unsent one is never sent.",
    discussion: """
      Example:  larder order cancel ord_01k0 --post
      """,
    statuses: [
      .done: "cancelled",
      .failed: "there is no such order, or work on it has begun",
      .io: "the orders cannot be read or written",
      .tryAgain: "another process holds the orders",
    ]
  )

  @Argument(help: ArgumentHelp("The order's id, or the beginning of it.", valueName: "order"))
  var order: String

  @Flag(help: "Also tell the webhook, with the next send, if it may know of the order.")
  var post = false

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let moved = try outbox.outbox(of: order)
      .move(order, to: .cancelled, posting: post, at: SystemSenderClock().now())
    try output.show(moved, text: moved.stateLine(outbox.language))
    if !post, moved.mayBeKnown {
      Log(output).warning(
        "the webhook may know \(moved.order.id); use --post to tell it about a cancellation"
      )
    }
  }
}
