import Base
import Catalog
import FoundationEssentials

/// A message to a webhook that an order was placed, or that an order reached another state.
package struct OrderMessage: Hashable, Outgoing {
  /// The id of the message, which is the same in all attempts.
  package let id: String
  /// The order.
  package let order: PlacedOrder
  /// The state that the order reached.
  package let state: OrderState
  /// The time at which the order reached the state.
  package let changed: OrderTime

  var subject: OrderID { order.id }

  /// The id of the message about a state of an order, for example `ord_…_ready`.
  ///
  /// The id of the message about the state `ordered` is the id of the order.
  static func name(_ order: OrderID, _ state: OrderState) -> String {
    state == .ordered ? order.rawValue : "\(order.rawValue)_\(state.rawValue)"
  }

  /// The maximum length of the response's body.
  static let replyLimit = ByteCount.mebibytes(1)

  func body(for webhook: Webhook) -> [UInt8]? {
    switch webhook.payload {
    case .slack: SlackPayload(order, state, webhook.template).json()
    case .json: EventPayload(order, state, at: changed).json()
    }
  }
}

/// The JSON of an order's message in the format of Standard Webhooks 1.0, with a type, a time and data. ("Webhook
/// payload")
///
/// It depends only on the order and its state, so that every attempt sends the same bytes.
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

  /// Makes the JSON.
  ///
  /// - Parameters:
  ///   - order: The order.
  ///   - state: The state that the order reached.
  ///   - changed: The time at which the order reached the state.
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
