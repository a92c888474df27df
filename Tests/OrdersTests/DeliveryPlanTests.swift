import Testing

@testable import Orders

/// The decision about the next attempt of a message.
@Suite struct DeliveryPlanTests {
  static let now = OrderTime(seconds: 1_700_000_000)

  static func next(
    _ outcome: AttemptOutcome,
    tries: Int = 1,
    _ policy: AmbiguityPolicy = .hold,
    random: Double = 0.5
  ) -> Delivery {
    var delivery = Delivery(due: now)
    for _ in 0..<tries { delivery = delivery.claimed }
    return DeliveryPlan(policy: policy).next(delivery, after: outcome, at: now, random: random)
  }

  @Test(
    arguments: [
      (AttemptOutcome.delivered, AmbiguityPolicy.hold, Delivery.State.delivered, nil),
      (.refused("http-400"), .hold, .dead, "http-400"),
      (.stopped("http-404"), .hold, .queued, "http-404"),
      (.failed(.init("http-500")), .hold, .queued, "http-500"),
      (.unknown("reset"), .hold, .ambiguous, "reset"),
      (.unknown("reset"), .resend, .queued, "reset"),
      (.unsent, .hold, .queued, nil),
    ] as [(AttemptOutcome, AmbiguityPolicy, Delivery.State, String?)]
  )
  func `each outcome leads to its state`(
    _ outcome: AttemptOutcome,
    _ policy: AmbiguityPolicy,
    _ state: Delivery.State,
    _ error: String?
  ) {
    let next = Self.next(outcome, policy)

    #expect(next.state == state)
    #expect(next.lastError == error)
    #expect(next.attempts == 1)
    #expect((next.due != nil) == (state == .queued))
  }

  @Test func `the retry schedule takes 75 hours, and then the message is dead`() {
    var waits: [Int64] = []
    for tries in 1...10 {
      let next = Self.next(.failed(.init("http-500")), tries: tries)
      waits.append((next.due.map { $0 - Self.now } ?? -1) / 1000)
    }

    #expect(waits == [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    #expect(waits.reduce(0, +) / 3600 == 75)
    #expect(Self.next(.failed(.init("http-500")), tries: 11).state == .dead)
  }

  @Test(arguments: [(0.0, 240.0), (0.5, 300.0), (0.999_999, 360.0)])
  func `jitter is up to a fifth in both directions`(_ random: Double, _ seconds: Double) {
    let next = Self.next(.failed(.init("http-500")), tries: 3, random: random)

    let wait = Double((next.due ?? Self.now) - Self.now) / 1000
    #expect(abs(wait - seconds) < 0.01)
  }

  @Test(
    arguments: [
      (nil, 5), (0, 5), (3, 5), (60, 60), (86_400, 86_400), (1_000_000_000, 86_400),
      (.max, 86_400),
      (-5, 5),
    ] as [(Int64?, Int64)]
  )
  func `Retry-After is respected up to a day`(_ asked: Int64?, _ seconds: Int64) {
    let next = Self.next(.failed(.init("http-503", retryAfter: asked)), tries: 2)

    #expect(((next.due ?? Self.now) - Self.now) / 1000 == seconds)
  }

  @Test func `a failure that is not the message's fault does not advance its schedule`() {
    for outcome in [AttemptOutcome.stopped("http-410"), .unsent] {
      #expect(Self.next(outcome, tries: 4).tries == 3)
      #expect(Self.next(outcome, tries: 4).attempts == 4)
    }
  }

  @Test func `Retry-After is respected whether or not the message arrived`() {
    let next = Self.next(.unknown("http-502", retryAfter: 60), .resend)

    #expect(next.due == Self.now + 60_000)
  }

  @Test(
    arguments: [
      // Not attempted since it was placed: due now, whatever time was written.
      (0, 3_600_000, nil, 0), (0, -5, nil, 0), (0, .max, nil, 0), (0, 3_600_000, 3_600_000, 0),
      // Attempted in the past: due at the planned time.
      (1, 5000, 0, 5000), (1, 5000, -1000, 5000), (1, -5000, -10_000, -5000),
      // Attempted at a time that is still in the future: the planned delay starts now.
      (1, 3_605_000, 3_600_000, 5000), (3, 31_536_005_000, 31_536_000_000, 5000),
      // Never later than the longest possible delay.
      (1, .max, 0, 103_680_000), (1, .max, .max, 0), (2, 400_000_000, 1000, 103_680_000),
      // Without a recorded attempt there is no reason to wait.
      (1, 3_600_000, nil, 0),
    ] as [(Int, Int64, Int64?, Int64)]
  )
  func `a queued message's due time is limited by the current clock`(
    _ tries: Int,
    _ next: Int64,
    _ attempted: Int64?,
    _ due: Int64
  ) {
    var delivery = Delivery(due: Self.now + next)
    delivery.tries = tries

    let moment = DeliveryPlan.due(
      delivery,
      attempted: attempted.map { Self.now + $0 },
      at: Self.now
    )

    #expect(moment - Self.now == due)
  }

  @Test func `a webhook's times from the future end once they are corrected`() {
    var state = WebhookState()
    state.nextSlot = Self.now + 3_600_000
    state.pausedAt = Self.now + 3_600_000
    state.pausedUntil = Self.now + 3_630_000

    let kept = state.trusted(at: Self.now)

    #expect(kept.earliest(at: Self.now) == Self.now + 30_000)
    #expect(
      kept.trusted(at: Self.now + 20_000).earliest(at: Self.now + 20_000) == Self.now + 30_000
    )
    #expect(kept.earliest(at: Self.now + 30_000) == nil)
    #expect(kept.trusted(at: Self.now) == kept)
  }

  @Test func `a clock set back does not stop a webhook`() {
    var state = WebhookState()
    state.nextSlot = Self.now + 3_600_000
    state.pausedUntil = Self.now + 90 * 86_400_000

    #expect(state.earliest(at: Self.now) == Self.now + 86_400_000)
    state.pausedUntil = nil
    #expect(state.earliest(at: Self.now) == Self.now + 1000)
    #expect(state.earliest(at: Self.now + 3_600_000) == nil)
  }
}
