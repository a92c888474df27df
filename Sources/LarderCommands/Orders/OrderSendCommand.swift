import ArgumentParser
import Orders

/// `larder order send`: posts the orders that are due to the webhook.
struct OrderSendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Send the orders that are due to the webhook.",
    discussion: """
      Example:  larder order send --webhook-url-file /etc/larder/webhook
                larder order send --on-ambiguous resend

      Orders are sent in the order in which they were placed; to Slack at most one a second, even \
      if several processes send. An order is delivered when the webhook answers with a 2xx status, and Slack \
      with "ok". 400, 413 and 422 refuse one order (it is dead until replayed); 401, 403, 404 and 410 \
      stop the webhook until --resume or another URL. Any other failure is retried at once, then after \
      5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, and not before a Retry-After of up to a \
      day. An order may have arrived if there was no answer or an ambiguous one (502, 504, a page \
      instead of "ok"): hold keeps and lists it, resend sends it again under the same id.
      """,
    statuses: [
      .done: "all orders that were due are delivered",
      .failed: "libcurl is missing, or the webhook's state cannot be read",
      .partial: "some orders are dead, held, or will be retried; each is listed",
      .unavailable: "the webhook is stopped or cannot be reached",
      .io: "the orders cannot be read or written",
      .tryAgain: "some orders are not due yet",
    ],
    stops: true
  )

  @Option(
    "Attempt at most N orders. (default: all)",
    value: "n",
    read: WholeNumber.reader(1...1_000_000_000)
  )
  var limit: Int?

  @Flag(help: "Start a stopped webhook again.")
  var resume = false

  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.webhook) var webhook: WebhookOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let receiver = try webhook.webhook()
    guard let box = try outbox.existing() else {
      if output.json { Output.json(try SendReport().jsonLine()) }
      return
    }
    var limits = WebhookSender.Limits()
    limits.attempts = limit ?? .max
    let sent = try CountDisplay.during("send", "orders", output) { display in
      try webhook.send(of: box, to: receiver, limits, resuming: resume, display: display)
    }
    try output.show(sent.report, text: sent.text)
    sent.warn(output)
    Output.end(sent.status)
  }
}
