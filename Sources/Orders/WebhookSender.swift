import Base
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Transport

/// Sends the outbox's messages about orders, or its notices, to a webhook.
///
/// Delivery is at least once; ``AmbiguityPolicy`` decides about messages that may have arrived.
///
/// A message is `sending` on disk before its first byte is sent. Any number of senders may run at the same time, in any
/// number of processes, because each attempt is made under the ``WebhookLock``.
package final class WebhookSender: Sendable {
  /// The limits of one run.
  package struct Limits: Sendable {
    /// The maximum number of attempts, repetitions included.
    package var attempts = Int.max
    /// How long to wait for a message that is not due yet, in milliseconds.
    package var patience: Int64 = 10_000
    /// End the run once this order's message has been attempted.
    package var until: OrderID?

    /// Limits that allow all messages that are due now or within ten seconds.
    package init() {}
  }

  /// The number of successive attempts without a connection after which the run ends.
  private static let mostUnreached = 3
  /// The pause between attempts to take the lock while another sender holds it, in milliseconds.
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
  ///   - outbox: The outbox with the messages.
  ///   - webhook: The webhook to send to.
  ///   - mail: The kind of messages to send.
  ///   - policy: The policy for messages that may have arrived.
  ///   - limits: The limits of the run.
  ///   - transport: The transport; it must neither repeat a POST nor follow redirects.
  ///   - clock: The clock.
  ///   - random: Returns random numbers in 0..<1, for the jitter.
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

  /// Ends the run after the present attempt; thread-safe.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    clock.stop()
  }

  /// Sends the messages that are due now or soon; blocks.
  ///
  /// - Parameter progress: Called after each attempt with the report so far.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` when the outbox cannot be written; in that case nothing more is sent.
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
        // While this sender waits, other processes may send messages to other webhooks.
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

  /// Releases a lock here instead of at the end of its scope.
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

/// The lock for one attempt, held by one process at a time.
///
/// The lock is an exclusive `flock` on a file beside the outbox. The kernel releases it when the process ends, even
/// after a crash. While the lock is held, no other attempt is under way, so another message in the state `sending`
/// belongs to a sender that died. Placing an order needs no lock.
final class WebhookLock {
  private let descriptor: Int32

  /// Takes the lock; nil when another process has it.
  ///
  /// - Parameter outbox: The path of the outbox.
  /// - Throws: ``LarderError`` when a system call fails.
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
    // The file stays: after a removal, two senders could lock two different files with the same name. Closing the file
    // would not release the lock at once: a child process that another thread forked holds it until it calls `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

/// The clock of a sender, which can also wait; replaced in tests.
package protocol SenderClock: Sendable {
  /// The present moment by the wall clock, because times are stored across runs.
  func now() -> OrderTime

  /// Blocks until a moment, or until ``WebhookSender/stop()`` is called.
  func wait(until moment: OrderTime)

  /// Ends the present wait and all later waits.
  func stop()
}

/// The clock of the machine.
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

  /// Ends the present wait and all later waits.
  package func stop() { stopped.signal() }
}

/// The results of a sender's run, and the number of remaining messages; `OrderBook.send` returns this report.
public struct SendReport: Hashable, Sendable {
  /// A message that was not delivered.
  package struct Trouble: Hashable, Sendable {
    /// The id of the order, or of the notice.
    package let order: OrderID
    /// The state of its delivery: queued, ambiguous or dead.
    package let delivery: Delivery
  }

  /// The orders whose messages were delivered, in the order of delivery; an order with two messages occurs twice.
  public package(set) var delivered: [OrderID] = []
  /// The last state of each message that this run attempted but did not deliver.
  package var troubles: [Trouble] = []
  /// The orders with held messages, which need the user's decision, from this and earlier runs.
  public package(set) var held: [OrderID] = []
  /// The number of messages in each state after the run.
  package var counts = DeliveryCounts([:])
  /// The reason why the webhook no longer accepts messages; nil if it accepts them.
  public package(set) var stopped: String?
  /// The reason why the last attempt could not connect; nil if it connected.
  public package(set) var unreachable: String?
  /// The due time of the next message, if this run did not wait that long.
  package var due: OrderTime?
  /// Whether ``WebhookSender/stop()`` ended the run.
  package var wasInterrupted = false

  /// The report for an outbox that does not exist.
  package static let nothing = SendReport()

  /// An empty report.
  init() {}

  /// The number of messages that wait for their next attempt.
  public var queued: Int { counts[.queued] }
  /// The due time of the next message, if this run did not wait that long.
  public var nextDue: Date? { due.map(Date.init) }

  /// The orders whose messages were given up in this run.
  public var dead: [OrderID] {
    troubles.filter { $0.delivery.state == .dead }.map(\.order)
  }

  /// The part of the report about one order.
  package func about(_ order: OrderID) -> SendReport {
    var report = self
    report.delivered = delivered.filter { $0 == order }
    report.troubles = troubles.filter { $0.order == order }
    report.held = held.filter { $0 == order }
    if !report.delivered.isEmpty, report.troubles.isEmpty { report.unreachable = nil }
    return report
  }

  /// Records the state of a message after an attempt.
  mutating func note(_ order: OrderID, _ delivery: Delivery) {
    troubles.removeAll { $0.order == order }
    if delivery.state == .delivered {
      delivered.append(order)
    } else {
      troubles.append(Trouble(order: order, delivery: delivery))
    }
  }
}

/// Collects the beginning of a webhook's reply, and ignores the rest.
final class ReplyBuffer: BodySink {
  /// The maximum number of bytes to keep, enough to recognize any reply of Slack.
  private static let limit = 1 << 10

  private let kept = Mutex<[UInt8]>([])

  /// The first bytes of the reply.
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
