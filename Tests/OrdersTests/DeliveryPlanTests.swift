import Testing

@testable import Orders

/// What follows an attempt, as a table.
@Suite struct DeliveryPlanTests {
  static let now = OrderTime(seconds: 1_700_000_000)

  static func next(
    _ outcome: AttemptOutcome,
    tries: Int = 1,
    _ policy: AmbiguityPolicy = .hold,
    random: Double = 0.5
  ) -> Delivery {
    var delivery = Delivery(queuedAt: now)
    for _ in 0..<tries { delivery = delivery.claimed }
    return DeliveryPlan(policy).next(delivery, after: outcome, at: now, random: random)
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
  func `an outcome leads to its state`(
    _ outcome: AttemptOutcome,
    _ policy: AmbiguityPolicy,
    _ state: Delivery.State,
    _ error: String?
  ) {
    let next = Self.next(outcome, policy)

    #expect(next.state == state)
    #expect(next.lastError == error)
    #expect(next.attempts == 1)
    #expect((next.nextAttempt != nil) == (state == .queued))
  }

  @Test func `the schedule takes 75 hours, and then the message is dead`() {
    var waits: [Int64] = []
    for tries in 1...10 {
      let next = Self.next(.failed(.init("http-500")), tries: tries)
      waits.append((next.nextAttempt.map { $0 - Self.now } ?? -1) / 1000)
    }

    #expect(waits == [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    #expect(waits.reduce(0, +) / 3600 == 75)
    #expect(Self.next(.failed(.init("http-500")), tries: 11).state == .dead)
  }

  @Test(arguments: [(0.0, 240.0), (0.5, 300.0), (0.999_999, 360.0)])
  func `jitter is a fifth either way`(_ random: Double, _ seconds: Double) {
    let next = Self.next(.failed(.init("http-500")), tries: 3, random: random)

    let wait = Double((next.nextAttempt ?? Self.now) - Self.now) / 1000
    #expect(abs(wait - seconds) < 0.01)
  }

  @Test(
    arguments: [
      (nil, 5), (0, 5), (3, 5), (60, 60), (86_400, 86_400), (1_000_000_000, 86_400),
      (.max, 86_400),
      (-5, 5),
    ] as [(Int64?, Int64)]
  )
  func `Retry-After is followed up to a day`(_ asked: Int64?, _ seconds: Int64) {
    let next = Self.next(.failed(.init("http-503", retryAfter: asked)), tries: 2)

    #expect(((next.nextAttempt ?? Self.now) - Self.now) / 1000 == seconds)
  }

  @Test func `what is not the message's fault costs it no place in the schedule`() {
    for outcome in [AttemptOutcome.stopped("http-410"), .unsent] {
      #expect(Self.next(outcome, tries: 4).tries == 3)
      #expect(Self.next(outcome, tries: 4).attempts == 4)
    }
  }

  @Test func `a clock that went back does not stop a webhook`() {
    var state = WebhookState()
    state.nextSlot = Self.now + 3_600_000
    state.pausedUntil = Self.now + 90 * 86_400_000

    #expect(state.earliest(at: Self.now) == Self.now + 86_400_000)
    state.pausedUntil = nil
    #expect(state.earliest(at: Self.now) == Self.now + 1000)
    #expect(state.earliest(at: Self.now + 3_600_000) == nil)
  }
}
