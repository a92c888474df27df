import ArgumentParser
import Orders

/// `larder order replay ID…`: queues dead or held orders again, or marks held orders as delivered.
///
/// An order is dead if larder gave it up, because the webhook refused it or it failed too often. An order is held if it
/// possibly arrived although no answer came.
struct OrderReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Queue dead or held orders again, or mark held ones as delivered.",
    discussion: """
      Example:  larder order replay ord_01k0 && larder order send
                larder order replay --all
                larder order replay --arrived ord_01k1

      A replayed order keeps its id, so that the receiver can recognize a repetition.
      """,
    statuses: [
      .done: "queued or settled",
      .failed: "there is no such order, or it is neither dead nor held",
      .io: "the orders cannot be read or written",
      .tryAgain: "another process holds the orders",
    ]
  )

  @Argument(help: ArgumentHelp("Orders, by id or the beginning of it.", valueName: "order"))
  var orders: [String] = []

  @Flag(help: "All dead orders.")
  var all = false

  @Flag(help: "Send nothing: mark these held orders as delivered.")
  var arrived = false

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  mutating func validate() throws {
    if all == !orders.isEmpty { throw ValidationError("name orders, or give --all") }
    if all, arrived { throw ValidationError("--arrived needs the orders that arrived") }
  }

  func run() throws {
    let now = SystemSenderClock().now()
    let box = all ? try outbox.existing() : try outbox.outbox(of: orders.first ?? "")
    let ids =
      arrived
      ? try box?.confirm(arrived: orders) ?? []
      : try box?.replay(all ? nil : orders, at: now) ?? []
    try output.show(
      ids.compactMap { try box?.order($0.rawValue) },
      text: "\(Quantities.count(ids.count, "order")) \(arrived ? "settled" : "queued again")"
    )
  }
}
