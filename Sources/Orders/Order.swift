import Catalog
import FoundationEssentials

/// An ordered item, with the catalog's title and price at the time of the order.
public struct OrderLine: Hashable, Sendable, Encodable {
  /// The item's id.
  public let item: String
  /// The title when the order was placed.
  public let title: String
  /// The price of one piece when the order was placed.
  public let price: Price
  /// The number of pieces.
  public let quantity: Int

  /// Makes a line.
  package init(item: String, title: String, price: Price, quantity: Int) {
    self.item = item
    self.title = title
    self.price = price
    self.quantity = quantity
  }
}

/// The part of an order that never changes after the order was placed.
///
/// An ``OrderRequest`` makes it.
package struct PlacedOrder: Hashable, Sendable {
  /// The id of the order.
  package let id: OrderID
  /// The name of the customer.
  package let by: String
  /// The ordered items.
  ///
  /// There is at least one.
  package let lines: [OrderLine]
  /// The price of all pieces together.
  package let total: Price
  /// The note of the customer.
  package let note: String?
  /// The language of messages about the order.
  package let language: Language
  /// The time at which the order was placed.
  package let placed: OrderTime

  /// The number of all pieces.
  package var quantity: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// A short text about the ordered items, for example "Tea × 2" or "Tea and 2 more".
  package var summary: String { language.summary(of: lines) }

  /// The customer, the total and the items in one line, for example `Kim – 15,200원 – Tea × 2`.
  package var text: String { "\(by) – \(total.formatted()) – \(summary)" }
}

/// The state of an order in the shop.
public enum OrderState: String, Sendable, CaseIterable {
  /// The order was placed.
  ///
  /// It can still be cancelled.
  case ordered
  /// The shop has begun to prepare the order.
  case preparing
  /// The order is ready to be collected.
  case ready
  /// The customer has collected the order.
  case collected
  /// The order was cancelled before the shop began to prepare it.
  case cancelled

  /// The next state.
  ///
  /// Nil if no state follows.
  package var next: OrderState? {
    switch self {
    case .ordered: .preparing
    case .preparing: .ready
    case .ready: .collected
    case .collected, .cancelled: nil
    }
  }

  /// Checks whether an order is allowed to change from this state to another one.
  ///
  /// - Parameter state: The new state.
  /// - Returns: Nil if the change is allowed. Otherwise the reason, for example "it was collected". Error messages end
  ///   with this text.
  package func refusal(of state: OrderState) -> String? {
    if state == next { return nil }
    if state == .cancelled, self == .ordered { return nil }
    switch (self, state) {
    case (.collected, _): return "it was collected"
    case (.cancelled, _): return "it was cancelled"
    case (_, .cancelled):
      return "it is already \(rawValue); only an order in the state ordered can be cancelled"
    case (_, .collected):
      return "it is \(rawValue); only an order in the state ready can be collected"
    default:
      return "it is \(rawValue); the next state is \(next?.rawValue ?? "none")"
    }
  }
}

/// A placed order, with its states and the messages about it.
public struct Order: Hashable, Sendable, Identifiable {
  /// A state that the order reached, and the time.
  package struct Change: Hashable, Sendable {
    /// The state.
    package let state: OrderState
    /// The time at which the order reached the state.
    package let time: OrderTime
  }

  /// A message to the webhook about the order, and the progress of the message's delivery.
  package struct Message: Hashable, Sendable {
    /// The id of the message, which the field `webhook-id` contains.
    package let id: String
    /// The state of the order about which the message informs the webhook.
    package let state: OrderState
    /// The progress of the delivery.
    package let delivery: Delivery
    /// All attempts to deliver the message.
    package let attempts: [Attempt]
  }

  /// An attempt to deliver a message.
  package struct Attempt: Hashable, Sendable {
    /// The time at which the attempt started.
    package let began: OrderTime
    /// The time at which the attempt ended.
    ///
    /// Nil if the attempt has not ended, or if the time is not known.
    package let ended: OrderTime?
    /// The outcome as ``AttemptOutcome/words``, for example `failed http-500`.
    ///
    /// Nil if it is not known.
    package let outcome: String?

    /// Whether the message may have arrived in this attempt although larder received no valid response.
    package var mayHaveArrived: Bool { outcome?.hasPrefix("unknown") ?? true }
  }

  /// The part of the order that never changes.
  package let order: PlacedOrder
  /// All states so far.
  ///
  /// The first one is `ordered`.
  package let history: [Change]
  /// The messages about the order.
  ///
  /// The first one is about the state `ordered`.
  package let messages: [Message]

  /// The id of the order: `ord_` and 26 digits.
  ///
  /// The ids of later orders are greater.
  public var id: OrderID { order.id }
  /// The name of the customer.
  public var by: String { order.by }
  /// The ordered items.
  ///
  /// There is at least one.
  public var lines: [OrderLine] { order.lines }
  /// The price of all pieces together.
  public var total: Price { order.total }
  /// The note of the customer.
  public var note: String? { order.note }
  /// The time at which the order was placed.
  public var placed: Date { Date(order.placed) }
  /// The present state of the order.
  public var state: OrderState { history.last?.state ?? .ordered }

  /// Whether the first message may have arrived although larder received no valid response.
  package var mayHaveArrived: Bool {
    messages.first?.attempts.contains(where: \.mayHaveArrived) ?? false
  }

  /// Whether the webhook has received the first message, or may have received it.
  package var mayBeKnown: Bool { delivery.state == .delivered || mayHaveArrived }

  /// The delivery of the first message, which is about the state `ordered`.
  public var delivery: Delivery { messages.first?.delivery ?? Delivery(due: order.placed) }
}

/// The number of messages in each state of delivery; a state without messages is missing.
package typealias DeliveryCounts = [Delivery.State: Int]

extension DeliveryCounts {
  /// The number of messages that are not delivered and not given up.
  package var waiting: Int { self[.queued, default: 0] + self[.sending, default: 0] }
}
