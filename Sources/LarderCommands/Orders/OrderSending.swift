import CurlTransport
import Dispatch
import Larder
import Orders
import Transport

/// Sends the orders and notices that are due, with the options of a command.
///
/// A message is due if it waits to be sent, and if the delay before its next attempt is over.
struct OrderSending {
  private let outbox: Outbox
  private let mail: MessageKind
  private let webhook: Orders.Webhook
  private let options: WebhookOptions

  /// How long an attempt is allowed to continue after a signal, so that the answer of the webhook is not lost.
  private static let grace = DispatchTimeInterval.milliseconds(1000)

  init(
    _ outbox: Outbox,
    _ webhook: Orders.Webhook,
    _ options: WebhookOptions,
    mail: MessageKind = .orders
  ) {
    self.outbox = outbox
    self.mail = mail
    self.webhook = webhook
    self.options = options
  }

  /// Sends messages until none is due, a signal comes or a limit is reached.
  ///
  /// - Parameters:
  ///   - limits: The limits of the run. The option `--wait` replaces `patience`.
  ///   - resuming: Whether to start a stopped webhook again.
  ///   - display: Shows the progress. Pass nil to show none.
  /// - Returns: The report, and the signal that ended the run, if any.
  /// - Throws: ``LarderError`` when the file with the orders cannot be written, ``TransferFailure`` when memory runs
  ///   out.
  func run(
    _ limits: WebhookSender.Limits = WebhookSender.Limits(),
    resuming: Bool = false,
    display: CountDisplay? = nil
  ) throws -> (report: SendReport, signal: Int32?) {
    var limits = limits
    limits.patience = Int64(options.wait.seconds * 1000)
    let transport = try CurlTransport(try Self.transport(options))
    defer { transport.shutdown() }
    let sender = WebhookSender(
      outbox,
      to: webhook,
      mail: mail,
      policy: options.onAmbiguous ?? webhook.payload.defaultPolicy,
      limits: limits,
      transport: transport,
      clock: SystemSenderClock()
    )
    let signals = Signals {
      sender.end(within: Self.grace, transport)
    }
    if resuming { try outbox.resume(webhook) }
    let counts = try outbox.counts()
    let total = counts[.queued] + counts[.sending]
    display?.show(0, of: total)
    let report = try sender.run { report in
      let failed = report.troubles.count
      let done = report.delivered.count + failed
      display?.show(done, of: max(total, done), failed: failed)
    }
    return (report, signals.signal)
  }

  /// The options of the transport.
  ///
  /// ``WebhookSender`` itself makes all delays and retries.
  private static func transport(_ options: WebhookOptions) throws -> TransportOptions {
    try options.route.transport(.sender(timeout: options.timeout.duration))
  }
}

/// Orders in commands about other things: `warm` sends the orders that are due, and the metrics count all orders.
enum DueOrders {
  /// Sends the orders that are due to the webhook that the environment names, and prints nothing.
  ///
  /// The function waits at most one second for an order that is not due, because Slack wants a second between two
  /// messages. It handles Ctrl-C and SIGTERM while it runs. It uses `LARDER_WEBHOOK_URL`, `LARDER_WEBHOOK_PAYLOAD` and
  /// `LARDER_WEBHOOK_SECRET` as `order send` does.
  ///
  /// - Parameter proxy: The value of the command's `--proxy`.
  /// - Returns: The report, its exit status and a sentence for each problem; nil if there is no webhook or nothing to
  ///   send.
  /// - Throws: An error when the file with the orders cannot be used, or when a variable of the webhook is wrong.
  ///   ``CommandFailure/init(_:)`` converts the error.
  static func send(through proxy: String?) throws
    -> (report: SendReport, status: ExitStatus, warnings: [String])?
  {
    guard OutboxOptions.variable("LARDER_WEBHOOK_URL") != nil,
      let outbox = try OutboxOptions.parse([]).existing()
    else { return nil }
    let counts = try outbox.counts()
    guard counts[.queued] + counts[.sending] + counts[.ambiguous] > 0 else { return nil }
    var options = try WebhookOptions.parse([])
    options.wait = DurationArgument(seconds: 1)
    options.route.proxy = proxy
    let webhook = try options.webhook()
    let (report, signal) = try OrderSending(outbox, webhook, options).run()
    return (
      report, ExitStatus(report, signal: signal),
      SendSummary(report, host: webhook.host).warnings
    )
  }

  /// The number of messages about orders in each state of delivery, such as `queued`; nil if nothing was ever ordered.
  ///
  /// - Throws: ``LarderError`` when the outbox cannot be read.
  static func counts() throws -> DeliveryCounts? {
    try OutboxOptions.parse([]).existing()?.counts()
  }
}

/// The result of `order send` or `notify` as text.
struct SendSummary {
  private let report: SendReport
  private let host: String
  private let mail: MessageKind

  init(_ report: SendReport, host: String, mail: MessageKind = .orders) {
    (self.report, self.host, self.mail) = (report, host, mail)
  }

  private var queued: Int { report.counts[.queued] + report.counts[.sending] }

  /// The word for a message: "order" or "notice".
  private var noun: String {
    switch mail {
    case .orders: "order"
    case .notices: "notice"
    }
  }

  /// The command that sends messages of this kind.
  private var command: String {
    switch mail {
    case .orders: "larder order send"
    case .notices: "larder notify"
    }
  }

  /// The counts in one line, such as `hooks.slack.com: 2 delivered, 1 queued`.
  var text: String {
    let counts = Quantities.counts([
      (queued, "queued"), (report.held.count, "held"), (report.dead.count, "dead"),
    ])
    return "\(host): " + (["\(report.delivered.count) delivered"] + counts).joined(separator: ", ")
  }

  /// One sentence for each problem, and for each decision that the user has to make.
  var warnings: [String] {
    var warnings: [String] = []
    for trouble in report.troubles {
      let reason = trouble.delivery.lastError ?? "unsent"
      switch trouble.delivery.state {
      case .dead:
        warnings.append("\(noun) \(trouble.order) is dead: \(reason); \(remedy(trouble.order))")
      case .queued where report.stopped == nil:
        let when = trouble.delivery.due.map { ", next attempt \($0.text)" } ?? ""
        warnings.append("\(noun) \(trouble.order) is not delivered yet: \(reason)\(when)")
      default: break
      }
    }
    warnings += report.held.map { message in
      "\(noun) \(message) may have arrived: there was no clear answer. Check at \(host): "
        + decision(message)
    }
    if let reason = report.stopped {
      warnings.append(
        "the webhook at \(host) accepts no more messages: \(reason); give another URL, or "
          + "\(command) --resume once it accepts them again"
      )
    } else if let reason = report.unreachable {
      warnings.append("the webhook at \(host) cannot be reached: \(reason)")
    } else if mail == .orders, report.wasInterrupted, queued > 0 {
      warnings.append(
        "interrupted: \(Quantities.count(queued, noun)) still queued; \(command) continues"
      )
    } else if report.troubles.isEmpty, let due = report.due {
      warnings.append("the next \(noun) is due \(due.text)")
    }
    return warnings
  }

  /// The remedy for a message that was given up.
  private func remedy(_ message: OrderID) -> String {
    switch mail {
    case .orders: "larder order replay \(message) sends it again"
    case .notices: "larder history prints the changes"
    }
  }

  /// The choices that the user has if it is unknown whether a message arrived.
  private func decision(_ message: OrderID) -> String {
    switch mail {
    case .orders:
      "if it is there, larder order replay --arrived \(message); if not, larder order replay \(message), "
        + "or \(command) --on-ambiguous resend for all"
    case .notices: "if it is not there, \(command) --on-ambiguous resend sends it again"
    }
  }
}
