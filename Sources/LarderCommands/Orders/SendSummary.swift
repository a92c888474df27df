import CurlTransport
import Larder
import Orders

extension WebhookOptions {
  /// Sends messages until none is due, a signal comes or a limit is reached.
  ///
  /// A message is due if it waits to be sent, and if the delay before its next attempt is over.
  ///
  /// - Parameters:
  ///   - mail: The kind of messages.
  ///   - outbox: The outbox with the messages.
  ///   - webhook: The webhook, as these options describe it.
  ///   - limits: The limits of the run. The option `--wait` replaces `patience`.
  ///   - resuming: Whether to start a stopped webhook again.
  ///   - display: Shows the progress. Pass nil to show none.
  /// - Returns: The report, and the signal that ended the run, if any.
  /// - Throws: ``LarderError`` when the file with the orders cannot be written, ``TransferFailure`` when memory runs
  ///   out.
  func send(
    _ mail: MessageKind = .orders,
    of outbox: Outbox,
    to webhook: Orders.Webhook,
    _ limits: WebhookSender.Limits = WebhookSender.Limits(),
    resuming: Bool = false,
    display: CountDisplay? = nil
  ) throws -> SendSummary {
    var limits = limits
    limits.patience = Int64(wait.seconds * 1000)
    // The sender itself makes all delays and retries.
    let settings = try route.transport(.sender(timeout: timeout.duration))
    let transport = try CurlTransport(settings)
    defer { transport.shutdown() }
    let sender = WebhookSender(
      outbox,
      to: webhook,
      mail: mail,
      policy: onAmbiguous ?? webhook.payload.defaultPolicy,
      limits: limits,
      transport: transport,
      clock: SystemSenderClock()
    )
    // After a signal, the attempt that is under way may continue for a second, so that the webhook's answer is not lost.
    let signals = Signals { sender.end(within: .seconds(1), transport) }
    if resuming { try outbox.resume(webhook) }
    let total = try outbox.counts().waiting
    display?.show(0, of: total)
    let report = try sender.run { report in
      let failed = report.troubles.count
      let done = report.delivered.count + failed
      display?.show(done, of: max(total, done), failed: failed)
    }
    return SendSummary(report: report, signal: signals.signal, host: webhook.host, mail: mail)
  }

  /// Sends the orders that are due to the webhook that the environment names, and prints nothing.
  ///
  /// The function waits at most one second for an order that is not due, because Slack wants a second between two
  /// messages. It handles Ctrl-C and SIGTERM while it runs. It uses `LARDER_WEBHOOK_URL`, `LARDER_WEBHOOK_PAYLOAD` and
  /// `LARDER_WEBHOOK_SECRET` as `order send` does.
  ///
  /// - Parameter proxy: The value of the command's `--proxy`.
  /// - Returns: The summary; nil if there is no webhook or nothing to send.
  /// - Throws: An error when the file with the orders cannot be used, or when a variable of the webhook is wrong.
  ///   ``CommandFailure/init(_:)`` converts the error.
  static func sendDueOrders(through proxy: String?) throws -> SendSummary? {
    guard OutboxOptions.variable("LARDER_WEBHOOK_URL") != nil,
      let outbox = try OutboxOptions.ofEnvironment()
    else { return nil }
    let counts = try outbox.counts()
    guard counts.waiting + counts[.ambiguous, default: 0] > 0 else { return nil }
    var options = try WebhookOptions.parse([])
    options.wait = DurationArgument(seconds: 1)
    options.route.proxy = proxy
    var summary = try options.send(of: outbox, to: options.webhook())
    // The other sender sends these orders, or a later run does.
    if summary.report.isBlocked { (summary.report.due, summary.report.isBlocked) = (nil, false) }
    return summary
  }
}

/// The result of a run that sent orders or notices.
struct SendSummary {
  var report: SendReport
  /// The signal that ended the run, if any.
  let signal: Int32?
  /// The host of the webhook.
  let host: String
  let mail: MessageKind

  var status: ExitStatus { ExitStatus(report, signal: signal) }

  /// The counts in one line, such as `hooks.slack.com: 2 delivered, 1 queued`.
  var text: String {
    let counts = Quantities.counts([
      (report.counts.waiting, "queued"), (report.held.count, "held"), (report.dead.count, "dead"),
    ])
    return "\(host): " + (["\(report.delivered.count) delivered"] + counts).joined(separator: ", ")
  }

  /// Prints one sentence on stderr for each problem, and for each decision that the user has to make.
  func warn(_ output: OutputOptions) {
    for warning in warnings { Log(output).warning(warning) }
  }

  private var warnings: [String] {
    let (noun, command) =
      mail == .orders ? ("order", "larder order send") : ("notice", "larder notify")
    var warnings: [String] = []
    for trouble in report.troubles {
      let id = trouble.order
      let reason = trouble.delivery.lastError ?? "unsent"
      switch trouble.delivery.state {
      case .dead where reason.hasPrefix("cancelled"):
        let arrival = reason == "cancelled" ? "" : "may have arrived, "
        warnings.append(
          "\(noun) \(id) was cancelled while it was sent, \(arrival)and is not sent again"
        )
      case .dead:
        let remedy =
          mail == .orders
          ? "larder order replay \(id) sends it again" : "larder history prints the changes"
        warnings.append("\(noun) \(id) is dead: \(reason); \(remedy)")
      case .queued where report.stopped == nil:
        let when = trouble.delivery.due.map { ", next attempt \($0.text)" } ?? ""
        warnings.append("\(noun) \(id) is not delivered yet: \(reason)\(when)")
      default: break
      }
    }
    let resend = "\(command) --on-ambiguous resend"
    warnings += report.held.map { id in
      let choice =
        mail == .orders
        ? "if it is there, larder order replay --arrived \(id); if not, larder order replay \(id), or \(resend) for all"
        : "if it is not there, \(resend) sends it again"
      return
        "\(noun) \(id) may have arrived: there was no clear answer. Check at \(host): \(choice)"
    }
    if let reason = report.stopped {
      warnings.append(
        "the webhook at \(host) accepts no more messages: \(reason); give another URL, or "
          + "\(command) --resume once it accepts them again"
      )
    } else if let reason = report.unreachable {
      warnings.append("the webhook at \(host) cannot be reached: \(reason)")
    } else if mail == .orders, report.wasInterrupted, report.counts.waiting > 0 {
      warnings.append(
        "interrupted: \(Quantities.count(report.counts.waiting, noun)) still queued; \(command) continues"
      )
    } else if report.troubles.isEmpty, let due = report.due {
      warnings.append(
        report.isBlocked
          ? "another process is sending; run \(command) again later"
          : "the next \(noun) is due \(due.text)"
      )
    }
    return warnings
  }
}
