import Base
import Cache
import Catalog
import CurlTransport
import Dispatch
import FoundationEssentials
import Orders
import Pipeline
import Transport

/// The orders and their delivery state, in one file outside every cache.
///
/// An order that ``place(_:from:)`` returned survives any crash and power cut. ``send(to:_:)`` sends orders in the
/// sequence in which they were placed. Any number of processes can use one file.
///
/// If the webhook does not answer a message, it is unknown whether the message arrived. ``Webhook/resendsAmbiguous``
/// decides whether such a message is sent again, or held until you decide. The report lists it in both cases.
public struct OrderBook: Sendable {
  /// The path of the file.
  ///
  /// The first order creates the file.
  public let path: String
  private let clock: @Sendable () -> Date
  private let transport: (any ShopTransport)?

  /// Makes an order book from the path of its file.
  ///
  /// The file is not opened yet.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - transport: A transport that delivers orders instead of the network, for example in tests.
  ///   - clock: The source of the present time. Pass nil to use the clock of this machine.
  public init(
    _ path: String,
    transport: (any ShopTransport)? = nil,
    clock: (@Sendable () -> Date)? = nil
  ) {
    self.path = path
    self.transport = transport
    self.clock = clock ?? { Date() }
  }

  /// Places an order for a shop's items, at the prices of the last sync.
  ///
  /// - Parameters:
  ///   - request: The items, and the customer.
  ///   - shop: The shop that sells the items.
  /// - Returns: The order. It is safely on disk.
  /// - Throws: ``LarderError``. The code is `not-found` if no section lists an item, `argument` if a name or a number
  ///   is invalid, and `refused` if an item is sold out or has no price, or if the total exceeds the budget.
  @discardableResult
  public func place(_ request: OrderRequest, from shop: Shop) async throws(LarderError) -> Order {
    try await Blocking.run { _ in
      let order = try request.order(from: shop.reader(), at: now)
      let outbox = try Outbox(path)
      try outbox.place(order)
      return try outbox.order(order.id.rawValue)
    }
  }

  /// All orders, the oldest first.
  public func orders() async throws(LarderError) -> [Order] {
    try await Blocking.run { _ in
      try Outbox.existing(path)?.orders() ?? []
    }
  }

  /// Cancels an order that the shop has not begun to prepare.
  ///
  /// If the order's message is still unsent, it is never sent.
  ///
  /// - Parameter id: The order's id, or the beginning of the id.
  /// - Returns: The order afterwards.
  /// - Throws: ``LarderError`` with the code `refused` when the shop has already begun to prepare the order.
  @discardableResult
  public func cancel(_ id: OrderID) async throws(LarderError) -> Order {
    try await Blocking.run { _ in
      try Outbox(path).move(id.rawValue, to: .cancelled, posting: false, at: now)
    }
  }

  /// Delivers the messages about orders that are due to a webhook.
  ///
  /// If the task is cancelled, no further attempt starts, and the present attempt waits at most one second for its
  /// answer.
  ///
  /// - Parameters:
  ///   - webhook: The webhook that receives the orders.
  ///   - options: The limits of the delivery.
  /// - Returns: The delivered orders, and the orders that could not be delivered.
  /// - Throws: ``LarderError`` when the file cannot be used. If the webhook cannot be reached, that is not an error,
  ///   but a part of the result.
  @discardableResult
  public func send(
    to webhook: Webhook,
    _ options: SendOptions = SendOptions()
  ) async throws(LarderError) -> SendReport {
    try await Blocking.run { stop in try send(to: webhook, options, stop) }
  }

  private func send(
    to webhook: Webhook,
    _ options: SendOptions,
    _ stop: StopFlag
  ) throws -> SendReport {
    guard let outbox = try Outbox.existing(path) else { return SendReport() }
    var limits = WebhookSender.Limits()
    limits.attempts = options.attempts ?? .max
    limits.patience = Int64(clamping: options.patience.components.seconds) * 1000
    var network = TransportOptions.sender(timeout: options.timeout)
    network.caFile = options.certificates
    return try transport.use {
      network
    } _: { transport in
      let sender = WebhookSender(
        outbox,
        to: webhook.inner,
        policy: webhook.resendsAmbiguous ? .resend : .hold,
        limits: limits,
        transport: transport,
        clock: SystemSenderClock { now }
      )
      stop.whenRaised { sender.end(within: .seconds(1), transport) }
      if options.resumes { try outbox.resume(webhook.inner) }
      return try sender.run()
    }
  }

  private var now: OrderTime { OrderTime(clock()) }
}

extension OrderBook {
  /// The limits and settings of a delivery.
  public struct SendOptions: Sendable, Hashable {
    /// The maximum number of messages to send.
    ///
    /// If it is nil, all messages that are due are sent.
    public var attempts: Int?
    /// How long to wait for a message that is due later.
    public var patience = Duration.seconds(10)
    /// How long to wait for the answer to a message before the attempt fails.
    public var timeout = Duration.seconds(30)
    /// Whether to send to a webhook again that was stopped because it refused every message.
    public var resumes = false
    /// The path of a PEM file with the certificates to trust instead of the system's.
    public var certificates: String?

    /// Makes options that deliver every message that is due now or within ten seconds.
    public init() {}
  }
}

extension WebhookSender {
  /// Ends the run of a sender.
  ///
  /// No further attempt starts, and the present attempt waits at most `grace` for its answer.
  package func end(within grace: DispatchTimeInterval, _ transport: any Fetching) {
    stop()
    DispatchQueue.global().asyncAfter(deadline: .now() + grace) { transport.cancelAll() }
  }
}

extension TransportOptions {
  /// Options for a transport that makes no pauses and no retries, because ``WebhookSender`` makes both.
  ///
  /// - Parameter timeout: How long to wait for an answer.
  /// - Returns: The options.
  package static func sender(timeout: Duration) -> TransportOptions {
    var options = TransportOptions()
    options.parallel = .fixed(1)
    options.retry.retries = 0
    options.retry.longestRetryAfter = .zero
    options.breaker.failures = .max
    options.transferTimeout = timeout
    options.connectTimeout = min(.seconds(10), timeout)
    return options
  }
}

extension OrderRequest {
  /// The order with the prices of the last sync; it is not yet in the outbox.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - now: The time of the order.
  ///   - chance: The random part of the order's id. Pass nil to draw a new one.
  /// - Returns: The order.
  /// - Throws: ``LarderError`` when the catalog lacks an item or cannot be read, or when an item cannot be ordered.
  package func order(
    from reader: CatalogReader,
    at now: OrderTime,
    chance: OrderID.Nonce? = nil
  ) throws -> PlacedOrder {
    var found: [ExactText: StoreItem] = [:]
    for wish in items where found[wish.id.exact] == nil {
      if let shown = try reader.show(wish.id) {
        found[wish.id.exact] = shown.item
        continue
      }
      let near = try reader.nearestIDs(to: wish.id)
      throw LarderError(
        .notFound,
        "cannot order \(wish.id): no section of \(reader.catalog.name) lists it"
          + (near.isEmpty ? "" : "; nearest are \(near.joined(separator: ", "))"),
        thing: wish.id
      )
    }
    return try order(found, id: OrderID(at: now, chance: chance ?? OrderID.Nonce()), at: now)
  }
}
