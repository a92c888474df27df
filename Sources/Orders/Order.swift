import Catalog
import FoundationEssentials

/// A line of an order, as the catalog had it when the order was placed.
public struct OrderLine: Hashable, Sendable {
  /// The item's id.
  public let item: String
  /// Its title at the time of the order.
  public let title: String
  /// The price of one piece.
  public let price: Price
  /// How many.
  public let quantity: Int

  /// Makes a line.
  package init(item: String, title: String, price: Price, quantity: Int) {
    self.item = item
    self.title = title
    self.price = price
    self.quantity = quantity
  }
}

/// The customer, the items and the total: fixed once it is placed.
package struct PlacedOrder: Hashable, Sendable {
  /// Its name.
  package let id: OrderID
  /// Who ordered.
  package let by: String
  /// The ordered items; never empty.
  package let lines: [OrderLine]
  /// The sum over all positions.
  package let total: Price
  /// The customer's note.
  package let note: String?
  /// The language of its messages.
  package let language: Language
  /// When it was placed.
  package let placed: OrderTime

  /// Makes an order of parts that were checked before; see ``OrderRequest``.
  init(
    id: OrderID,
    by: String,
    lines: [OrderLine],
    total: Price,
    note: String?,
    language: Language,
    placed: OrderTime
  ) {
    self.id = id
    self.by = by
    self.lines = lines
    self.total = total
    self.note = note
    self.language = language
    self.placed = placed
  }

  /// How many pieces in all.
  package var quantity: Int { lines.reduce(0) { $0 + $1.quantity } }

  /// The lines in short: the only title with its number, or the first and the number of others.
  package var summary: String { language.summary(of: lines) }

  /// The same in a language.
  package func summary(in language: Language) -> String { language.summary(of: lines) }
}

/// How far the shop is with an order.
public enum OrderState: String, Sendable, CaseIterable {
  /// Placed; may still be cancelled.
  case ordered
  /// Work on it has begun.
  case preparing
  /// Waits to be collected.
  case ready
  /// Handed over.
  case collected
  /// Given up before anybody worked on it.
  case cancelled

  /// The state that one step leads to; nil at an end.
  package var next: OrderState? {
    switch self {
    case .ordered: .preparing
    case .preparing: .ready
    case .ready: .collected
    case .collected, .cancelled: nil
    }
  }

  /// Judges a move.
  ///
  /// - Parameter state: where to.
  /// - Returns: Why it is refused; nil when it is allowed.
  package func refusal(of state: OrderState) -> String? {
    if state == next { return nil }
    if state == .cancelled, self == .ordered { return nil }
    switch (self, state) {
    case (.collected, _): return "it was collected"
    case (.cancelled, _): return "it was cancelled"
    case (_, .cancelled): return "it is \(rawValue) already, and only an ordered one can go"
    case (_, .collected): return "it is \(rawValue), and only a ready one can be collected"
    default:
      return "it is \(rawValue), from where one step leads to \(next?.rawValue ?? "nothing")"
    }
  }
}

/// An order that was placed, with its delivery state.
public struct Order: Hashable, Sendable, Identifiable {
  /// A state that it came into, and when.
  package struct Change: Hashable, Sendable {
    /// The state.
    package let state: OrderState
    /// When.
    package let time: OrderTime
  }

  /// A message about it, and how far that is.
  package struct Message: Hashable, Sendable {
    /// Its name, the value of `webhook-id`.
    package let id: String
    /// The state that it reports.
    package let state: OrderState
    /// How far it is.
    package let delivery: Delivery
    /// Every attempt to deliver it.
    package let attempts: [Attempt]
  }

  /// An attempt to deliver a message.
  package struct Attempt: Hashable, Sendable {
    /// When it began.
    package let began: OrderTime
    /// When it ended; nil while it is under way, or when that is unknown.
    package let ended: OrderTime?
    /// How it ended, in a few words: ``AttemptOutcome/words``.
    package let outcome: String?

    /// Whether it is unknown if it arrived.
    package var mayHaveArrived: Bool { outcome?.hasPrefix("unknown") ?? true }
  }

  /// The order as it was placed.
  package let order: PlacedOrder
  /// Every state so far, the first being `ordered`.
  package let history: [Change]
  /// The messages about it, the first being about its placing.
  package let messages: [Message]

  /// Its id: `ord_` and 26 digits, which sort as the orders were placed.
  public var id: OrderID { order.id }
  /// Who ordered.
  public var by: String { order.by }
  /// The ordered items; never empty.
  public var lines: [OrderLine] { order.lines }
  /// The sum over all lines.
  public var total: Price { order.total }
  /// The customer's note.
  public var note: String? { order.note }
  /// When it was placed.
  public var placed: Date { Date(order.placed) }
  /// How far the shop is with it.
  public var state: OrderState { history.last?.state ?? .ordered }

  /// Whether an attempt to tell of its placing may have arrived.
  package var mayHaveArrived: Bool {
    messages.first?.attempts.contains(where: \.mayHaveArrived) ?? false
  }

  /// How far the message about its placing is.
  public var delivery: Delivery { messages.first?.delivery ?? Delivery(queuedAt: order.placed) }
}

/// How many messages there are in each state of delivery, those of cancelled orders left out.
package struct DeliveryCounts: Hashable, Sendable {
  private let counts: [Delivery.State: Int]

  /// Makes counts.
  init(_ counts: [Delivery.State: Int]) {
    self.counts = counts
  }

  /// The number in a state.
  package subscript(state: Delivery.State) -> Int { counts[state, default: 0] }
}
