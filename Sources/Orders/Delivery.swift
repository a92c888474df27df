import FoundationEssentials

/// How far a message is on its way to the webhook.
public struct Delivery: Hashable, Sendable {
  /// Where it is.
  public enum State: String, Sendable, CaseIterable {
    /// Waits for its next attempt.
    case queued
    /// An attempt is under way, or ended with the process that made it.
    case sending
    /// The webhook took it.
    case delivered
    /// An attempt may have arrived, and the user has to decide whether to repeat it.
    case ambiguous
    /// Is not sent any more, unless it is replayed.
    case dead
  }

  /// Where it is.
  public package(set) var state = State.queued
  /// Attempts so far, since it was placed.
  public package(set) var attempts = 0
  /// Attempts since it was placed or replayed: its place in the schedule.
  package var tries = 0
  /// The error of the last attempt, as a short code; never a URL.
  public package(set) var lastError: String?
  /// When to attempt it next; only while it is queued.
  package var due: OrderTime?

  /// When it is attempted next; nil unless it is queued.
  public var nextAttempt: Date? { due.map(Date.init) }

  /// A message that waits for its first attempt.
  package init(queuedAt now: OrderTime) {
    due = now
  }

  /// A message as the outbox has it.
  init(
    state: State,
    attempts: Int,
    tries: Int,
    lastError: String?,
    due: OrderTime?
  ) {
    self.state = state
    self.attempts = attempts
    self.tries = tries
    self.lastError = lastError
    self.due = due
  }

  /// The same while an attempt is under way.
  ///
  /// Counted before the first byte leaves, so that an attempt that ends with its process counts.
  var claimed: Delivery {
    var delivery = self
    delivery.state = .sending
    delivery.attempts += 1
    delivery.tries += 1
    delivery.due = nil
    return delivery
  }

  /// The same, wanted again from the start of the schedule.
  func revived(at now: OrderTime) -> Delivery {
    var delivery = self
    delivery.state = .queued
    delivery.tries = 0
    delivery.due = now
    return delivery
  }

  /// The same, settled for good.
  func settled(_ state: State, _ error: String?) -> Delivery {
    var delivery = self
    delivery.state = state
    delivery.lastError = error
    delivery.due = nil
    return delivery
  }
}

/// The policy for a message whose attempt may have arrived although no answer was seen.
package enum AmbiguityPolicy: String, Sendable, CaseIterable {
  /// It is kept until the user decides: nothing is ever shown twice.
  case hold
  /// It is sent again under the same id, by which the receiver recognizes the repetition.
  case resend
}

/// Decides the next step after an attempt: a pure function of state, outcome, clock and randomness.
package struct DeliveryPlan: Sendable {
  /// How long to wait after the first failure, the second and so on, in seconds: 75 hours in all.
  ///
  /// The delays that Standard Webhooks 1.0 recommends, the first of them at once.
  package static let delays: [Int64] = [
    0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600,
  ]
  /// How far each delay may be off, either way, so that many do not come back together.
  static let jitter = 0.2
  /// The longest `Retry-After` that is followed, in seconds.
  static let longestRetryAfter: Int64 = 24 * 3600

  /// The policy for an attempt that may have arrived.
  package let policy: AmbiguityPolicy

  /// Makes a plan.
  package init(_ policy: AmbiguityPolicy) {
    self.policy = policy
  }

  /// The state after an attempt.
  ///
  /// - Parameters:
  ///   - delivery: the state while the attempt was under way.
  ///   - outcome: its outcome.
  ///   - now: the moment.
  ///   - random: chance, in 0..<1.
  /// - Returns: The state to keep.
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

  /// The longest time that this plan ever puts between an attempt and the next, in milliseconds.
  static let longestWait = Int64((Double(delays.max() ?? 0) * 1000 * (1 + jitter)).rounded(.up))

  /// The due time of a queued message, even if it was queued under a wrong clock.
  ///
  /// - Parameters:
  ///   - delivery: the message, queued.
  ///   - attempted: when its last attempt ended; nil before the first.
  ///   - now: the moment.
  /// - Returns: `now` when it was not tried since it was placed or wanted again. After an attempt
  ///   that lies ahead of `now`, the clock went back since: the wait that was meant begins at
  ///   `now`. No wait is longer than ``longestWait``.
  static func due(_ delivery: Delivery, attempted: OrderTime?, at now: OrderTime) -> OrderTime {
    guard delivery.tries > 0, let next = delivery.due else { return now }
    guard let attempted else { return min(next, now) }
    return min(attempted, now) + min(max(next - attempted, 0), longestWait)
  }

  /// Not this message's fault: its place in the schedule stays.
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
