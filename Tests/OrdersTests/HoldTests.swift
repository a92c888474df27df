import Testing

@testable import Orders

/// Orders that may have arrived, with the policy `hold`.
@Suite struct HoldTests {
  @Test func `a sender waits for another one only as long as for orders that are not due`() throws
  {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { _ in .ok }
    let lock = try WebhookLock(shelf.outbox().path)

    let blocked = try shelf.send(webhook) { $0.patience = 5000 }
    #expect(lock != nil && blocked.isBlocked && blocked.due != nil)
    #expect(webhook.arrivals.isEmpty)
    withExtendedLifetime(lock) {}
    _ = consume lock

    #expect(try shelf.send(webhook).delivered == [id])
  }

  @Test(
    arguments: [
      .reset, .status(200, body: "<html>Sign in</html>"), .status(200), .status(204),
      .status(302), .status(303), .status(499), .status(502, retryAfter: 1), .status(504),
      .status(520), .status(524), .status(599),
    ] as [FakeWebhook.Answer]
  )
  func `an order that may have arrived is sent again only on request`(
    _ answer: FakeWebhook.Answer
  ) throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { $0.number == 0 ? answer : .ok }

    let first = try shelf.send(webhook, .slack)
    for _ in 0..<3 {
      shelf.clock.advance(seconds: 86_400)
      _ = try shelf.send(webhook, .slack) { $0.patience = .max }
    }

    #expect(first.held == [id])
    #expect(webhook.arrivals.count == 1)
    #expect(try shelf.outbox().order(id.rawValue).delivery.state == .ambiguous)
    #expect(try shelf.send(webhook, .slack, policy: .resend).delivered == [id])
    #expect(webhook.arrivals.count == 2)
  }

  @Test(
    arguments: [
      .refused, .status(307), .status(408), .status(429), .status(500), .status(503),
      .status(521),
    ] as [FakeWebhook.Answer]
  )
  func `an order that was not taken is sent again automatically`(_ answer: FakeWebhook.Answer)
    throws
  {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { $0.number == 0 ? answer : .ok }

    let report = try shelf.send(webhook, .slack) { $0.patience = 10_000 }

    #expect(report.delivered == [id] && report.held.isEmpty)
  }

  @Test
  func `an ambiguous order of a run with the policy resend is held by a run with the policy hold`()
    throws
  {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { $0.number < 2 ? .status(502) : .ok }
    _ = try shelf.send(webhook, policy: .resend) { $0.attempts = 2 }
    #expect(try shelf.outbox().order(id.rawValue).delivery.state == .queued)

    shelf.clock.advance(seconds: 60)
    let report = try shelf.send(webhook, policy: .hold)

    #expect(report.held == [id])
    #expect(webhook.arrivals.count == 2)
  }

  @Test func `an order that was replayed is not held because of earlier outcomes`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook {
      [.status(504), .status(500), .refused, .ok][min($0.number, 3)]
    }
    #expect(try shelf.send(webhook, policy: .hold).held == [id])
    _ = try shelf.outbox().replay([id.rawValue], at: shelf.clock.now())

    let report = try shelf.send(webhook, policy: .hold) { $0.patience = 10_000 }

    #expect(report.delivered == [id])
    #expect(webhook.arrivals.count == 4)
  }
}
