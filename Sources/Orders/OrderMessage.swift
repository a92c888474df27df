import Base
import Catalog
import FoundationEssentials
import Transport

/// One message about one order: its placing, or a change that was to be posted too.
package struct OrderMessage: Hashable, Outgoing {
  /// Its name over all attempts, the value of `webhook-id` and `Idempotency-Key`.
  package let id: String
  /// The order.
  package let order: PlacedOrder
  /// The state that it reports.
  package let state: OrderState
  /// When the order came into that state.
  package let changed: OrderTime

  var subject: OrderID { order.id }

  /// The name of a message: the order's own for its placing.
  static func name(_ order: OrderID, _ state: OrderState) -> String {
    state == .ordered ? order.rawValue : "\(order.rawValue)_\(state.rawValue)"
  }

  /// The longest answer that is looked at, in bytes.
  static let replyLimit = ByteCount.mebibytes(1)

  /// The request of one attempt.
  ///
  /// - Parameters:
  ///   - webhook: where to.
  ///   - now: when, for the signature.
  /// - Returns: The request; nil when the message cannot be written as JSON.
  func request(to webhook: Webhook, at now: OrderTime) -> Request? {
    let body =
      switch webhook.payload {
      case .slack: SlackPayload(order, state, webhook.template).json()
      case .json: EventPayload(order, state, at: changed).json()
      }
    return body.map { request(to: webhook, $0, at: now) }
  }
}

/// A message for programs: type, time and data. (Standard Webhooks 1.0, "Webhook payload")
///
/// A pure function of the order and of the change, so that every attempt sends equal bytes.
struct EventPayload: Encodable {
  private struct Item: Encodable {
    let id: String
    let title: String
    let quantity: Int
    let price: Price
  }

  private struct Body: Encodable {
    let order: String
    let by: String
    let note: String?
    let state: String
    let total: Price
    let items: [Item]
    let placed: String
  }

  private let type: String
  private let timestamp: String
  private let data: Body

  /// Writes a message.
  ///
  /// - Parameters:
  ///   - order: the order.
  ///   - state: the state that the message reports.
  ///   - changed: when the order came into that state.
  init(_ order: PlacedOrder, _ state: OrderState, at changed: OrderTime) {
    type = state == .ordered ? "order.placed" : "order.\(state.rawValue)"
    timestamp = changed.text
    data = Body(
      order: order.id.rawValue,
      by: order.by,
      note: order.note,
      state: state.rawValue,
      total: order.total,
      items: order.lines.map {
        Item(id: $0.item, title: $0.title, quantity: $0.quantity, price: $0.price)
      },
      placed: order.placed.text
    )
  }

  /// The message as JSON.
  func json() -> [UInt8]? { JSONBytes.of(self) }
}
