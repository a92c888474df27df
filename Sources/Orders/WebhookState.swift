/// What is remembered of a webhook between runs, for all couriers together.
package struct WebhookState: Hashable, Sendable {
  /// Why it takes nothing any more; nil while it does.
  package var stopped: String?
  /// When it was stopped.
  package var stoppedAt: OrderTime?
  /// It asked to be left alone until then.
  package var pausedUntil: OrderTime?
  /// When it asked so; nil when that was not kept.
  package var pausedAt: OrderTime?
  /// The earliest moment for the next message.
  package var nextSlot: OrderTime?

  /// A webhook of which nothing is known.
  package init() {}

  /// The distance between two messages to Slack, in milliseconds. (Slack's limit for webhooks)
  static let slackSpacing: Int64 = 1000

  /// When a message may leave, seen from `now`; nil when at once.
  func earliest(at now: OrderTime) -> OrderTime? {
    let state = trusted(at: now)
    let latest = [state.pausedUntil, state.nextSlot].compactMap { $0 }.max()
    return latest.flatMap { $0 > now ? $0 : nil }
  }

  /// The state with every moment brought within reach of `now`, for a clock that went back.
  ///
  /// A pause that begins in the future begins now and lasts as long as it was meant to. No moment lies
  /// further ahead than its rule ever sets it. Whoever acts on the result must store it: computed anew
  /// with every look, a moment would move on with `now` and never come.
  func trusted(at now: OrderTime) -> WebhookState {
    let longest = DeliveryPlan.longestRetryAfter * 1000
    var state = self
    if let until = pausedUntil {
      let begun = min(pausedAt ?? now, now)
      let meant = pausedAt.map { min(max(until - $0, 0), longest) }
      state.pausedUntil = meant.map { begun + $0 } ?? min(until, now + longest)
      if state.pausedUntil != until { state.pausedAt = begun }
    }
    state.nextSlot = nextSlot.map { min($0, now + Self.slackSpacing) }
    return state
  }

  /// The state once a message left at `now`.
  func spaced(_ payload: PayloadKind, at now: OrderTime) -> WebhookState {
    var state = trusted(at: now)
    state.nextSlot = payload == .slack ? now + Self.slackSpacing : nil
    return state
  }

  /// The state after an attempt.
  func after(_ outcome: AttemptOutcome, at now: OrderTime) -> WebhookState {
    var state = trusted(at: now)
    switch outcome {
    case .stopped(let reason):
      state.stopped = reason
      state.stoppedAt = now
    case .failed(let failure) where failure.pausesWebhook:
      let seconds = min(max(failure.retryAfter ?? 0, 0), DeliveryPlan.longestRetryAfter)
      let until = now + seconds * 1000
      guard until > state.pausedUntil ?? now else { break }
      state.pausedUntil = until
      state.pausedAt = now
    default:
      break
    }
    return state
  }
}
