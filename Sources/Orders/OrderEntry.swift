/// An order with everything that became of it.
package struct OrderEntry: Hashable, Sendable {
  /// A state that it came into, and when.
  package struct Change: Hashable, Sendable {
    /// The state.
    package let state: OrderState
    /// When.
    package let time: OrderTime
  }

  /// A message about it, and how far that is.
  package struct Message: Hashable, Sendable {
    /// Its name, the value of `webhook-id`.
    package let id: String
    /// What it is about.
    package let state: OrderState
    /// How far it is.
    package let delivery: Delivery
    /// Every attempt to deliver it.
    package let attempts: [Attempt]
  }

  /// An attempt to deliver a message.
  package struct Attempt: Hashable, Sendable {
    /// When it began.
    package let began: OrderTime
    /// When it ended; nil while it is under way, or when nobody knows.
    package let ended: OrderTime?
    /// How it ended, in a few words: ``AttemptOutcome/words``.
    package let outcome: String?

    /// Whether nobody knows if it arrived.
    package var mayHaveArrived: Bool { outcome?.hasPrefix("unknown") ?? true }
  }

  /// What was ordered.
  package let order: Order
  /// Every state so far, the first being `ordered`.
  package let history: [Change]
  /// The messages about it, the first being about its placing.
  package let messages: [Message]

  /// How far the shop is.
  package var state: OrderState { history.last?.state ?? .ordered }

  /// Whether an attempt to tell of its placing may have arrived.
  package var mayHaveArrived: Bool {
    messages.first?.attempts.contains(where: \.mayHaveArrived) ?? false
  }

  /// How far the message about its placing is.
  package var delivery: Delivery { messages.first?.delivery ?? Delivery(queuedAt: order.placed) }
}

/// How many messages there are in each state of delivery, those of cancelled orders left out.
package struct DeliveryCounts: Hashable, Sendable {
  private let counts: [Delivery.State: Int]

  /// Makes counts.
  init(_ counts: [Delivery.State: Int]) {
    self.counts = counts
  }

  /// The number in a state.
  package subscript(state: Delivery.State) -> Int { counts[state, default: 0] }
}
