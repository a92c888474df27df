/// An order with everything that became of it.
public struct OrderEntry: Hashable, Sendable {
  /// A state that it came into, and when.
  public struct Change: Hashable, Sendable {
    /// The state.
    public let state: OrderState
    /// When.
    public let time: OrderTime
  }

  /// A message about it, and how far that is.
  public struct Message: Hashable, Sendable {
    /// Its name, the value of `webhook-id`.
    public let id: String
    /// What it is about.
    public let state: OrderState
    /// How far it is.
    public let delivery: Delivery
    /// Every attempt to deliver it.
    public let attempts: [Attempt]
  }

  /// An attempt to deliver a message.
  public struct Attempt: Hashable, Sendable {
    /// When it began.
    public let began: OrderTime
    /// When it ended; nil while it is under way, or when nobody knows.
    public let ended: OrderTime?
    /// How it ended, in a few words: ``AttemptOutcome/words``.
    public let outcome: String?

    /// Whether nobody knows if it arrived.
    public var mayHaveArrived: Bool { outcome?.hasPrefix("unknown") ?? true }
  }

  /// What was ordered.
  public let order: Order
  /// Every state so far, the first being `ordered`.
  public let history: [Change]
  /// The messages about it, the first being about its placing.
  public let messages: [Message]

  /// How far the shop is.
  public var state: OrderState { history.last?.state ?? .ordered }

  /// Whether an attempt to tell of its placing may have arrived.
  public var mayHaveArrived: Bool {
    messages.first?.attempts.contains(where: \.mayHaveArrived) ?? false
  }

  /// How far the message about its placing is.
  public var delivery: Delivery { messages.first?.delivery ?? Delivery(queuedAt: order.placed) }
}

/// How many messages there are in each state of delivery, those of cancelled orders left out.
public struct DeliveryCounts: Hashable, Sendable {
  private let counts: [Delivery.State: Int]

  /// Makes counts.
  init(_ counts: [Delivery.State: Int]) {
    self.counts = counts
  }

  /// The number in a state.
  public subscript(state: Delivery.State) -> Int { counts[state, default: 0] }
}
