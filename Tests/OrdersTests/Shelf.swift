import Base
import Catalog
import CurlTransport
import GRDB
import Support
import Synchronization
import Transport

@testable import Orders

/// An outbox in its own folder, with a clock that stands still except during waits.
final class Shelf: Sendable {
  let folder: TemporaryFolder
  let clock: VirtualClock
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    clock = VirtualClock()
    path = folder.path("state/orders.sqlite")
  }

  /// Opens the outbox again, as another process would.
  func outbox() throws -> Outbox { try Outbox(path) }

  /// Places a number of orders.
  ///
  /// Each order has one item.
  @discardableResult
  func place(_ count: Int = 1, by name: String = "지연", note: String? = nil) throws -> [OrderID] {
    let outbox = try outbox()
    return try (0..<count).map { _ in
      let order = Self.order(by: name, note: note, at: clock.now())
      try outbox.place(order)
      return order.id
    }
  }

  /// Runs a sender once.
  func send(
    _ transport: any Fetching,
    _ payload: PayloadKind = .json,
    policy: AmbiguityPolicy? = nil,
    url: String = Shelf.url,
    _ change: (inout WebhookSender.Limits) -> Void = { $0.patience = 0 }
  ) throws -> SendReport {
    var limits = WebhookSender.Limits()
    change(&limits)
    return try WebhookSender(
      outbox(),
      to: Self.webhook(payload, url: url),
      policy: policy ?? payload.defaultPolicy,
      limits: limits,
      transport: transport,
      clock: clock,
      random: { 0.5 }
    ).run()
  }

  /// Changes rows of the outbox with SQL.
  func change(_ sql: String) throws {
    try DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
  }

  static let url = "https://hooks.example/services/T0/B0/s3cret"

  static func webhook(_ payload: PayloadKind, url: String = Shelf.url) throws -> Webhook {
    try Webhook(url, payload: payload, parser: CurlURLParser())
  }

  static func order(
    by name: String = "지연",
    lines: [OrderLine] = [line("A1")],
    note: String? = nil,
    language: Language = .korean,
    at time: OrderTime = OrderTime(seconds: 1_700_000_000)
  ) -> PlacedOrder {
    PlacedOrder(
      id: OrderID(at: time),
      by: name,
      lines: lines,
      total: Price(
        minorUnits: lines.reduce(0) { $0 + $1.price.minorUnits * $1.quantity },
        currency: "KRW"
      ),
      note: note,
      language: language,
      placed: time
    )
  }

  static func line(_ item: String, title: String = "불고기", _ quantity: Int = 1) -> OrderLine {
    OrderLine(
      item: item,
      title: title,
      price: Price(minorUnits: 5200, currency: "KRW"),
      quantity: quantity
    )
  }
}

/// A clock that stands still.
///
/// A wait returns at once, and sets the clock to the end of the wait.
final class VirtualClock: SenderClock {
  private let moment = Mutex(OrderTime(seconds: 1_700_000_000))

  func now() -> OrderTime { moment.withLock { $0 } }

  func wait(until moment: OrderTime) { self.moment.withLock { $0 = max($0, moment) } }

  func stop() {}

  /// Moves the clock forwards or backwards.
  func advance(seconds: Int64) { moment.withLock { $0 = $0 + seconds * 1000 } }
}

/// A webhook in memory that records the messages.
///
/// A closure chooses the response to each message.
final class FakeWebhook: Fetching {
  /// The result of one attempt.
  enum Answer: Sendable {
    case ok
    case status(Int, body: String = "", retryAfter: Int64? = nil)
    case reset
    case refused
  }

  /// A message that arrived.
  struct Arrival: Sendable {
    let id: String
    let body: String
    let number: Int
  }

  private let arrived = Mutex<[Arrival]>([])
  private let script: @Sendable (Arrival) -> Answer

  init(_ script: @escaping @Sendable (Arrival) -> Answer = { _ in .ok }) {
    self.script = script
  }

  var arrivals: [Arrival] { arrived.withLock { $0 } }
  var ids: [String] { arrivals.map(\.id) }

  func cancelAll() {}

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try CurlURLParser.parse(text, relativeTo: base)
  }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let arrival = arrived.withLock { arrived in
      let arrival = Arrival(
        id: request.headers["Idempotency-Key"] ?? "",
        body: String(decoding: request.body ?? [], as: UTF8.self),
        number: arrived.count
      )
      arrived.append(arrival)
      return arrival
    }
    var failure = TransferFailure(reason: .reset, url: "https://hooks.example/***", attempts: 1)
    switch script(arrival) {
    case .ok: return succeed("ok", 200, request, sink, completion)
    case .status(let status, let body, _) where (200...299).contains(status):
      return succeed(body, status, request, sink, completion)
    case .status(let status, let body, let retryAfter):
      failure.reason = .http(status)
      failure.status = status
      failure.mayHaveBeenSent = true
      failure.retryAfter = retryAfter
      failure.refusal = Array(body.utf8)
    case .reset: failure.mayHaveBeenSent = true
    case .refused: failure.reason = .connectRefused
    }
    completion(.failure(failure))
  }

  private func succeed(
    _ body: String,
    _ status: Int,
    _ request: Request,
    _ sink: any BodySink,
    _ completion: (Result<Response, TransferFailure>) -> Void
  ) {
    let head = ResponseHead(status: status, headers: [:], url: request.url)
    _ = sink.begin(head, at: 0)
    _ = sink.receive(Array(body.utf8).span.bytes)
    let count = ByteCount(body.utf8.count)
    completion(.success(Response(head: head, bodyBytes: count, wireBytes: count)))
  }
}
