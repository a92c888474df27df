import Base
import Catalog
import FoundationEssentials
import Transport

/// A message that an order was placed, or that its state changed.
package struct OrderMessage: Hashable, Outgoing {
  /// The message's id, the same for all attempts: the value of `webhook-id` and `Idempotency-Key`.
  package let id: String
  /// The order.
  package let order: PlacedOrder
  /// The state that the message reports.
  package let state: OrderState
  /// The time at which the order reached that state.
  package let changed: OrderTime

  var subject: OrderID { order.id }

  /// The id of a message: the order's id for the state `ordered`; otherwise the id and the state, as in `ord_…_ready`.
  static func name(_ order: OrderID, _ state: OrderState) -> String {
    state == .ordered ? order.rawValue : "\(order.rawValue)_\(state.rawValue)"
  }

  /// The longest reply to accept, in bytes.
  static let replyLimit = ByteCount.mebibytes(1)

  /// Makes the request for one attempt.
  ///
  /// - Parameters:
  ///   - webhook: The webhook to send to.
  ///   - now: The present moment, for the signature.
  /// - Returns: The request; nil when the message cannot be encoded as JSON.
  func request(to webhook: Webhook, at now: OrderTime) -> Request? {
    let body =
      switch webhook.payload {
      case .slack: SlackPayload(order, state, webhook.template).json()
      case .json: EventPayload(order, state, at: changed).json()
      }
    return body.map { request(to: webhook, $0, at: now) }
  }
}

/// The JSON payload of an order's message for programs: type, time and data. (Standard Webhooks 1.0, "Webhook payload")
///
/// The payload depends only on the order and the change, so that every attempt sends the same bytes.
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

  /// Makes the payload.
  ///
  /// - Parameters:
  ///   - order: The order.
  ///   - state: The state that the message reports.
  ///   - changed: The time at which the order reached that state.
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
}
