import ArgumentParser
import Larder
import Orders
import Pipeline

/// `larder order place ID`: places an order.
struct OrderPlaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "place",
    abstract: "Order items of the catalog as last synced.",
    discussion: """
      Example:  larder order place HBDEF --by Jiyeon --quantity 2 --send

      The order is safely on disk when its id is printed. It is sent with --send, with \
      larder order send, or with larder warm.
      """,
    statuses: [
      .done: "placed (and delivered, with --send)",
      .failed: "no such item, sold out or beyond the budget",
      .partial: "placed but not delivered",
      .unavailable: "placed, but the webhook is stopped or cannot be reached",
      .io: "the order could not be stored",
      .tryAgain: "placed but not due yet, or another process holds the orders",
    ],
    stops: true
  )

  @Argument(help: ArgumentHelp("The item's id, as larder list prints it.", valueName: "id"))
  var id: String

  @Option(help: ArgumentHelp("The name of the person who orders.", valueName: "name"))
  var by: String

  @Option(
    "The quantity of the first item. (default: 1)",
    value: "n",
    read: WholeNumber.reader(1...OrderRequest.mostPieces)
  )
  var quantity = 1

  @Option(
    name: .customLong("item"),
    help: ArgumentHelp("Another item, with its quantity; may be repeated.", valueName: "id=n")
  )
  var items: [OrderRequest.Item] = []

  @Option("A note to the receiver.", value: "text")
  var note: String?

  @Option("Refuse an order with a higher total.", value: "amount")
  var budget: String?

  @Flag(help: "Order items even if they are sold out.")
  var anyway = false

  @Flag(help: "Send it now.")
  var send = false

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.webhook) var webhook: WebhookOptions
  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    // The webhook's options are checked first, because a mistake in them must not leave an unsent order behind.
    let receiver = send ? try webhook.webhook() : nil
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    var draft = OrderRequest(
      by: by,
      items: [OrderRequest.Item(id, quantity: quantity)] + items,
      locale: outbox.language.rawValue
    )
    draft.note = note
    draft.allowsSoldOut = anyway
    let clock = SystemSenderClock()
    draft.budget = try budget.map { try Self.budget($0, reader.catalog.currency) }
    let order = try draft.order(from: reader, at: clock.now())
    let box = try outbox.outbox()
    try box.place(order)

    guard let receiver else { return try show(box, order) }
    Output.finishWork()
    if !output.json { try show(box, order) }
    var limits = WebhookSender.Limits()
    limits.until = order.id
    var sent = try webhook.send(of: box, to: receiver, limits)
    if output.json { try show(box, order) }
    sent.report = sent.report.about(order.id)
    sent.warn(output)
    Output.end(sent.status)
  }

  /// Parses the value of `--budget`.
  static func budget(_ text: String, _ currency: String) throws -> Price {
    do {
      return try Price(parsing: text, currency: currency)
    } catch {
      throw CommandFailure("cannot read --budget: \(error); give an amount such as 20000")
    }
  }

  private func show(_ box: Outbox, _ order: PlacedOrder) throws {
    try output.show(box.order(order.id.rawValue), text: order.line, always: true)
  }
}

extension OrderRequest.Item: ExpressibleByArgument {
  /// Parses the value of `--item`: the id of an item, and its quantity after an equals sign, such as `HDF73=2`.
  ///
  /// Without a quantity, one piece is ordered.
  public init?(argument: String) {
    guard let sign = argument.lastIndex(of: "=") else {
      guard !argument.isEmpty else { return nil }
      self.init(argument)
      return
    }
    guard sign > argument.startIndex, let count = Int(argument[argument.index(after: sign)...])
    else { return nil }
    self.init(String(argument[..<sign]), quantity: count)
  }
}
