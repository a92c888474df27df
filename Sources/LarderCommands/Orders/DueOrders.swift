import Orders

/// Orders as other commands meet them: `warm` sends what is due, and its metrics count.
enum DueOrders {
  /// Sends what is due to the environment's webhook, and says nothing.
  ///
  /// Waits for no order that is not due, but keeps Slack's distance between two. Handles Ctrl-C and
  /// SIGTERM while it runs. The webhook is `LARDER_WEBHOOK_URL` with `LARDER_WEBHOOK_PAYLOAD` and
  /// `LARDER_WEBHOOK_SECRET`, as `order send` has them.
  ///
  /// - Parameter proxy: the proxy that the command was given.
  /// - Returns: What was done and what is left, with the status it means and a sentence for each
  ///   thing that is wrong; nil without a webhook, or when nothing was ever ordered.
  /// - Throws: What ``CommandFailure/init(_:)`` knows: the outbox cannot be used, or the webhook's
  ///   variables are wrong.
  static func send(through proxy: ProxyOptions) throws
    -> (report: CourierReport, status: ExitStatus, warnings: [String])?
  {
    guard OutboxOptions.variable("LARDER_WEBHOOK_URL") != nil,
      let outbox = try OutboxOptions.parse([]).existing()
    else { return nil }
    let counts = try outbox.counts()
    guard counts[.queued] + counts[.sending] + counts[.ambiguous] > 0 else { return nil }
    var options = try WebhookOptions.parse([])
    options.wait = DurationArgument(seconds: 1)
    options.proxy = proxy
    let webhook = try options.webhook()
    let (report, signal) = try OrderSending(outbox, webhook, options).run()
    return (
      report, ExitStatus(report, signal: signal),
      CourierSummary(report, host: webhook.host).warnings
    )
  }

  /// How many messages about orders are in each state of delivery; nil when nothing was ever ordered.
  ///
  /// - Throws: ``OrdersError`` when the outbox cannot be read.
  static func counts() throws -> DeliveryCounts? {
    try OutboxOptions.parse([]).existing()?.counts()
  }
}
