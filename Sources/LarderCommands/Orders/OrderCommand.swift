import ArgumentParser

/// `larder order`: a group of subcommands.
struct OrderCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "order",
    abstract: "Place orders and send them to a webhook, at least once.",
    discussion: """
      Example:  larder order place HBDEF --by Jiyeon
                LARDER_WEBHOOK_URL=… larder order send
                larder order list

      An order is safely on disk when larder order place prints its id. larder order send delivers the \
      oldest first. A failed delivery is retried for three days. An order that may have arrived is held \
      or sent again, as you choose. A refused order is kept until you replay it.
      """,
    statuses: [
      .done: "done",
      .failed: "refused, or there is no such order",
      .partial: "some orders were not delivered",
      .unavailable: "the webhook is stopped or cannot be reached",
      .io: "the orders cannot be read or written",
      .tryAgain: "not due yet, or another process holds the orders",
    ],
    stops: true,
    subcommands: [
      OrderPlaceCommand.self, OrderSendCommand.self, OrderListCommand.self,
      OrderShowCommand.self, OrderCancelCommand.self, OrderAdvanceCommand.self,
      OrderReplayCommand.self,
    ]
  )
}
