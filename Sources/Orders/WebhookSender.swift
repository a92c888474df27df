import Base
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Transport

/// Sends queued messages about orders, or queued notices, to a webhook.
///
/// A message can be sent more than once. ``AmbiguityPolicy`` decides whether a message that may have arrived is sent
/// again.
///
/// The state `sending` is stored on disk before the first byte of a message is sent. Any number of senders in any
/// number of processes can run at the same time, because each attempt needs the ``WebhookLock``.
package final class WebhookSender: Sendable {
  /// The limits of one run.
  package struct Limits: Sendable {
    /// The maximum number of attempts.
    package var attempts = Int.max
    /// The maximum time in milliseconds to wait for the next message.
    ///
    /// If the next message can be sent only later, the run ends.
    package var patience: Int64 = 10_000
    /// If this is the id of an order, the run ends after an attempt to send a message about that order.
    package var until: OrderID?

    /// Makes limits that allow all messages that can be sent now or within ten seconds.
    package init() {}
  }

  /// The run ends after this number of attempts in a row without a connection.
  private static let mostUnreached = 3
  /// The number of bytes of a response that are read.
  ///
  /// All responses of Slack are shorter.
  private static let mostReply = 1 << 10
  /// The time in milliseconds after which a sender tries again to take the lock from another sender.
  private static let lockPause: Int64 = 15
  /// The time in milliseconds for which a sender at least waits for another one that makes an attempt.
  private static let lockPatience: Int64 = 1000

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
  ///   - mail: The kind of the messages to send.
  ///   - policy: The policy for messages that may have arrived.
  ///   - limits: The limits of the run.
  ///   - transport: The transport. It must not repeat a POST, and must not follow redirects.
  ///   - clock: The clock.
  ///   - random: Returns random numbers from 0 up to but not including 1, which vary the delays.
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
    plan = DeliveryPlan(policy: policy)
    self.limits = limits
    self.transport = transport
    self.clock = clock
    self.random = random
  }

  /// Ends the run after the present attempt.
  ///
  /// Any thread can call this.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    clock.stop()
  }

  /// Sends messages until no message can be sent now or soon.
  ///
  /// This function blocks.
  ///
  /// - Parameter progress: Called after each attempt with the report so far.
  /// - Returns: The report.
  /// - Throws: ``LarderError`` if the outbox cannot be written. Then no further message is sent.
  package func run(
    progress: (SendReport) -> Void = { _ in }
  ) throws(LarderError) -> SendReport {
    // A notice that is held since an earlier run was reported then.
    let before = mail == .notices ? try outbox.sums(mail, webhook).held : []
    var report = SendReport()
    var attempts = 0
    var unreached = 0
    var blocked: OrderTime?
    loop: while !isStopped.load(ordering: .sequentiallyConsistent), attempts < limits.attempts {
      guard let lock = try WebhookLock(outbox.path) else {
        let now = clock.now()
        if blocked == nil, mail == .notices || limits.until == nil {
          // The other sender may have everything under way that there is.
          if try outbox.sums(mail, webhook).counts.waiting == 0 { break loop }
        }
        if now - (blocked ?? now) > max(limits.patience, Self.lockPatience) {
          (report.due, report.isBlocked) = (now, true)
          break loop
        }
        blocked = blocked ?? now
        clock.wait(until: now + Self.lockPause)
        continue
      }
      blocked = nil
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
        // While this sender waits, another process can send a message to another webhook.
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
    let sums = try outbox.sums(mail, webhook)
    report.counts = sums.counts
    report.held = sums.held.filter { !before.contains($0) }
    if report.isBlocked, report.counts.waiting == 0 { report.due = nil }
    return report
  }

  /// Releases a lock before the end of its scope.
  private func drop(_ lock: consuming WebhookLock) {}

  /// Sends one message and waits for its outcome.
  private func attempt(_ message: OutgoingMessage) -> AttemptOutcome {
    guard let request = message.request(to: webhook, at: clock.now()) else {
      return .refused("unwritable")
    }
    let reply = MemorySink(most: Self.mostReply)
    let result = transport.result(of: request, into: reply)
    return AttemptOutcome.judge(result, reply: reply.bytes, payload: webhook.payload)
  }
}

/// The lock that a sender must have during an attempt.
///
/// Only one sender can have it at a time.
///
/// It is an exclusive `flock` on a file beside the outbox. The kernel releases it when the process ends, even after a
/// crash. So if a sender with the lock finds a message in the state `sending`, the process that sent it has crashed. An
/// order can be placed without the lock.
final class WebhookLock {
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// The result is nil if another sender has it.
  ///
  /// - Parameter outbox: The path of the outbox.
  /// - Throws: ``LarderError`` if a system call fails.
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
    // The file is not removed, because two senders could then lock two different files with the same name. Closing the
    // file is not sufficient to release the lock. If another thread has forked a child process, the child has the lock
    // too, until it calls `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

/// The clock of a sender, which can also wait.
///
/// Tests use another clock than the system's.
package protocol SenderClock: Sendable {
  /// The current time.
  ///
  /// It is comparable with times of earlier processes.
  func now() -> OrderTime

  /// Blocks until the given time, or until ``stop()`` is called.
  func wait(until moment: OrderTime)

  /// Ends the present call of `wait` and all later calls.
  func stop()
}

/// The clock of the system.
package final class SystemSenderClock: SenderClock {
  private let stopped = DispatchSemaphore(value: 0)
  private let time: @Sendable () -> OrderTime

  /// Makes a clock for one sender.
  ///
  /// - Parameter time: Returns the current time.
  package init(time: @escaping @Sendable () -> OrderTime = { OrderTime(Date()) }) {
    self.time = time
  }

  /// The current time.
  package func now() -> OrderTime { time() }

  /// Sleeps until the given time, but at most for a day.
  ///
  /// See ``SenderClock``.
  package func wait(until moment: OrderTime) {
    let left = min(max(moment - now(), 0), 86_400_000)
    if stopped.wait(timeout: .now() + .milliseconds(Int(left))) == .success { stopped.signal() }
  }

  /// Ends the present call of `wait` and all later calls.
  package func stop() { stopped.signal() }
}

/// The report about one run over the waiting messages.
///
/// `OrderBook.send` returns it.
public struct SendReport: Hashable, Sendable {
  /// A message that was not delivered.
  package struct Trouble: Hashable, Sendable {
    /// The id of the order, or of the notice.
    package let order: OrderID
    /// The delivery of the message.
    ///
    /// Its state is `queued`, `ambiguous` or `dead`.
    package let delivery: Delivery
  }

  /// The orders whose messages were delivered.
  ///
  /// If two messages about an order were delivered, the order occurs twice.
  public package(set) var delivered: [OrderID] = []
  /// The messages that this run could not deliver.
  package var troubles: [Trouble] = []
  /// The orders with messages in the state `ambiguous`, from this run and from earlier runs.
  ///
  /// The user must decide about them.
  public package(set) var held: [OrderID] = []
  /// The number of messages in each state after the run.
  package var counts: DeliveryCounts = [:]
  /// The reason for which the webhook no longer accepts messages.
  ///
  /// Nil if it accepts them.
  public package(set) var stopped: String?
  /// The reason for which the last attempt had no connection.
  ///
  /// Nil if it had one.
  public package(set) var unreachable: String?
  /// The time of the next message, if the run ended because it would have to wait too long.
  package var due: OrderTime?
  /// Whether the run ended because another process was sending.
  package var isBlocked = false
  /// Whether ``WebhookSender/stop()`` ended the run.
  package var wasInterrupted = false

  /// Makes an empty report, which is also that of a run without an outbox.
  package init() {}

  /// The number of messages that wait for their next attempt.
  public var queued: Int { counts[.queued, default: 0] }
  /// The time of the next message, if the run ended because it would have to wait too long.
  public var nextDue: Date? { due.map(Date.init) }

  /// The orders with messages that larder has given up in this run.
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

  /// Adds a message after an attempt.
  mutating func note(_ order: OrderID, _ delivery: Delivery) {
    troubles.removeAll { $0.order == order }
    if delivery.state == .delivered {
      delivered.append(order)
    } else {
      troubles.append(Trouble(order: order, delivery: delivery))
    }
  }
}
