/// How far a message is on its way to the webhook.
package struct Delivery: Hashable, Sendable {
  /// Where it is.
  package enum State: String, Sendable, CaseIterable {
    /// Waits for its next attempt.
    case queued
    /// An attempt is under way, or ended with the process that made it.
    case sending
    /// The webhook took it.
    case delivered
    /// An attempt may have arrived, and somebody has to say whether to repeat it.
    case ambiguous
    /// Is not sent any more, unless it is replayed.
    case dead
  }

  /// Where it is.
  package var state = State.queued
  /// Attempts so far, since it was placed.
  package var attempts = 0
  /// Attempts since it was placed or replayed: its place in the schedule.
  package var tries = 0
  /// What the last attempt ran into, as a short word; never a URL.
  package var lastError: String?
  /// When to attempt it next; only while it is queued.
  package var nextAttempt: OrderTime?

  /// A message that waits for its first attempt.
  package init(queuedAt now: OrderTime) {
    nextAttempt = now
  }

  /// A message as the outbox has it.
  init(
    state: State,
    attempts: Int,
    tries: Int,
    lastError: String?,
    nextAttempt: OrderTime?
  ) {
    self.state = state
    self.attempts = attempts
    self.tries = tries
    self.lastError = lastError
    self.nextAttempt = nextAttempt
  }

  /// The same while an attempt is under way.
  ///
  /// Counted before the first byte leaves, so that an attempt that ends with its process counts.
  var claimed: Delivery {
    var delivery = self
    delivery.state = .sending
    delivery.attempts += 1
    delivery.tries += 1
    delivery.nextAttempt = nil
    return delivery
  }

  /// The same, wanted again from the start of the schedule.
  func revived(at now: OrderTime) -> Delivery {
    var delivery = self
    delivery.state = .queued
    delivery.tries = 0
    delivery.nextAttempt = now
    return delivery
  }

  /// The same, settled for good.
  func settled(_ state: State, _ error: String?) -> Delivery {
    var delivery = self
    delivery.state = state
    delivery.lastError = error
    delivery.nextAttempt = nil
    return delivery
  }
}

/// What becomes of a message whose attempt may have arrived although no answer was seen.
package enum AmbiguityPolicy: String, Sendable, CaseIterable {
  /// It is kept until somebody decides: nothing is ever shown twice.
  case hold
  /// It is sent again under the same id, by which the receiver recognizes the repetition.
  case resend
}
