import ArgumentParser
import Orders

/// `larder order show ID`: one order with its history.
struct OrderShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one order with its history and every attempt to deliver it.",
    discussion: """
      Example:  larder order show ord_01k0

      Exit statuses: 0 shown, 1 there is no such order, 64 usage, 74 the orders cannot be read.
      """
  )

  @Argument(help: ArgumentHelp("The order's id, or the beginning of it.", valueName: "order"))
  var order: String

  @OptionGroup var outbox: OutboxOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let entry = try outbox.outbox(of: order).order(order)
    if output.json {
      Output.json(try OrderDocument.show(entry))
    } else {
      Output.data(OrderCard(entry, outbox.language, Terminal(output)).text)
    }
  }
}
