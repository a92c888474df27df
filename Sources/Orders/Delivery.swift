import FoundationEssentials

/// The progress of the delivery of a message to a webhook.
///
/// For example, ``Order/delivery`` is the delivery of the message that an order was placed.
public struct Delivery: Hashable, Sendable {
  /// The states of a delivery.
  public enum State: String, Sendable, CaseIterable {
    /// The message waits for its next attempt.
    case queued
    /// An attempt is under way, or the process that made the attempt has crashed.
    case sending
    /// The webhook accepted the message.
    case delivered
    /// The message may have arrived.
    ///
    /// The user must decide whether to send it again.
    case ambiguous
    /// larder has given up the delivery.
    ///
    /// The message is sent again only if the user queues it again.
    case dead
  }

  /// The state of the delivery.
  public package(set) var state = State.queued
  /// The number of all attempts so far.
  public package(set) var attempts = 0
  /// The number of attempts since the message was queued for the first time, or since the user queued it again.
  ///
  /// It decides about the delay before the next attempt; see ``DeliveryPlan/delays``.
  package var tries = 0
  /// The error of the last attempt as a short word, for example `http-500`.
  ///
  /// It never contains a URL.
  public package(set) var lastError: String?
  /// The time of the next attempt.
  ///
  /// Nil if the message is not queued.
  package var due: OrderTime?

  /// The time of the next attempt.
  ///
  /// Nil if the message is not queued.
  public var nextAttempt: Date? { due.map(Date.init) }
}

extension Delivery {
  /// A copy in the state `sending`.
  ///
  /// The attempt is counted before the first byte is sent. So it counts even if the process crashes.
  var claimed: Delivery {
    var delivery = settled(.sending, lastError)
    delivery.attempts += 1
    delivery.tries += 1
    return delivery
  }

  /// A copy in the state `queued`.
  ///
  /// The delays start again from the first one.
  func revived(at now: OrderTime) -> Delivery {
    var delivery = settled(.queued, lastError, due: now)
    delivery.tries = 0
    return delivery
  }

  /// A copy in the given state, with the time of the next attempt if the message is queued.
  func settled(_ state: State, _ error: String?, due: OrderTime? = nil) -> Delivery {
    var delivery = self
    delivery.state = state
    delivery.lastError = error
    delivery.due = due
    return delivery
  }

  /// A copy for the message of a cancelled order, which is not sent again.
  ///
  /// A message that is being sent, was delivered or is dead stays so.
  var withdrawn: Delivery {
    switch state {
    case .queued: settled(.dead, "cancelled")
    case .ambiguous: settled(.dead, "cancelled, may have arrived")
    case .sending, .delivered, .dead: self
    }
  }
}

/// The policy for a message that may have arrived although larder received no valid response.
package enum AmbiguityPolicy: String, Sendable, CaseIterable {
  /// Do not send the message again until the user decides.
  ///
  /// The message gets the state `ambiguous`.
  case hold
  /// Send the message again with the same id.
  ///
  /// The webhook can recognize the repetition by the id.
  case resend
}

/// Decides whether and when a message is sent again after an attempt.
package struct DeliveryPlan: Sendable {
  /// The delays in seconds before the second attempt, the third attempt and so on.
  ///
  /// Together they are about 75 hours.
  ///
  /// Standard Webhooks 1.0 recommends these delays, except the first one, which is 0.
  package static let delays: [Int64] = [
    0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600,
  ]
  /// The random variation of each delay, here up to 20 % in both directions.
  ///
  /// Without it, many messages would be sent at the same time.
  static let jitter = 0.2
  /// The longest time in seconds for which a message waits because of `Retry-After`.
  static let longestRetryAfter: Int64 = 24 * 3600

  /// The policy for a message that may have arrived.
  package let policy: AmbiguityPolicy

  /// The delivery after an attempt.
  ///
  /// - Parameters:
  ///   - delivery: The delivery during the attempt.
  ///   - outcome: The outcome of the attempt.
  ///   - now: The current time.
  ///   - random: A random number from 0 up to but not including 1.
  /// - Returns: The new delivery.
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

  /// The longest possible delay between two attempts, in milliseconds.
  static let longestWait = Int64((Double(delays.max() ?? 0) * 1000 * (1 + jitter)).rounded(.up))

  /// The time of the next attempt of a queued message, which is corrected if the clock was wrong before.
  ///
  /// If the last attempt is in the future, the clock has been set back since then. In this case, the delay starts now.
  /// No delay is longer than ``longestWait``.
  ///
  /// - Parameters:
  ///   - delivery: The delivery of the message.
  ///   - attempted: The end of the last attempt, or nil if there was none.
  ///   - now: The current time.
  /// - Returns: The time. It is `now` or earlier if there was no attempt since the message was queued.
  static func due(_ delivery: Delivery, attempted: OrderTime?, at now: OrderTime) -> OrderTime {
    guard delivery.tries > 0, let next = delivery.due else { return now }
    guard let attempted else { return min(next, now) }
    return min(attempted, now) + min(max(next - attempted, 0), longestWait)
  }

  /// A queued copy in which the attempt is not counted for the delays, because the message did not cause the failure.
  private func waiting(_ delivery: Delivery, _ reason: String?, at now: OrderTime) -> Delivery {
    var delivery = delivery.settled(.queued, reason, due: now)
    delivery.tries -= 1
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
    return delivery.settled(.queued, failure.reason, due: now + max(planned, asked))
  }
}
