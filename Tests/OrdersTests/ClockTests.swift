import Testing

@testable import Orders

/// Events that happen while the clock is ahead.
enum AheadOfTime: CaseIterable, Sendable {
  case placed, attempted, interrupted, replayed, paced, paused, stopped

  /// Triggers the event, and leaves one order that is still to be delivered.
  func happen(on shelf: Shelf) throws {
    let id = try shelf.place()[0].rawValue
    switch self {
    case .placed: break
    case .attempted:
      _ = try shelf.send(FakeWebhook { _ in .status(500) }, .slack) {
        $0.attempts = 2
        $0.patience = 1000
      }
    case .interrupted:
      _ = try shelf.outbox()
        .claim(
          Shelf.webhook(.slack),
          .orders,
          DeliveryPlan(policy: .hold),
          at: shelf.clock.now(),
          random: 0.5
        )
    case .replayed:
      _ = try shelf.send(FakeWebhook { _ in .status(400) }, .slack)
      _ = try shelf.outbox().replay([id], at: shelf.clock.now())
    case .paced:
      _ = try shelf.send(FakeWebhook(), .slack)
      try shelf.place()
    case .paused:
      _ = try shelf.send(FakeWebhook { _ in .status(429, retryAfter: 30) }, .slack)
    case .stopped:
      _ = try shelf.send(FakeWebhook { _ in .status(404, body: "no_service") }, .slack)
      try shelf.outbox().resume(Shelf.webhook(.slack))
    }
  }

  /// The longest delay that the event may cause once the clock is right, in milliseconds.
  var longestWait: Int64 {
    switch self {
    case .attempted: 5000
    case .paused: 30_000
    case .placed, .interrupted, .replayed, .paced, .stopped: 1000
    }
  }
}

/// Wrong clocks that are later corrected.
@Suite struct ClockTests {
  @Test(arguments: AheadOfTime.allCases, [60, 3600, 86_400, 40 * 365 * 86_400] as [Int64])
  func `an order placed under a clock that was ahead is sent once the clock is right`(
    _ event: AheadOfTime,
    _ seconds: Int64
  ) throws {
    let shelf = try Shelf()
    shelf.clock.advance(seconds: seconds)
    try event.happen(on: shelf)
    let late = shelf.clock.now()
    shelf.clock.advance(seconds: -seconds - 3)
    let now = shelf.clock.now()
    let webhook = FakeWebhook()

    // Several short runs, as started by cron: none of them may postpone the delivery again.
    for _ in 0..<3 { _ = try shelf.send(webhook, .slack, policy: .resend) { $0.patience = 0 } }
    _ = try shelf.send(webhook, .slack, policy: .resend) { $0.patience = event.longestWait }

    #expect(webhook.arrivals.count == 1)
    #expect(shelf.clock.now() - now <= event.longestWait)
    #expect(shelf.clock.now() < late)
  }

  @Test func `a pause keeps its length when the clock is corrected`() throws {
    let shelf = try Shelf()
    try shelf.place()
    shelf.clock.advance(seconds: 86_400)
    _ = try shelf.send(FakeWebhook { _ in .status(503, retryAfter: 600) })
    shelf.clock.advance(seconds: -86_400)
    let webhook = FakeWebhook()

    let early = try shelf.send(webhook)
    shelf.clock.advance(seconds: 599)
    _ = try shelf.send(webhook)
    #expect(early.due != nil && webhook.arrivals.isEmpty)

    shelf.clock.advance(seconds: 1)
    #expect(try shelf.send(webhook).delivered.count == 1)
  }
}
