import Base
import Catalog
import Foundation
import Support
import Synchronization
import Testing

@testable import Orders

/// Notices of catalog changes and their delivery through the outbox.
@Suite struct NoticeTests {
  private static let wish = Subscription(cache: "/cache", catalog: "banchan", wish: "all")

  /// A price change that is different for each run.
  private static func change(_ run: Int64) -> Notice.Change {
    var change = Notice.Change(.price, section: "main", id: "A\(run)")
    change.title = "반찬 \(run)"
    change.fromPrice = Price(minorUnits: 7000, currency: "KRW")
    change.toPrice = Price(minorUnits: 6500, currency: "KRW")
    change.url = "https://cdn.example/\(run).jpg"
    return change
  }

  private static func notice(_ changes: [Notice.Change], run: Int64) -> Notice? {
    Notice(
      catalog: "banchan",
      run: run,
      time: OrderTime(seconds: 1_700_000_000),
      language: .korean,
      changes
    )
  }

  /// Queues the changes of a run.
  ///
  /// Every run changes one price, unless `changed` returns false.
  private static func tell(
    _ shelf: Shelf,
    _ run: Int64,
    _ payload: PayloadKind = .json,
    changed: (Int64) -> Bool = { _ in true }
  ) throws {
    let (outbox, webhook) = (try shelf.outbox(), try Shelf.webhook(payload))
    let start = try outbox.start(of: wish, at: webhook)
    let after = start.after ?? run - 1
    let changes = after < run ? (after + 1...run).filter(changed).map(change) : []
    let now = shelf.clock.now()
    #expect(
      try outbox.keep(
        notice(changes, run: run),
        for: wish,
        at: webhook,
        behind: after,
        through: run,
        from: start,
        at: now
      )
    )
  }

  private static func send(
    _ shelf: Shelf,
    _ transport: FakeWebhook,
    _ payload: PayloadKind = .json,
    policy: AmbiguityPolicy? = nil
  ) throws -> SendReport {
    var limits = WebhookSender.Limits()
    limits.patience = 1000
    return try WebhookSender(
      shelf.outbox(),
      to: Shelf.webhook(payload),
      mail: .notices,
      policy: policy ?? payload.defaultPolicy,
      limits: limits,
      transport: transport,
      clock: shelf.clock,
      random: { 0.5 }
    ).run()
  }

  /// The item ids in a message.
  private static func items(_ arrival: FakeWebhook.Arrival) throws -> [String] {
    let json = try JSONSerialization.jsonObject(with: Data(arrival.body.utf8)) as? [String: Any]
    let data = json?["data"] as? [String: Any]
    return (data?["changes"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
  }

  @Test func `changes are sent once, and a run without changes sends nothing`() throws {
    let shelf = try Shelf()
    let webhook = FakeWebhook()

    for run in 2...5 {
      try Self.tell(shelf, Int64(run), changed: { $0 != 4 })
      _ = try Self.send(shelf, webhook)
      try Self.tell(shelf, Int64(run), changed: { $0 != 4 })
      _ = try Self.send(shelf, webhook)
    }

    #expect(try webhook.arrivals.map(Self.items) == [["A2"], ["A3"], ["A5"]])
    #expect(webhook.ids.allSatisfy { $0.hasPrefix("ntc_") } && Set(webhook.ids).count == 3)
  }

  @Test(arguments: [PayloadKind.slack, .json])
  func `a webhook that is down for a week gets one message afterwards, not seven`(
    _ payload: PayloadKind
  ) throws {
    let shelf = try Shelf()
    let isUp = Atomic(false)
    let webhook = FakeWebhook { _ in isUp.load(ordering: .relaxed) ? .ok : .refused }

    for run in 2...8 {
      try Self.tell(shelf, Int64(run), payload)
      let report = try Self.send(shelf, webhook, payload)
      #expect(report.unreachable != nil && report.counts[.queued] == 1)
      shelf.clock.advance(seconds: 86_400)
    }
    let before = webhook.arrivals.count
    isUp.store(true, ordering: .relaxed)
    try Self.tell(shelf, 9, payload)
    let report = try Self.send(shelf, webhook, payload)

    #expect(report.delivered.count == 1 && webhook.arrivals.count == before + 1)
    let last = try #require(webhook.arrivals.last)
    for run in 2...9 { #expect(last.body.contains("반찬 \(run)"), "run \(run)") }
    #expect(!last.body.contains("mayRepeat\":true"))
  }

  @Test func `a notice that exhausted its retries is sent with the next changes`() throws {
    let shelf = try Shelf()
    let isUp = Atomic(false)
    let webhook = FakeWebhook { _ in isUp.load(ordering: .relaxed) ? .ok : .status(500) }
    try Self.tell(shelf, 2)
    var dead: [OrderID] = []
    while dead.isEmpty {
      dead = try Self.send(shelf, webhook).dead
      shelf.clock.advance(seconds: 3600)
    }

    isUp.store(true, ordering: .relaxed)
    try Self.tell(shelf, 3)
    _ = try Self.send(shelf, webhook)

    #expect(try Self.items(#require(webhook.arrivals.last)) == ["A2", "A3"])
  }

  @Test
  func
    `a notice to Slack that may have arrived is held, and is not sent again with later changes`()
    throws
  {
    let shelf = try Shelf()
    let webhook = FakeWebhook { $0.number == 0 ? .reset : .ok }
    try Self.tell(shelf, 2, .slack)

    let first = try Self.send(shelf, webhook, .slack)
    let second = try Self.send(shelf, webhook, .slack)
    try Self.tell(shelf, 3, .slack)
    let third = try Self.send(shelf, webhook, .slack)

    #expect(first.held.count == 1 && second.held.isEmpty && second.counts[.ambiguous] == 1)
    #expect(third.delivered.count == 1 && third.counts[.ambiguous, default: 0] == 0)
    #expect(webhook.arrivals.count == 2)
    #expect(webhook.arrivals[1].body.contains("반찬 3"))
    #expect(!webhook.arrivals[1].body.contains("반찬 2"))
  }

  @Test func `a held notice is sent again on request`() throws {
    let shelf = try Shelf()
    let webhook = FakeWebhook { $0.number == 0 ? .reset : .ok }
    try Self.tell(shelf, 2, .slack)

    _ = try Self.send(shelf, webhook, .slack)
    let report = try Self.send(shelf, webhook, .slack, policy: .resend)

    #expect(report.delivered.count == 1 && Set(webhook.ids).count == 1)
  }

  @Test func `a notice that may repeat another one says so to programs`() throws {
    let shelf = try Shelf()
    let webhook = FakeWebhook { $0.number < 2 ? .reset : .ok }
    try Self.tell(shelf, 2)
    _ = try Self.send(shelf, webhook)

    try Self.tell(shelf, 3)
    _ = try Self.send(shelf, webhook)

    let last = try #require(webhook.arrivals.last)
    #expect(try Self.items(last) == ["A2", "A3"])
    #expect(last.body.contains(#""mayRepeat":true"#) && last.id != webhook.ids[0])
  }

  @Test func `a sender that dies leaves a notice that is neither lost nor silently repeated`()
    throws
  {
    let shelf = try Shelf()
    let webhook = FakeWebhook()
    try Self.tell(shelf, 2, .slack)
    // The sender crashes after it has chosen the message, and before the response.
    _ = try shelf.outbox().claim(
      Shelf.webhook(.slack),
      .notices,
      DeliveryPlan(policy: .hold),
      at: shelf.clock.now(),
      random: 0.5
    )

    shelf.clock.advance(seconds: 10)
    let report = try Self.send(shelf, webhook, .slack)

    let again = try Self.send(shelf, webhook, .slack)

    #expect(webhook.arrivals.isEmpty && report.counts[.ambiguous] == 1)
    #expect(report.held.count == 1 && report.held.allSatisfy { $0.rawValue.hasPrefix("ntc_") })
    #expect(again.held.isEmpty)
  }

  @Test func `changes that are reverted before they are sent are not sent`() throws {
    let shelf = try Shelf()
    let isUp = Atomic(false)
    let webhook = FakeWebhook { _ in isUp.load(ordering: .relaxed) ? .ok : .refused }
    try Self.tell(shelf, 2)
    _ = try Self.send(shelf, webhook)

    isUp.store(true, ordering: .relaxed)
    let before = webhook.arrivals.count
    try Self.tell(shelf, 3, changed: { _ in false })
    _ = try Self.send(shelf, webhook)

    #expect(webhook.arrivals.count == before)
  }

  @Test func `orders and notices do not affect each other`() throws {
    let shelf = try Shelf()
    let orders = FakeWebhook()
    let notices = FakeWebhook()
    let placed = try shelf.place()
    try Self.tell(shelf, 2)

    let sent = try shelf.send(orders)
    let told = try Self.send(shelf, notices)

    #expect(sent.delivered == placed && sent.counts[.queued, default: 0] == 0)
    #expect(told.delivered.count == 1 && told.counts[.delivered] == 1)
    #expect(orders.ids == placed.map(\.rawValue) && notices.ids.count == 1)
    #expect(try shelf.outbox().orders().count == 1)
  }

  @Test func `a message that Slack refuses for its pictures is sent without them`() throws {
    let shelf = try Shelf()
    let webhook = FakeWebhook {
      $0.body.contains("image_url") ? .status(400, body: "invalid_blocks") : .ok
    }
    try Self.tell(shelf, 2, .slack)

    let report = try Self.send(shelf, webhook, .slack)

    #expect(webhook.arrivals.count == 2 && report.delivered.count == 1)
    #expect(webhook.arrivals[0].body.contains("https://cdn.example/2.jpg"))
  }

  @Test(arguments: [(1, "1 price, 1 removed"), (2, "2 prices, 2 removed")])
  func `the heading counts changes in plain words`(_ count: Int, _ heading: String) {
    let changes = (0..<count).flatMap {
      [Self.change(Int64($0)), Notice.Change(.removed, section: "main", id: "B\($0)")]
    }
    let notice = Self.notice(changes, run: 2)

    #expect(notice.map(Language.english.summary) == heading)
  }

  @Test func `a thousand hostile changes make one message within Slack's limits`() throws {
    let changes = (0..<1000).map { number in
      var change = Self.change(Int64(number))
      change.title = String(repeating: "<!channel> & <@U1> \u{202E}\n\u{7}", count: 40)
      change.url = number % 2 == 0 ? "https://cdn.example/<\(number)>&.jpg" : "javascript:alert(1)"
      return change
    }
    let notice = try #require(Self.notice(changes, run: 9))

    for showsPictures in [true, false] {
      let message = OutgoingMessage(
        id: "ntc_1",
        content: .notice(notice, showsPictures: showsPictures)
      )
      let request = message.request(to: try Shelf.webhook(.slack), at: OrderTime(seconds: 0))
      let body = try #require(request?.body)
      let json = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      let blocks = try #require(json?["blocks"] as? [[String: Any]])
      #expect(blocks.count <= 50)
      var lines = 0
      for block in blocks {
        let text = (block["text"] as? [String: Any])?["text"] as? String ?? ""
        #expect(text.utf16.count <= (block["type"] as? String == "header" ? 150 : 3000))
        #expect(!text.contains("<") && !text.contains(">") && !text.contains("\u{202E}"))
        lines += text.split(separator: "\n").filter { $0.hasPrefix("• ") }.count
        let image = (block["accessory"] as? [String: Any])?["image_url"] as? String
        #expect(image?.hasPrefix("https://") != false)
      }
      #expect(lines == 50)
      #expect(String(decoding: body, as: UTF8.self).contains("외 950건"))
    }
  }

  @Test func `the counts of other changes stay within Slack's limits, however long the lines are`()
    throws
  {
    for length in 0...200 {
      let changes = (0..<120).map { number in
        var change = Self.change(Int64(number))
        change.title = String(repeating: "x", count: length)
        change.url = nil
        return change
      }
      var notice = try #require(Self.notice(changes, run: 9))
      notice.mayRepeat = true
      let content = OutgoingMessage.Content.notice(notice, showsPictures: false)
      let body = try #require(
        OutgoingMessage(id: "ntc_1", content: content)
          .request(to: try Shelf.webhook(.slack), at: OrderTime(seconds: 0))?.body
      )

      let json = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      let texts = try #require(json?["blocks"] as? [[String: Any]]).dropFirst().compactMap {
        ($0["text"] as? [String: Any])?["text"] as? String
      }
      #expect(texts.allSatisfy { (1...3000).contains($0.utf16.count) })
      #expect(texts.joined(separator: "\n").split(separator: "\n").count == 52)
    }
  }
}
