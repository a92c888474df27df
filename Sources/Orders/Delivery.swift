import FoundationEssentials

/// The delivery state of a message to a webhook, such as ``Order/delivery``.
public struct Delivery: Hashable, Sendable {
  /// The states of a delivery.
  public enum State: String, Sendable, CaseIterable {
    /// The message waits for its next attempt.
    case queued
    /// An attempt is under way, or the process that made it died.
    case sending
    /// The webhook accepted the message.
    case delivered
    /// The message may have arrived, and the user must decide whether to send it again.
    case ambiguous
    /// The message was given up, and is only sent again if the user queues it again.
    case dead
  }

  /// The state of the delivery.
  public package(set) var state = State.queued
  /// The number of all attempts so far.
  public package(set) var attempts = 0
  /// The number of attempts since the message was queued, or queued again by the user; also the position in
  /// ``DeliveryPlan/delays``.
  package var tries = 0
  /// The error code of the last attempt, such as `http-500`; never contains a URL.
  public package(set) var lastError: String?
  /// The time of the next attempt; nil unless the message is queued.
  package var due: OrderTime?

  /// The time of the next attempt; nil unless the message is queued.
  public var nextAttempt: Date? { due.map(Date.init) }

}

extension Delivery {
  /// Makes the state of a new message, which is due at once.
  package init(queuedAt now: OrderTime) {
    self.init(due: now)
  }

  /// The state while an attempt is under way.
  ///
  /// The attempt is counted before the first byte is sent, so that it counts even if the process dies.
  var claimed: Delivery {
    var delivery = self
    delivery.state = .sending
    delivery.attempts += 1
    delivery.tries += 1
    delivery.due = nil
    return delivery
  }

  /// The state of a message that is queued again, from the start of the schedule.
  func revived(at now: OrderTime) -> Delivery {
    var delivery = self
    delivery.state = .queued
    delivery.tries = 0
    delivery.due = now
    return delivery
  }

  /// A copy in the given state, without a further attempt.
  func settled(_ state: State, _ error: String?) -> Delivery {
    var delivery = self
    delivery.state = state
    delivery.lastError = error
    delivery.due = nil
    return delivery
  }
}

/// The policy for a message that may have arrived although no answer came.
package enum AmbiguityPolicy: String, Sendable, CaseIterable {
  /// Hold the message, as `ambiguous`, until the user decides, so that no message is ever shown twice.
  case hold
  /// Send the message again with the same id, by which the receiver recognizes the repetition.
  case resend
}

/// Decides the state of a message after an attempt: retry after a growing delay, hold, or give up.
package struct DeliveryPlan: Sendable {
  /// The delays in seconds after the first failure, the second and so on: 75 hours in all.
  ///
  /// These are the delays that Standard Webhooks 1.0 recommends; the first retry is immediate.
  package static let delays: [Int64] = [
    0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600,
  ]
  /// The random variation of each delay, ±20 %, so that many messages are not retried at the same time.
  static let jitter = 0.2
  /// The longest `Retry-After` to obey, in seconds.
  static let longestRetryAfter: Int64 = 24 * 3600

  /// The policy for a message that may have arrived.
  package let policy: AmbiguityPolicy

  /// Makes a plan.
  package init(_ policy: AmbiguityPolicy) {
    self.policy = policy
  }

  /// The state after an attempt.
  ///
  /// - Parameters:
  ///   - delivery: The state during the attempt.
  ///   - outcome: The outcome of the attempt.
  ///   - now: The present moment.
  ///   - random: A random number in 0..<1.
  /// - Returns: The new state.
  package func next(
    _ delivery: Delivery,
    after outcome: AttemptOutcome,
    at now: OrderTime,
    random: Double
  ) -> Delivery {
    switch outcome {
    case .delivered:
      return delivery.settled(.delivered, nil)
    case .refused(let reason):
      return delivery.settled(.dead, reason)
    case .stopped(let reason):
      return waiting(delivery, reason, at: now)
    case .unsent:
      return waiting(delivery, delivery.lastError, at: now)
    case .unknown(let reason, _) where policy == .hold:
      return delivery.settled(.ambiguous, reason)
    case .unknown(let reason, let retryAfter):
      let failure = AttemptOutcome.Failure(reason, retryAfter: retryAfter)
      return repeated(delivery, failure, at: now, random)
    case .failed(let failure):
      return repeated(delivery, failure, at: now, random)
    }
  }

  /// The longest delay between two attempts by this plan, in milliseconds.
  static let longestWait = Int64((Double(delays.max() ?? 0) * 1000 * (1 + jitter)).rounded(.up))

  /// The due time of a queued message, corrected if the clock was wrong when it was queued.
  ///
  /// - Parameters:
  ///   - delivery: The state of the message, which is queued.
  ///   - attempted: The end of its last attempt; nil before the first.
  ///   - now: The present moment.
  /// - Returns: `now` if there was no attempt since the message was queued or replayed. If the last attempt is in the
  ///   future, the clock has been set back, and the intended delay begins at `now`. No delay is longer than
  ///   ``longestWait``.
  static func due(_ delivery: Delivery, attempted: OrderTime?, at now: OrderTime) -> OrderTime {
    guard delivery.tries > 0, let next = delivery.due else { return now }
    guard let attempted else { return min(next, now) }
    return min(attempted, now) + min(max(next - attempted, 0), longestWait)
  }

  /// Queues the message again without counting the attempt, because the message did not cause the failure.
  private func waiting(_ delivery: Delivery, _ reason: String?, at now: OrderTime) -> Delivery {
    var delivery = delivery
    delivery.state = .queued
    delivery.tries -= 1
    delivery.lastError = reason
    delivery.due = now
    return delivery
  }

  private func repeated(
    _ delivery: Delivery,
    _ failure: AttemptOutcome.Failure,
    at now: OrderTime,
    _ random: Double
  ) -> Delivery {
    let index = max(0, delivery.tries - 1)
    guard index < Self.delays.count else { return delivery.settled(.dead, failure.reason) }
    let factor = 1 + Self.jitter * (2 * random - 1)
    let planned = Int64((Double(Self.delays[index]) * 1000 * factor).rounded())
    let asked = min(max(failure.retryAfter ?? 0, 0), Self.longestRetryAfter) * 1000
    var delivery = delivery
    delivery.state = .queued
    delivery.lastError = failure.reason
    delivery.due = now + max(planned, asked)
    return delivery
  }
}
