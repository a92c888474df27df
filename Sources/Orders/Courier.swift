import Dispatch
import Synchronization
import Transport

/// Takes messages from the outbox to a webhook: at least once, and honest about it.
///
/// Every message is `sending` on disk before its first byte leaves. Any number of couriers may run at
/// once, in any number of processes: each attempt is made under the ``CourierLock``.
package final class Courier: Sendable {
  /// How far one run goes.
  package struct Limits: Sendable {
    /// The most messages to attempt, repetitions included.
    package var attempts = Int.max
    /// How long to wait for a message that is not due yet, in milliseconds.
    package var patience: Int64 = 10_000
    /// End once this order's message has been attempted.
    package var until: OrderID?

    /// Limits that let everything through that is due now or in ten seconds.
    package init() {}
  }

  /// After so many attempts in a row that reached nobody, nobody is there.
  private static let mostUnreached = 3
  /// How often another courier's lock is tried again, in milliseconds.
  private static let lockPause: Int64 = 15

  private let outbox: Outbox
  private let webhook: Webhook
  private let plan: DeliveryPlan
  private let limits: Limits
  private let transport: any Fetching
  private let clock: any CourierClock
  private let random: @Sendable () -> Double
  private let isStopped = Atomic(false)

  /// Makes a courier for one run.
  ///
  /// - Parameters:
  ///   - outbox: where messages come from.
  ///   - webhook: where they go.
  ///   - policy: what becomes of attempts that may have arrived.
  ///   - limits: how far to go.
  ///   - transport: what sends; it must neither repeat nor redirect a POST.
  ///   - clock: the time.
  ///   - random: chance, in 0..<1, for the jitter.
  package init(
    _ outbox: Outbox,
    to webhook: Webhook,
    policy: AmbiguityPolicy,
    limits: Limits = Limits(),
    transport: any Fetching,
    clock: any CourierClock,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.outbox = outbox
    self.webhook = webhook
    plan = DeliveryPlan(policy)
    self.limits = limits
    self.transport = transport
    self.clock = clock
    self.random = random
  }

  /// Takes no new message, and waits for the one on its way; from any thread.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    clock.stop()
  }

  /// Sends what is due, and what becomes due soon, and blocks meanwhile.
  ///
  /// - Parameter progress: called after each attempt with what was done so far.
  /// - Returns: What was done and what is left.
  /// - Throws: ``OrdersError`` when the outbox cannot be written; no message is sent without it.
  package func run(
    progress: (CourierReport) -> Void = { _ in }
  ) throws(OrdersError) -> CourierReport {
    var report = CourierReport()
    var attempts = 0
    var unreached = 0
    loop: while !isStopped.load(ordering: .sequentiallyConsistent), attempts < limits.attempts {
      guard let lock = try CourierLock(outbox.path) else {
        clock.wait(until: clock.now() + Self.lockPause)
        continue
      }
      let claim = try outbox.claim(webhook, plan, at: clock.now(), random: random())
      switch claim {
      case .attempt(let message, let delivery):
        attempts += 1
        let outcome = attempt(message)
        let now = try outbox.record(
          outcome,
          message,
          delivery,
          webhook,
          plan,
          at: clock.now(),
          random: random()
        )
        withExtendedLifetime(lock) {}
        report.note(message.order.id, now)
        progress(report)
        if case .failed(let failure) = outcome, failure.isUnreachable {
          unreached += 1
          report.unreachable = failure.reason
          if unreached == Self.mostUnreached { break loop }
        } else {
          unreached = 0
          report.unreachable = nil
        }
        if case .stopped(let reason) = outcome {
          report.stopped = reason
          break loop
        }
        if limits.until == message.order.id, now.nextAttempt.map({ $0 > clock.now() }) ?? true {
          break loop
        }
      case .wait(let moment):
        if moment - clock.now() > limits.patience {
          report.nextDue = moment
          break loop
        }
        // Others may send meanwhile what is not for this webhook.
        drop(lock)
        clock.wait(until: moment)
      case .stopped(let reason):
        report.stopped = reason
        break loop
      case .idle:
        break loop
      }
    }
    report.wasInterrupted = isStopped.load(ordering: .sequentiallyConsistent)
    try outbox.sum(&report)
    return report
  }

  /// Ends a lock's life here and not at the end of its scope.
  private func drop(_ lock: consuming CourierLock) {}

  /// Sends one message and waits for what becomes of it.
  private func attempt(_ message: OrderMessage) -> AttemptOutcome {
    guard let request = message.request(to: webhook, at: clock.now()) else {
      return .refused("unwritable")
    }
    let reply = ReplyBuffer()
    let result = transport.result(of: request, into: reply)
    return AttemptOutcome.judge(result, reply: reply.bytes, payload: webhook.payload)
  }
}
