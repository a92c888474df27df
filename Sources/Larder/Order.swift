import Catalog
import CurlTransport
import FoundationEssentials
import Orders

/// What somebody wants to order.
public struct OrderRequest: Sendable, Hashable {
  /// An item and how many of it.
  public struct Item: Sendable, Hashable {
    /// The item's id.
    public var id: String
    /// How many, from 1 to 1,000,000.
    public var quantity: Int

    /// So many of an item.
    public init(_ id: String, quantity: Int = 1) {
      self.id = id
      self.quantity = quantity
    }
  }

  /// Who orders, 1 to 200 characters.
  public var by: String
  /// What is wanted, in order.
  public var items: [Item]
  /// What else there is to say.
  public var note: String?
  /// The most that may be spent, in the catalog's currency.
  public var budget: Price?
  /// Whether what is sold out is ordered all the same.
  public var allowsSoldOut = false
  /// The locale that people read the order in, such as `ko_KR`; English unless Korean.
  public var locale = "en_US"

  /// A request without note and budget.
  public init(by: String, items: [Item]) {
    self.by = by
    self.items = items
  }
}

/// An order that was placed, and what became of it.
public struct Order: Sendable, Hashable, Identifiable {
  /// One position, as the catalog had it when the order was placed.
  public struct Line: Sendable, Hashable {
    /// The item's id.
    public let item: String
    /// What it was called.
    public let title: String
    /// What one of it cost.
    public let price: Price
    /// How many.
    public let quantity: Int
  }

  /// How far the shop is with it.
  public enum State: String, Sendable, Hashable {
    /// Placed; may still be cancelled.
    case ordered
    /// Somebody works on it.
    case preparing
    /// Waits to be collected.
    case ready
    /// Handed over.
    case collected
    /// Given up before anybody worked on it.
    case cancelled
  }

  /// How far its message is on its way to the webhook.
  public enum Delivery: String, Sendable, Hashable {
    /// Waits for its next attempt.
    case queued
    /// An attempt is under way, or ended with the process that made it.
    case sending
    /// The webhook took it.
    case delivered
    /// An attempt may have arrived, and somebody has to say whether to repeat it.
    case ambiguous
    /// Is not sent any more, unless it is replayed.
    case dead
  }

  /// Its id: `ord_` and 26 digits, which sort as the orders were placed.
  public let id: String
  /// Who ordered.
  public let by: String
  /// What is ordered.
  public let lines: [Line]
  /// The sum over all lines.
  public let total: Price
  /// What else there is to say.
  public let note: String?
  /// When it was placed.
  public let placed: Date
  /// How far the shop is with it.
  public let state: State
  /// How far its message is.
  public let delivery: Delivery
  /// How often its message was attempted.
  public let attempts: Int
  /// What the last attempt ran into, as a short word.
  public let lastError: String?
  /// When its message is attempted next.
  public let nextAttempt: Date?
}

extension Order {
  init(_ entry: OrderEntry) {
    let order = entry.order
    id = order.id.rawValue
    by = order.by
    lines = order.lines.map {
      Line(item: $0.item, title: $0.title, price: $0.price, quantity: $0.quantity)
    }
    total = order.total
    note = order.note
    placed = Date(order.placed)
    state =
      switch entry.state {
      case .ordered: .ordered
      case .preparing: .preparing
      case .ready: .ready
      case .collected: .collected
      case .cancelled: .cancelled
      }
    delivery = Delivery(entry.delivery.state)
    attempts = entry.delivery.attempts
    lastError = entry.delivery.lastError
    nextAttempt = entry.delivery.nextAttempt.map { Date($0) }
  }
}

extension Order.Delivery {
  fileprivate init(_ state: Orders.Delivery.State) {
    self =
      switch state {
      case .queued: .queued
      case .sending: .sending
      case .delivered: .delivered
      case .ambiguous: .ambiguous
      case .dead: .dead
      }
  }
}

extension Date {
  fileprivate init(_ time: OrderTime) {
    self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000)
  }
}

/// Where orders go.
///
/// The URL is a secret: it is never shown.
public struct Webhook: Sendable {
  let inner: Orders.Webhook
  /// Whether a message that may have arrived is sent again under the same id, and not held until
  /// somebody decides.
  public var resendsAmbiguous: Bool

  /// A Slack incoming webhook; what may have arrived is held.
  ///
  /// - Parameters:
  ///   - url: The webhook's URL, https or loopback.
  ///   - template: The words, with `{by}`, `{total}`, `{what}` and others in them; nil for
  ///     `{by} – {total} – {what}`.
  /// - Returns: The webhook.
  /// - Throws: ``LarderError`` with the code `argument`, which does not repeat the URL.
  public static func slack(_ url: String, template: String? = nil) throws(LarderError) -> Webhook {
    let inner = try LarderError.translating {
      try Orders.Webhook(
        url,
        payload: .slack,
        template: try template.map { try MessageTemplate($0) } ?? .standard,
        parser: CurlURLParser()
      )
    }
    return Webhook(inner: inner, resendsAmbiguous: false)
  }

  /// A receiver of JSON by Standard Webhooks 1.0; what may have arrived is sent again under its id.
  ///
  /// - Parameters:
  ///   - url: The receiver's URL, https or loopback.
  ///   - secrets: `whsec_…` secrets with white space between, all of which sign; nil to send unsigned.
  /// - Returns: The webhook.
  /// - Throws: ``LarderError`` with the code `argument`, which repeats neither.
  public static func json(_ url: String, secrets: String?) throws(LarderError) -> Webhook {
    let inner = try LarderError.translating {
      try Orders.Webhook(
        url,
        payload: .json,
        secrets: try secrets.map { try WebhookSecret.parse($0) } ?? [],
        parser: CurlURLParser()
      )
    }
    return Webhook(inner: inner, resendsAmbiguous: true)
  }
}

extension OrderBook {
  /// How far a delivery goes.
  public struct SendOptions: Sendable, Hashable {
    /// The most messages to attempt; nil for all that are due.
    public var attempts: Int?
    /// How long to wait for a message that is not due yet.
    public var patience = Duration.seconds(10)
    /// When an answer is given up.
    public var timeout = Duration.seconds(30)
    /// Start a webhook again that was stopped because it refused everything.
    public var resumes = false
    /// Trust the certificates in this PEM file in place of the system's.
    public var certificates: String?

    /// Everything that is due now or in ten seconds.
    public init() {}
  }

  /// What a delivery did, and what it leaves.
  public struct Delivery: Sendable, Hashable {
    /// The orders whose messages were delivered, in their order.
    public let delivered: [String]
    /// The orders whose messages were given up.
    public let dead: [String]
    /// The orders that somebody has to decide about, because they may have arrived.
    public let held: [String]
    /// How many messages wait for their next attempt.
    public let queued: Int
    /// Why the webhook takes nothing any more; nil while it does.
    public let stopped: String?
    /// Why the last attempt reached nobody; nil when it did.
    public let unreachable: String?
    /// When the next message is due, when that is too far away to wait for.
    public let nextDue: Date?
  }
}

extension OrderBook.Delivery {
  init(_ report: CourierReport) {
    delivered = report.delivered.map(\.rawValue)
    dead = report.dead.map(\.rawValue)
    held = report.held.map(\.rawValue)
    queued = report.counts[.queued]
    stopped = report.stopped
    unreachable = report.unreachable
    nextDue = report.nextDue.map { Date($0) }
  }
}
