import CurlTransport
import Dispatch
import Larder
import Orders
import Transport

/// A courier's run with what a command adds: options, a transport, and signals.
struct OrderSending {
  private let outbox: Outbox
  private let webhook: Orders.Webhook
  private let options: WebhookOptions

  /// How long an attempt may continue after a signal, so that its answer is not lost.
  private static let grace = DispatchTimeInterval.milliseconds(1000)

  init(_ outbox: Outbox, _ webhook: Orders.Webhook, _ options: WebhookOptions) {
    self.outbox = outbox
    self.webhook = webhook
    self.options = options
  }

  /// Sends what is due until it is done, a signal comes or the limits say so.
  ///
  /// - Parameters:
  ///   - limits: how far to go; `patience` is taken from the options.
  ///   - resuming: whether a stopped webhook starts again.
  ///   - display: where it is shown how far this is.
  /// - Returns: What was done, and the signal that ended it, if one did.
  /// - Throws: ``OrdersError`` when the outbox cannot be written, ``TransferFailure`` without memory.
  func run(
    _ limits: Courier.Limits = Courier.Limits(),
    resuming: Bool = false,
    display: CountDisplay? = nil
  ) throws -> (report: CourierReport, signal: Int32?) {
    var limits = limits
    limits.patience = Int64(options.wait.seconds * 1000)
    let transport = try CurlTransport(try Self.transport(options))
    defer { transport.shutdown() }
    let courier = Courier(
      outbox,
      to: webhook,
      policy: options.onAmbiguous ?? webhook.payload.defaultPolicy,
      limits: limits,
      transport: transport,
      clock: SystemCourierClock()
    )
    let signals = Signals { _ in
      courier.end(within: Self.grace, transport)
    }
    if resuming { try outbox.resume(webhook) }
    let counts = try outbox.counts()
    let total = counts[.queued] + counts[.sending]
    display?.show(0, of: total)
    let report = try courier.run { report in
      let failed = report.troubles.count
      let done = report.delivered.count + failed
      display?.show(done, of: max(total, done), failed: failed)
    }
    return (report, signals.signal)
  }

  /// A transport that leaves all waiting and repeating to the courier.
  private static func transport(_ options: WebhookOptions) throws -> TransportOptions {
    var transport = TransportOptions.courier(timeout: options.timeout.duration)
    transport.caFile = options.cacert?.path
    transport.proxy = try options.proxy.route()
    transport.userAgent = "larder/\(LarderCommand.version)"
    return transport
  }
}
