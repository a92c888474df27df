import Base
import Dispatch
import Support
import Synchronization
import Testing

@testable import Orders

/// The sender, which delivers orders from the outbox to a webhook.
@Suite struct WebhookSenderTests {
  @Test func `orders arrive in the order of placing, each once`() throws {
    let shelf = try Shelf()
    let placed = try shelf.place(20)
    let webhook = FakeWebhook()

    let report = try shelf.send(webhook)
    let again = try shelf.send(webhook)

    #expect(webhook.ids == placed.map(\.rawValue))
    #expect(report.delivered == placed)
    #expect(again.delivered.isEmpty && again.troubles.isEmpty)
    #expect(try shelf.outbox().counts()[.delivered] == 20)
  }

  @Test func `an order is marked as sending on disk before its first byte is sent`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let seen = Mutex<[Delivery.State?]>([])
    let webhook = FakeWebhook { _ in
      let state = try? shelf.outbox().order(id.rawValue).delivery.state
      seen.withLock { $0.append(state) }
      return .ok
    }

    _ = try shelf.send(webhook)

    #expect(seen.withLock { $0 } == [.sending])
  }

  @Test func `an order that exhausts the schedule is dead and can be replayed`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let began = shelf.clock.now()
    let isUp = Atomic(false)
    let webhook = FakeWebhook { _ in isUp.load(ordering: .relaxed) ? .ok : .status(500) }

    let report = try shelf.send(webhook) { $0.patience = .max }

    #expect(webhook.arrivals.count == 11)
    #expect(report.dead == [id])
    #expect((shelf.clock.now() - began) / 3_600_000 == 75)
    #expect(try shelf.send(webhook).delivered.isEmpty)

    isUp.store(true, ordering: .relaxed)
    #expect(try shelf.outbox().replay(nil, at: shelf.clock.now()) == [id])
    #expect(try shelf.send(webhook).delivered == [id])
    #expect(Set(webhook.ids) == [id.rawValue])
    #expect(webhook.arrivals.count == 12)
  }

  @Test func `one invalid order among a thousand stops no other`() throws {
    let shelf = try Shelf()
    let placed = try shelf.place(1000)
    let poison = placed[499].rawValue
    let isCured = Atomic(false)
    let webhook = FakeWebhook {
      $0.id == poison && !isCured.load(ordering: .relaxed) ? .status(400) : .ok
    }

    let report = try shelf.send(webhook)

    #expect(report.delivered.count == 999)
    #expect(report.dead.map(\.rawValue) == [poison])

    isCured.store(true, ordering: .relaxed)
    _ = try shelf.outbox().replay([poison], at: shelf.clock.now())
    #expect(try shelf.send(webhook).delivered.map(\.rawValue) == [poison])
    #expect(webhook.ids.filter { $0 == poison }.count == 2)
    #expect(webhook.ids.count == 1001)
  }

  @Test func `an order that fails or waits does not delay the other orders`() throws {
    let shelf = try Shelf()
    let placed = try shelf.place(3).map(\.rawValue)
    let webhook = FakeWebhook { $0.id == placed[0] ? .status(500, retryAfter: 60) : .ok }

    let report = try shelf.send(webhook)

    #expect(webhook.ids == placed)
    #expect(report.delivered.map(\.rawValue) == [placed[1], placed[2]])
    #expect(report.due.map { $0 - shelf.clock.now() } == 60_000)
  }

  @Test func `a webhook that answers that it is gone is stopped until resumed or replaced`() throws
  {
    let shelf = try Shelf()
    let placed = try shelf.place(3)
    let gone = FakeWebhook { _ in .status(404, body: "no_service") }
    let live = FakeWebhook()

    let first = try shelf.send(gone, .slack)
    let second = try shelf.send(live, .slack)

    #expect(first.stopped == "http-404 no_service")
    #expect(gone.arrivals.count == 1)
    #expect(second.stopped == first.stopped)
    #expect(live.arrivals.isEmpty)
    #expect(second.counts[.queued] == 3)

    let other = try shelf.send(live, .slack, url: "https://hooks.example/other") {
      $0.attempts = 1
    }
    #expect(other.delivered == [placed[0]])
    try shelf.outbox().resume(Shelf.webhook(.slack))
    #expect(
      try shelf.send(live, .slack) { $0.patience = 1000 }.delivered == [placed[1], placed[2]]
    )
  }

  @Test
  func `a message to Slack that may have arrived is held, and sent again with the policy resend`()
    throws
  {
    let shelf = try Shelf()
    let id = try shelf.place(2)[0]
    let webhook = FakeWebhook { $0.id == id.rawValue && $0.number < 2 ? .reset : .ok }

    let held = try shelf.send(webhook, .slack) { $0.patience = 1000 }
    let still = try shelf.send(webhook, .slack)

    #expect(held.held == [id] && still.held == [id])
    #expect(held.delivered.count == 1)
    #expect(webhook.ids.filter { $0 == id.rawValue }.count == 1)

    let resent = try shelf.send(webhook, .slack, policy: .resend) { $0.patience = 1000 }
    #expect(resent.delivered == [id] && resent.held.isEmpty)
    #expect(webhook.ids.filter { $0 == id.rawValue }.count == 2)
  }

  @Test(arguments: [AmbiguityPolicy.hold, .resend])
  func `an attempt whose process was killed is ambiguous`(_ policy: AmbiguityPolicy) throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = try Shelf.webhook(.json)
    // Another sender has chosen the message, and was killed before it stored the outcome.
    _ = try shelf.outbox()
      .claim(webhook, .orders, DeliveryPlan(policy: policy), at: shelf.clock.now(), random: 0.5)
    let live = FakeWebhook()

    let report = try shelf.send(live, policy: policy)

    #expect(live.ids == (policy == .hold ? [] : [id.rawValue]))
    #expect(report.held == (policy == .hold ? [id] : []))
    let attempts = try shelf.outbox().order(id.rawValue).messages[0].attempts
    #expect(attempts.first?.outcome == "unknown interrupted")
  }

  @Test func `a held order that did arrive is settled by hand and never sent again`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { _ in .reset }
    _ = try shelf.send(webhook, policy: .hold)

    #expect(try shelf.outbox().confirm(arrived: [id.rawValue]) == [id])
    _ = try shelf.send(webhook, policy: .resend)

    #expect(webhook.arrivals.count == 1)
    #expect(try shelf.outbox().order(id.rawValue).delivery.state == .delivered)
    #expect(throws: LarderError.self) { try shelf.outbox().confirm(arrived: [id.rawValue]) }
  }

  @Test func `Slack gets one message a second, and none before Retry-After ends`() throws {
    let shelf = try Shelf()
    try shelf.place(10)
    let times = Mutex<[Int64]>([])
    let began = shelf.clock.now()
    let webhook = FakeWebhook { arrival in
      times.withLock { $0.append(shelf.clock.now() - began) }
      return arrival.number == 4 ? .status(429, retryAfter: 30) : .ok
    }

    let report = try shelf.send(webhook, .slack) { $0.patience = 60_000 }

    #expect(report.delivered.count == 10)
    #expect(
      times.withLock { $0 } == [
        0, 1000, 2000, 3000, 4000, 34_000, 35_000, 36_000, 37_000, 38_000, 39_000,
      ]
    )
  }

  @Test func `concurrent senders never send an order twice, and new orders can be placed`()
    throws
  {
    let shelf = try Shelf()
    try shelf.place(60)
    let webhook = FakeWebhook()
    let placed = Mutex(0)

    DispatchQueue.concurrentPerform(iterations: 5) { number in
      if number == 0 {
        for _ in 0..<20 where (try? shelf.place()) != nil { placed.withLock { $0 += 1 } }
      } else {
        _ = try? shelf.send(webhook)
      }
    }
    _ = try shelf.send(webhook)

    #expect(placed.withLock { $0 } == 20)
    #expect(webhook.ids.count == 80)
    #expect(Set(webhook.ids).count == 80)
  }

  @Test
  func
    `three attempts at an unreachable webhook end the run, and no other order loses an attempt`()
    throws
  {
    let shelf = try Shelf()
    try shelf.place(50)
    let webhook = FakeWebhook { _ in .refused }

    let report = try shelf.send(webhook)

    #expect(report.unreachable == "connect-refused")
    #expect(webhook.arrivals.count == 3)
    #expect(report.counts[.queued] == 50)
  }

  @Test func `a cancelled order that was not sent is never sent`() throws {
    let shelf = try Shelf()
    let placed = try shelf.place(2)
    let webhook = FakeWebhook()
    _ = try shelf.outbox()
      .move(placed[0].rawValue, to: .cancelled, posting: true, at: shelf.clock.now())

    _ = try shelf.send(webhook)

    #expect(webhook.ids == [placed[1].rawValue])
    #expect(throws: LarderError.self) {
      try shelf.outbox().replay([placed[0].rawValue], at: shelf.clock.now())
    }
    #expect(try shelf.outbox().counts()[.dead, default: 0] == 0)
  }

  @Test func `an order cancelled while it fails is not retried`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { _ in
      _ = try? shelf.outbox()
        .move(id.rawValue, to: .cancelled, posting: false, at: shelf.clock.now())
      return .status(500)
    }

    _ = try shelf.send(webhook) { $0.patience = .max }

    #expect(webhook.arrivals.count == 1)
    #expect(try shelf.outbox().order(id.rawValue).delivery.lastError == "cancelled")
  }

  @Test(arguments: [AmbiguityPolicy.hold, .resend], [false, true])
  func `an order cancelled while its answer was lost is not sent again`(
    _ policy: AmbiguityPolicy,
    isKilled: Bool
  ) throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let cancel: @Sendable () throws -> Void = {
      _ = try shelf.outbox()
        .move(id.rawValue, to: .cancelled, posting: true, at: shelf.clock.now())
    }
    let webhook = FakeWebhook { sent in
      if sent.number == 0 { try? cancel() }
      return sent.number == 0 ? .status(502) : .ok
    }

    _ = try shelf.send(webhook, .slack, policy: policy) { $0.patience = .max }
    if isKilled {
      // As after a kill between the request and its answer.
      try shelf.change("UPDATE message SET delivery = 'sending' WHERE state = 'ordered'")
    }
    for policy in [AmbiguityPolicy.hold, .resend] {
      shelf.clock.advance(seconds: 86_400)
      _ = try shelf.send(webhook, .slack, policy: policy)
    }

    #expect(webhook.arrivals.count == 2)
    let states = try shelf.outbox().order(id.rawValue).messages.map(\.delivery.state)
    #expect(states == [.dead, .delivered])
    #expect(try shelf.outbox().counts()[.ambiguous, default: 0] == 0)
  }

  @Test func `a held message of a cancelled order is not sent under another policy`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0]
    let webhook = FakeWebhook { $0.number == 0 ? .status(502) : .ok }
    _ = try shelf.send(webhook, .slack)
    _ = try shelf.outbox().move(id.rawValue, to: .cancelled, posting: false, at: shelf.clock.now())
    // As an earlier version left it.
    try shelf.change("UPDATE message SET delivery = 'ambiguous'")

    _ = try shelf.send(webhook, .slack, policy: .resend)

    #expect(webhook.arrivals.count == 1)
  }

  @Test func `a cancellation can be posted later, once, if the webhook may know the order`() throws
  {
    let shelf = try Shelf()
    let ids = try shelf.place(2).map(\.rawValue)
    let webhook = FakeWebhook { $0.number == 0 ? .ok : .refused }
    func cancel(_ id: String, posting: Bool) throws {
      _ = try shelf.outbox().move(id, to: .cancelled, posting: posting, at: shelf.clock.now())
    }
    _ = try shelf.send(webhook)
    for id in ids { try cancel(id, posting: false) }

    for id in ids { try cancel(id, posting: true) }

    #expect(throws: LarderError.self) { try cancel(ids[0], posting: true) }
    let messages = try ids.map { try shelf.outbox().order($0).messages.map(\.state) }
    #expect(messages == [[.ordered, .cancelled], [.ordered]])
  }

  @Test func `a posted state change is sent after the order's message, and has an id of its own`()
    throws
  {
    let shelf = try Shelf()
    let id = try shelf.place()[0].rawValue
    _ = try shelf.outbox().move(id, to: nil, posting: true, at: shelf.clock.now())
    let webhook = FakeWebhook { $0.number == 0 ? .status(500) : .ok }

    _ = try shelf.send(webhook)

    #expect(webhook.ids == [id, id, "\(id)_preparing"])
    #expect(webhook.arrivals.last?.body.contains("order.preparing") == true)
  }
}
