import Catalog
import FoundationEssentials

/// An ordered item, with the catalog's title and price at the time of the order.
public struct OrderLine: Hashable, Sendable, Encodable {
  /// The item's id.
  public let item: String
  /// The title at the time of the order.
  public let title: String
  /// The price of one piece.
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

/// The data of an order that never changes once it is placed: the customer, the items and the total.
package struct PlacedOrder: Hashable, Sendable {
  /// The order's id.
  package let id: OrderID
  /// The customer's name.
  package let by: String
  /// The ordered items; never empty.
  package let lines: [OrderLine]
  /// The sum of all lines.
  package let total: Price
  /// The customer's note.
  package let note: String?
  /// The language of messages about the order.
  package let language: Language
  /// When the order was placed.
  package let placed: OrderTime

  /// The number of pieces in all lines.
  package var quantity: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// A short text about the lines, such as "Tea × 2", or "Tea and 2 more".
  package var summary: String { language.summary(of: lines) }

  /// The summary in another language.
  package func summary(in language: Language) -> String { language.summary(of: lines) }
}

/// The state of an order in the shop.
public enum OrderState: String, Sendable, CaseIterable {
  /// The order is placed, and can still be cancelled.
  case ordered
  /// The shop has begun to prepare the order.
  case preparing
  /// The order is ready to be collected.
  case ready
  /// The customer has collected the order.
  case collected
  /// The order was cancelled before the shop began to prepare it.
  case cancelled

  /// The next state; nil for a final state.
  package var next: OrderState? {
    switch self {
    case .ordered: .preparing
    case .preparing: .ready
    case .ready: .collected
    case .collected, .cancelled: nil
    }
  }

  /// Checks a change of state.
  ///
  /// - Parameter state: The new state.
  /// - Returns: The reason for a refusal, which ends a message such as "cannot advance ORDER: "; nil when the change is
  ///   allowed.
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

/// A placed order, with its states and messages.
public struct Order: Hashable, Sendable, Identifiable {
  /// A change of the order's state.
  package struct Change: Hashable, Sendable {
    /// The new state.
    package let state: OrderState
    /// The time of the change.
    package let time: OrderTime
  }

  /// A message about the order, and its delivery.
  package struct Message: Hashable, Sendable {
    /// The message's id, the value of `webhook-id`.
    package let id: String
    /// The order's state that the message reports.
    package let state: OrderState
    /// The state of the message's delivery.
    package let delivery: Delivery
    /// Every attempt to deliver the message.
    package let attempts: [Attempt]
  }

  /// An attempt to deliver a message.
  package struct Attempt: Hashable, Sendable {
    /// When the attempt began.
    package let began: OrderTime
    /// When the attempt ended; nil while it is under way, or when the time is unknown.
    package let ended: OrderTime?
    /// The outcome as ``AttemptOutcome/words``, such as `failed http-500`.
    package let outcome: String?

    /// Whether the message may have arrived although no answer came.
    package var mayHaveArrived: Bool { outcome?.hasPrefix("unknown") ?? true }
  }

  /// The order as it was placed.
  package let order: PlacedOrder
  /// All states so far; the first is `ordered`.
  package let history: [Change]
  /// The messages about the order; the first one reports that the order was placed.
  package let messages: [Message]

  /// The order's id: `ord_` and 26 digits, which sort by the time of placing.
  public var id: OrderID { order.id }
  /// The customer's name.
  public var by: String { order.by }
  /// The ordered items; never empty.
  public var lines: [OrderLine] { order.lines }
  /// The sum of all lines.
  public var total: Price { order.total }
  /// The customer's note.
  public var note: String? { order.note }
  /// When the order was placed.
  public var placed: Date { Date(order.placed) }
  /// The order's present state in the shop.
  public var state: OrderState { history.last?.state ?? .ordered }

  /// Whether the first message may have arrived although no answer came.
  package var mayHaveArrived: Bool {
    messages.first?.attempts.contains(where: \.mayHaveArrived) ?? false
  }

  /// The delivery of the first message, which reports that the order was placed.
  public var delivery: Delivery { messages.first?.delivery ?? Delivery(queuedAt: order.placed) }
}

/// The number of messages in each state of delivery, without unsent messages of cancelled orders.
package struct DeliveryCounts: Hashable, Sendable {
  private let counts: [Delivery.State: Int]

  /// Makes counts.
  init(_ counts: [Delivery.State: Int]) {
    self.counts = counts
  }

  /// The number of messages in a state.
  package subscript(state: Delivery.State) -> Int { counts[state, default: 0] }
}
