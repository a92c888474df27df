import Base
import Catalog
import CurlTransport
import Foundation
import Testing

@testable import Orders

/// The messages sent to webhooks: signatures, text and Slack blocks.
@Suite struct PayloadTests {
  static func slack(_ order: PlacedOrder, _ state: OrderState = .ordered) throws -> [String: Any] {
    let message = OutgoingMessage(
      id: "m",
      content: .order(order, state, changed: order.placed)
    )
    let request = message.request(to: try Shelf.webhook(.slack), at: order.placed)
    let value = try JSONSerialization.jsonObject(with: Data(request?.body ?? []))
    return try #require(value as? [String: Any])
  }

  /// Every text value in a message.
  static func texts(_ value: Any) -> [String] {
    if let object = value as? [String: Any] { return object.values.flatMap(texts) }
    if let array = value as? [Any] { return array.flatMap(texts) }
    return (value as? String).map { [$0] } ?? []
  }

  @Test func `the test vector of Standard Webhooks is reproduced`() throws {
    let secrets = try WebhookSecret.parse(" whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")

    let signature = secrets[0].signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: Array(#"{"test": 2432232314}"#.utf8)
    )

    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(arguments: [
    "", "whsec_", "whsec_???", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_YQ== x",
    // A key of 23 bytes, and two keys of which the second is too short.
    "whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_YWFhYQ==",
  ])
  func `an invalid secret is refused without being repeated`(_ text: String) {
    let error = #expect(throws: LarderError.self) { try WebhookSecret.parse(text) }

    #expect(error?.code == .usage)
    if text.count > 7 { #expect(error?.description.contains(text.dropFirst(6)) == false) }
  }

  @Test func `an event carries its id, its time and a signature by each secret`() throws {
    let order = Shelf.order()
    let secrets = try WebhookSecret.parse(
      "whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh whsec_YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi"
    )
    let webhook = try Webhook(
      Shelf.url,
      payload: .json,
      secrets: secrets,
      parser: CurlURLParser()
    )
    let message = OutgoingMessage(
      id: order.id.rawValue,
      content: .order(order, .ordered, changed: order.placed)
    )

    let first = try #require(message.request(to: webhook, at: OrderTime(seconds: 1_700_000_005)))
    let again = try #require(message.request(to: webhook, at: OrderTime(seconds: 1_700_000_009)))

    #expect(first.headers["webhook-id"] == order.id.rawValue)
    #expect(first.headers["Idempotency-Key"] == order.id.rawValue)
    #expect(first.headers["webhook-timestamp"] == "1700000005")
    let body = try #require(first.body)
    let signatures = secrets.map {
      $0.signature(id: order.id.rawValue, timestamp: 1_700_000_005, body: body)
    }
    #expect(first.headers["webhook-signature"] == signatures.joined(separator: " "))
    #expect(again.body == body)
    #expect(again.headers["webhook-id"] == first.headers["webhook-id"])
    #expect(again.headers["webhook-signature"] != first.headers["webhook-signature"])
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.contains(#""type":"order.placed""#) && text.contains(order.id.rawValue))
    #expect(text.contains(#""total":{"currency":"KRW","minorUnits":5200}"#))
  }

  @Test func `the text gives the customer, the total and the items, with the unit once`() throws {
    #expect(try Self.slack(Shelf.order())["text"] as? String == "지연 – 5,200원 – 불고기")
    let lines = [Shelf.line("A", 2), Shelf.line("B"), Shelf.line("C")]
    let korean = try Self.slack(Shelf.order(lines: lines))
    let english = try Self.slack(Shelf.order(lines: lines, language: .english))
    #expect(korean["text"] as? String == "지연 – 20,800원 – 불고기 외 2건")
    #expect(english["text"] as? String == "지연 – 20,800원 – 불고기 and 2 more")
  }

  @Test func `no text can mention anybody, and exactly three characters are escaped`() throws {
    let attack = #"<!channel> <@U123> &amp; "x" </a> *b*"#
    let order = Shelf.order(
      by: attack,
      lines: [Shelf.line("A", title: attack)],
      note: attack
    )

    let message = try Self.slack(order)

    let escaped = #"&lt;!channel&gt; &lt;@U123&gt; &amp;amp; "x" &lt;/a&gt; *b*"#
    let texts = Self.texts(message)
    #expect(texts.filter { $0.contains(escaped) }.count >= 4)
    #expect(texts.contains(escaped))
    #expect(texts.allSatisfy { !$0.contains("<") && !$0.contains(">") })
    #expect(texts.contains { $0.contains(order.id.rawValue) })
  }

  @Test(arguments: [2998, 2999, 3000, 3001, 9000])
  func `shortening splits no grapheme and no entity`(_ count: Int) throws {
    for unit in ["a", "&", "👨‍👩‍👧‍👦", "각", "é"] {
      var text = SlackText(limit: 3000)
      let source = String(repeating: unit, count: count)
      text.append(source)

      let written = unit == "&" ? "&amp;" : unit
      let whole = String(repeating: written, count: count)
      #expect(text.value.utf16.count <= 3000)
      if whole.utf16.count <= 3000 {
        #expect(text.value == whole)
      } else {
        let kept = text.value.dropLast()
        #expect(text.value.last == "…")
        #expect(kept.utf16.count.isMultiple(of: written.utf16.count))
        #expect(kept.utf16.count > 2998 - 2 * written.utf16.count)
        #expect(whole.hasPrefix(kept))
      }
    }
  }

  @Test func `the longest order fits Slack's limits and keeps its id`() throws {
    let long = String(repeating: "길&<이", count: 2500)
    let lines = (0..<200).map { Shelf.line("A\($0)", title: long) }
    let order = Shelf.order(by: long, lines: lines, note: long)

    let message = try Self.slack(order)

    let blocks = try #require(message["blocks"] as? [[String: Any]])
    #expect(blocks.count <= 50)
    for block in blocks {
      let limit = block["type"] as? String == "header" ? 150 : 3000
      for text in Self.texts(block["text"] ?? "") { #expect(text.utf16.count <= limit) }
    }
    #expect(Self.texts(message).contains { $0.contains(order.id.rawValue) })
  }

  @Test(arguments: [
    ("https://hooks.example/x", true), ("http://127.0.0.1:8080/x", true),
    ("http://localhost/x", true), ("http://[::1]/x", true), ("http://hooks.example/s3cret", false),
    ("http://127.0.0.1.example/s3cret", false), ("ftp://hooks.example/s3cret", false),
    ("s3cret", false), ("", false), ("https://a/s3cret https://b/s3cret", false),
  ])
  func `a webhook must be https or on this machine, and is never repeated`(
    _ url: String,
    _ fits: Bool
  ) {
    let webhook = Result { try Shelf.webhook(.slack, url: url) }

    #expect(((try? webhook.get()) != nil) == fits)
    if case .failure(let error) = webhook { #expect(!"\(error)".contains("s3cret")) }
  }

  @Test(
    arguments: [
      (Int64(-5), "방금 전", "just now"), (59, "방금 전", "just now"), (60, "1분 전", "1 minute ago"),
      (200, "3분 전", "3 minutes ago"), (7200, "2시간 전", "2 hours ago"),
      (86_400, "1일 전", "1 day ago"), (2_592_000 * 2, "2개월 전", "2 months ago"),
      (31_536_000 * 3, "3년 전", "3 years ago"),
    ] as [(Int64, String, String)]
  )
  func `ages are readable`(_ seconds: Int64, _ korean: String, _ english: String) {
    #expect(Language(locale: "ko_KR.UTF-8").ago(seconds: seconds) == korean)
    #expect(Language(locale: "de_DE").ago(seconds: seconds) == english)
  }
}
