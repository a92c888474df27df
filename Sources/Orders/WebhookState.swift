/// What is remembered of a webhook between runs, for all couriers together.
public struct WebhookState: Hashable, Sendable {
  /// Why it takes nothing any more; nil while it does.
  public var stopped: String?
  /// When it was stopped.
  public var stoppedAt: OrderTime?
  /// It asked to be left alone until then.
  public var pausedUntil: OrderTime?
  /// The earliest moment for the next message.
  public var nextSlot: OrderTime?

  /// A webhook of which nothing is known.
  public init() {}

  /// The distance between two messages to Slack, in milliseconds. (Slack's limit for webhooks)
  static let slackSpacing: Int64 = 1000

  /// When a message may leave, seen from `now`; nil when at once.
  ///
  /// A moment further ahead than its rule ever sets is the trace of a clock that went back.
  func earliest(at now: OrderTime) -> OrderTime? {
    let pause = pausedUntil.map { min($0, now + DeliveryPlan.longestRetryAfter * 1000) }
    let slot = nextSlot.map { min($0, now + Self.slackSpacing) }
    guard let latest = [pause, slot].compactMap({ $0 }).max(), latest > now else { return nil }
    return latest
  }

  /// The state once a message left at `now`.
  func spaced(_ payload: PayloadKind, at now: OrderTime) -> WebhookState {
    var state = self
    state.nextSlot = payload == .slack ? now + Self.slackSpacing : nil
    return state
  }

  /// The state after an attempt.
  func after(_ outcome: AttemptOutcome, at now: OrderTime) -> WebhookState {
    var state = self
    switch outcome {
    case .stopped(let reason):
      state.stopped = reason
      state.stoppedAt = now
    case .failed(let failure) where failure.pausesWebhook:
      let seconds = min(max(failure.retryAfter ?? 0, 0), DeliveryPlan.longestRetryAfter)
      state.pausedUntil = max(now + seconds * 1000, pausedUntil ?? now)
    default:
      break
    }
    return state
  }
}
