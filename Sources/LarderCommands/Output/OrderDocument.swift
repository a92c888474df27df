import Catalog
import FoundationEssentials
import Orders
import Pipeline

/// Orders as `order list --json` and its kin print them, every key always there.
struct OrderDocument: Encodable {
  private let entry: OrderEntry
  private let isWhole: Bool

  /// An array of orders.
  static func list(_ entries: [OrderEntry]) throws -> [UInt8] {
    try entries.map { OrderDocument(entry: $0, isWhole: false) }.jsonLine()
  }

  /// One order, as a list has it.
  static func placed(_ entry: OrderEntry) throws -> [UInt8] {
    try OrderDocument(entry: entry, isWhole: false).jsonLine()
  }

  /// One order with its messages and attempts.
  static func show(_ entry: OrderEntry) throws -> [UInt8] {
    try OrderDocument(entry: entry, isWhole: true).jsonLine()
  }

  private enum Key: String, CodingKey {
    case order, item, title, by, quantity, total, delivery, state, attempts, lastError
    case nextAttempt, placed, note, items, history, messages, time, price, id, began, ended
    case outcome
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    let order = entry.order
    let delivery = entry.delivery
    try body.encode(order.id.rawValue, forKey: .order)
    try body.encode(order.lines.first?.item, forKey: .item)
    try body.encode(order.lines.first?.title, forKey: .title)
    try body.encode(order.by, forKey: .by)
    try body.encode(order.quantity, forKey: .quantity)
    try body.encode(order.total, forKey: .total)
    try body.encode(delivery.state.rawValue, forKey: .delivery)
    try body.encode(entry.state.rawValue, forKey: .state)
    try body.encode(delivery.attempts, forKey: .attempts)
    try body.encode(delivery.lastError, forKey: .lastError)
    try body.encode(delivery.nextAttempt?.text, forKey: .nextAttempt)
    try body.encode(order.placed.text, forKey: .placed)
    try body.encode(order.note, forKey: .note)
    var items = body.nestedUnkeyedContainer(forKey: .items)
    for line in order.lines {
      var item = items.nestedContainer(keyedBy: Key.self)
      try item.encode(line.item, forKey: .item)
      try item.encode(line.title, forKey: .title)
      try item.encode(line.quantity, forKey: .quantity)
      try item.encode(line.price, forKey: .price)
    }
    var history = body.nestedUnkeyedContainer(forKey: .history)
    for change in entry.history {
      var item = history.nestedContainer(keyedBy: Key.self)
      try item.encode(change.state.rawValue, forKey: .state)
      try item.encode(change.time.text, forKey: .time)
    }
    if isWhole { try encode(entry.messages, to: &body) }
  }

  private func encode(
    _ messages: [OrderEntry.Message],
    to body: inout KeyedEncodingContainer<Key>
  ) throws {
    var list = body.nestedUnkeyedContainer(forKey: .messages)
    for message in messages {
      var item = list.nestedContainer(keyedBy: Key.self)
      try item.encode(message.id, forKey: .id)
      try item.encode(message.state.rawValue, forKey: .state)
      try item.encode(message.delivery.state.rawValue, forKey: .delivery)
      try item.encode(message.delivery.lastError, forKey: .lastError)
      try item.encode(message.delivery.nextAttempt?.text, forKey: .nextAttempt)
      var attempts = item.nestedUnkeyedContainer(forKey: .attempts)
      for attempt in message.attempts {
        var entry = attempts.nestedContainer(keyedBy: Key.self)
        try entry.encode(attempt.began.text, forKey: .began)
        try entry.encode(attempt.ended?.text, forKey: .ended)
        try entry.encode(attempt.outcome, forKey: .outcome)
      }
    }
  }
}
