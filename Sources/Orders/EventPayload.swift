import Catalog
import FoundationEssentials

/// A message for programs: type, time and data. (Standard Webhooks 1.0, "Webhook payload")
///
/// A pure function of what was ordered and of the change, so that every attempt sends equal bytes.
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
  ///   - state: what the message is about.
  ///   - changed: when the order came into that state.
  init(_ order: Order, _ state: OrderState, at changed: OrderTime) {
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
  func json() -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { [UInt8]($0) }
  }
}
