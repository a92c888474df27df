import Base
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Transport

/// Takes messages about orders, or notices, from the outbox to a webhook: at least once, and honest about it.
///
/// Every message is `sending` on disk before its first byte leaves. Any number of senders may run
/// at once, in any number of processes: each attempt is made under the ``WebhookLock``.
package final class WebhookSender: Sendable {
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

  /// After this number of attempts in a row without a connection, the receiver counts as absent.
  private static let mostUnreached = 3
  /// The pause between attempts to take another sender's lock, in milliseconds.
  private static let lockPause: Int64 = 15

  private let outbox: Outbox
  private let webhook: Webhook
  private let mail: MessageKind
  private let plan: DeliveryPlan
  private let limits: Limits
  private let transport: any Fetching
  private let clock: any SenderClock
  private let random: @Sendable () -> Double
  private let isStopped = Atomic(false)

  /// Makes a sender for one run.
  ///
  /// - Parameters:
  ///   - outbox: where messages come from.
  ///   - webhook: where they go.
  ///   - mail: which messages.
  ///   - policy: the policy for attempts that may have arrived.
  ///   - limits: how far to go.
  ///   - transport: the transport; it must neither repeat nor redirect a POST.
  ///   - clock: the time.
  ///   - random: chance, in 0..<1, for the jitter.
  package init(
    _ outbox: Outbox,
    to webhook: Webhook,
    mail: MessageKind = .orders,
    policy: AmbiguityPolicy,
    limits: Limits = Limits(),
    transport: any Fetching,
    clock: any SenderClock,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.outbox = outbox
    self.webhook = webhook
    self.mail = mail
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

  /// Sends the messages that are due, and those due soon, and blocks meanwhile.
  ///
  /// - Parameter progress: called after each attempt with the counts so far.
  /// - Returns: The counts, and the remaining orders.
  /// - Throws: ``LarderError`` when the outbox cannot be written; no message is sent without it.
  package func run(
    progress: (SendReport) -> Void = { _ in }
  ) throws(LarderError) -> SendReport {
    var report = SendReport()
    var attempts = 0
    var unreached = 0
    loop: while !isStopped.load(ordering: .sequentiallyConsistent), attempts < limits.attempts {
      guard let lock = try WebhookLock(outbox.path) else {
        clock.wait(until: clock.now() + Self.lockPause)
        continue
      }
      let claim = try outbox.claim(webhook, mail, plan, at: clock.now(), random: random())
      switch claim {
      case .attempt(let message, let delivery):
        attempts += 1
        let outcome = message.outcome(attempt(message))
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
        report.note(message.subject, now)
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
        if limits.until == message.subject, now.due.map({ $0 > clock.now() }) ?? true {
          break loop
        }
      case .wait(let moment):
        if moment - clock.now() > limits.patience {
          report.due = moment
          break loop
        }
        // Other processes may meanwhile send messages for other webhooks.
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
    switch mail {
    case .orders: try outbox.sum(&report)
    case .notices: try outbox.sumNotices(&report, of: webhook)
    }
    return report
  }

  /// Ends a lock's life here and not at the end of its scope.
  private func drop(_ lock: consuming WebhookLock) {}

  /// Sends one message and waits for its outcome.
  private func attempt(_ message: any Outgoing) -> AttemptOutcome {
    guard let request = message.request(to: webhook, at: clock.now()) else {
      return .refused("unwritable")
    }
    let reply = ReplyBuffer()
    let result = transport.result(of: request, into: reply)
    return AttemptOutcome.judge(result, reply: reply.bytes, payload: webhook.payload)
  }
}

/// The right to make one attempt, held by one process at a time.
///
/// An exclusive `flock` on a file beside the outbox, which the kernel drops when the process ends,
/// however it ends. Its holder knows that no other attempt is under way: a message that is
/// `sending` then belongs to a sender that died. Placing an order needs no lock.
final class WebhookLock {
  private let descriptor: Int32

  /// Takes the lock; nil when another process has it.
  ///
  /// - Parameter outbox: the outbox's path.
  /// - Throws: ``LarderError`` when the system refuses.
  init?(_ outbox: String) throws(LarderError) {
    let path = outbox + ".lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open", path, errno: errno) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      guard code == EWOULDBLOCK else { throw .system("lock", path, errno: code) }
      return nil
    }
    self.descriptor = descriptor
  }

  deinit {
    // The file stays: removing it would let two senders hold two files of one name.
    // Closing is not enough: a child that some other thread has forked holds the lock until it becomes another program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

/// The clock of a sender, and its way to wait.
package protocol SenderClock: Sendable {
  /// The present moment by the wall clock, which runs and machines share.
  func now() -> OrderTime

  /// Blocks until that moment, or until ``WebhookSender/stop()`` is called.
  func wait(until moment: OrderTime)

  /// Ends a wait, present or future.
  func stop()
}

/// The machine's clock.
package final class SystemSenderClock: SenderClock {
  private let stopped = DispatchSemaphore(value: 0)

  /// Makes a clock for one sender.
  package init() {}

  /// The present moment by the wall clock, which may be wrong and may jump.
  package func now() -> OrderTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return OrderTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Sleeps; see ``SenderClock``.
  package func wait(until moment: OrderTime) {
    let left = min(max(moment - now(), 0), 86_400_000)
    if stopped.wait(timeout: .now() + .milliseconds(Int(left))) == .success { stopped.signal() }
  }

  /// Ends every wait from now on.
  package func stop() { stopped.signal() }
}

/// The results of one run of the sender, and the remaining orders.
public struct SendReport: Hashable, Sendable {
  /// A message that was not delivered, and why.
  package struct Trouble: Hashable, Sendable {
    /// The order, or the notice.
    package let order: OrderID
    /// Where its message is now: queued, ambiguous or dead.
    package let delivery: Delivery
  }

  /// Orders whose messages were delivered, in their order; one with two messages is there twice.
  public package(set) var delivered: [OrderID] = []
  /// Messages that this run gave up, or has to try again, the last word of each.
  package var troubles: [Trouble] = []
  /// Orders that need a decision, from this run and those before.
  public package(set) var held: [OrderID] = []
  /// Messages by state afterwards.
  package var counts = DeliveryCounts([:])
  /// Why the webhook takes nothing any more; nil while it does.
  public package(set) var stopped: String?
  /// Why the last attempt reached no server; nil when it did.
  public package(set) var unreachable: String?
  /// When the next message is due, when that is too far away to wait for.
  package var due: OrderTime?
  /// Whether ``WebhookSender/stop()`` ended it.
  package var wasInterrupted = false

  /// The report where nothing was ever ordered.
  package static let nothing = SendReport()

  /// An empty report.
  init() {}

  /// How many messages wait for their next attempt.
  public var queued: Int { counts[.queued] }
  /// When the next message is due, when that is too far away to wait for.
  public var nextDue: Date? { due.map(Date.init) }

  /// Orders whose messages were given up.
  public var dead: [OrderID] {
    troubles.filter { $0.delivery.state == .dead }.map(\.order)
  }

  /// The report as far as it concerns one order.
  package func about(_ order: OrderID) -> SendReport {
    var report = self
    report.delivered = delivered.filter { $0 == order }
    report.troubles = troubles.filter { $0.order == order }
    report.held = held.filter { $0 == order }
    if !report.delivered.isEmpty, report.troubles.isEmpty { report.unreachable = nil }
    return report
  }

  /// Keeps the last word on a message.
  mutating func note(_ order: OrderID, _ delivery: Delivery) {
    troubles.removeAll { $0.order == order }
    if delivery.state == .delivered {
      delivered.append(order)
    } else {
      troubles.append(Trouble(order: order, delivery: delivery))
    }
  }
}

/// Keeps the beginning of a webhook's answer and lets the rest go by.
final class ReplyBuffer: BodySink {
  /// As much as tells any answer of Slack's from any other page.
  private static let limit = 1 << 10

  private let kept = Mutex<[UInt8]>([])

  /// The first bytes that came.
  var bytes: [UInt8] { kept.withLock { $0 } }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    kept.withLock { kept in
      bytes.withUnsafeBytes { kept.append(contentsOf: $0.prefix(Self.limit - kept.count)) }
    }
    return .accept
  }

  func restart() { kept.withLock { $0 = [] } }
}
