import CurlTransport
import SampleStore
import Support
import Testing

@testable import Orders

/// A webhook's behaviour and the resulting state of the order.
struct ReceiverCase: Sendable, CustomTestStringConvertible {
  let faults: String
  /// Effects that a fault script has no word for.
  let effects: [FaultEffect]
  let payload: PayloadKind
  let outcome: String
  /// The delay before the next attempt in seconds, if the answer determines it.
  let wait: Int64?

  init(_ faults: String, _ payload: PayloadKind, _ outcome: String, wait: Int64? = nil) {
    self.faults = faults
    effects = []
    self.payload = payload
    self.outcome = outcome
    self.wait = wait
  }

  init(_ effects: [FaultEffect], _ payload: PayloadKind, _ outcome: String) {
    faults = ""
    self.effects = effects
    self.payload = payload
    self.outcome = outcome
    wait = nil
  }

  var testDescription: String {
    "\(payload.rawValue): \(faults.isEmpty ? "\(effects)" : faults)"
  }

  /// The rules for the webhook.
  func script() throws -> FaultScript {
    let worded = faults.isEmpty ? [] : try FaultScript(text: "path=/orders \(faults)")
    return worded + effects.map { FaultRule("/orders", $0) }
  }
}

/// Deliveries to a webhook over a socket, with an answer for each documented state.
@Suite struct ReceiverTests {
  static let html = #"header="Content-Type: text/html" body="<html>Sign in</html>""#
  /// `ok` as a gzip file with one block that is stored.
  static let gzip: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1, 2, 0, 0xFD, 0xFF, 0x6F, 0x6B, 0x47, 0xDD, 0xDC, 0x79,
    2, 0, 0, 0,
  ]

  static let cases: [ReceiverCase] = [
    // Answers that mean that the order was taken.
    ReceiverCase("", .slack, "delivered"),
    ReceiverCase("", .json, "delivered"),
    ReceiverCase("status=201", .slack, "delivered"),
    ReceiverCase("status=204", .json, "delivered"),
    ReceiverCase([.chunked], .slack, "delivered"),
    ReceiverCase(#"header="Content-Encoding: utf-8""#, .slack, "delivered"),
    ReceiverCase([.wrongLength(5)], .slack, "delivered"),
    ReceiverCase("truncate=1", .json, "delivered"),
    ReceiverCase("drip=1", .json, "delivered"),
    ReceiverCase(html, .json, "delivered"),
    // Answers that mean that the order was not taken, but may be later.
    ReceiverCase(#"status=301 header="Location: /elsewhere""#, .slack, "failed http-301", wait: 0),
    ReceiverCase(#"status=307 header="Location: /orders""#, .json, "failed http-307", wait: 0),
    ReceiverCase("status=500", .json, "failed http-500", wait: 0),
    ReceiverCase("status=408", .json, "failed http-408", wait: 0),
    ReceiverCase("status=429", .slack, "failed http-429", wait: 0),
    ReceiverCase("status=429 retry-after=7", .slack, "failed http-429", wait: 7),
    ReceiverCase("status=503 retry-after=soon", .json, "failed http-503", wait: 0),
    ReceiverCase("status=503 retry-after=-5", .json, "failed http-503", wait: 0),
    ReceiverCase(
      #"status=503 retry-after="Wed, 21 Oct 2065 07:28:00 GMT""#,
      .json,
      "failed http-503",
      wait: 86_400
    ),
    ReceiverCase("status=503 retry-after=1000000000", .json, "failed http-503", wait: 86_400),
    // Answers that mean that the order will never be taken.
    ReceiverCase("status=400", .json, "refused http-400"),
    ReceiverCase("status=400 body=invalid_payload", .slack, "refused http-400 invalid_payload"),
    ReceiverCase("status=413", .json, "refused http-413"),
    ReceiverCase("status=422", .json, "refused http-422"),
    // Answers after which no message is sent.
    ReceiverCase("status=401", .json, "stopped http-401"),
    ReceiverCase(
      "status=403 body=action_prohibited",
      .slack,
      "stopped http-403 action_prohibited"
    ),
    ReceiverCase("status=404 body=no_service", .slack, "stopped http-404 no_service"),
    ReceiverCase("status=410", .json, "stopped http-410"),
    // Answers that leave it unknown whether the order arrived.
    ReceiverCase(html, .slack, "unknown reply-not-ok"),
    ReceiverCase("body=okay", .slack, "unknown reply-not-ok"),
    ReceiverCase(
      [.header("Content-Encoding", "gzip"), .body(gzip)],
      .slack,
      "unknown reply-not-ok"
    ),
    ReceiverCase(#"status=302 header="Location: /thanks""#, .slack, "unknown http-302"),
    ReceiverCase(#"status=303 header="Location: /thanks""#, .json, "unknown http-303"),
    ReceiverCase("status=502", .slack, "unknown http-502"),
    ReceiverCase("status=502 retry-after=7", .json, "unknown http-502"),
    ReceiverCase("status=504", .slack, "unknown http-504"),
    ReceiverCase("status=524", .json, "unknown http-524"),
    ReceiverCase("reset", .slack, "unknown reset"),
    ReceiverCase("close", .json, "unknown reset"),
    ReceiverCase("delay=5", .slack, "unknown timeout-total"),
    ReceiverCase("hang", .json, "unknown timeout-total"),
    ReceiverCase("truncate=1", .slack, "unknown truncated"),
    ReceiverCase("drip=1", .slack, "unknown timeout-total"),
  ]

  @Test(arguments: cases)
  func `each answer leads to its documented state, and the order is sent once`(
    _ receiver: ReceiverCase
  ) throws {
    let store = try SampleStore(SampleContent(), faults: receiver.script())
    defer { store.stop() }
    let shelf = try Shelf()
    let id = try shelf.place()[0].rawValue

    let report = try send(shelf, store.baseURL + "/orders", receiver.payload)

    let message = try shelf.outbox().order(id).messages[0]
    let states: [String: Delivery.State] = [
      "delivered": .delivered, "failed": .queued, "refused": .dead, "stopped": .queued,
      "unknown": .ambiguous,
    ]
    let kind = String(receiver.outcome.prefix { $0 != " " })
    #expect(message.attempts.map(\.outcome) == [receiver.outcome])
    #expect(message.delivery.state == states[kind])
    #expect((report.stopped != nil) == (kind == "stopped"))
    #expect(store.orders.count == 1)
    #expect(store.requests.allSatisfy { $0.path == "/orders" })
    if let wait = receiver.wait {
      let next = try #require(message.delivery.due)
      #expect((next - shelf.clock.now()) / 1000 == wait)
    }
  }

  @Test func `an unreachable receiver is distinguished from one that may have taken the order`()
    throws
  {
    let store = try SampleStore(SampleContent())
    let plain = store.baseURL + "/orders"
    let shelf = try Shelf()
    let id = try shelf.place()[0].rawValue

    let secured = try send(shelf, plain.replacing("http:", with: "https:"), .json)
    let closed = try ClosedPort()
    let gone = try send(shelf, closed.baseURL + "/orders", .json)

    #expect(secured.unreachable?.isEmpty == false)
    #expect(gone.unreachable == "connect-refused")
    #expect(try shelf.outbox().order(id).delivery.state == .queued)
    #expect(store.orders.isEmpty)
  }

  /// Sends once, with a patience of a third of a second.
  private func send(_ shelf: Shelf, _ url: String, _ payload: PayloadKind) throws
    -> SendReport
  {
    var options = TransportOptions()
    options.retry.retries = 0
    options.transferTimeout = .milliseconds(300)
    let transport = try CurlTransport(options)
    defer { transport.shutdown() }
    return try shelf.send(transport, payload, policy: .hold, url: url) {
      $0.attempts = 1
      $0.patience = 0
    }
  }
}
