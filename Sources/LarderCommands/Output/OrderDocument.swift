import Catalog
import FoundationEssentials
import Orders
import Pipeline

/// Orders as JSON, for `order list --json` and similar commands.
///
/// Every key is present, with null for a missing value; only `order show` adds `messages`.
struct OrderDocument: Encodable {
  private let entry: Order
  private let isWhole: Bool

  /// An array of orders.
  static func list(_ entries: [Order]) throws -> [UInt8] {
    try entries.map { OrderDocument(entry: $0, isWhole: false) }.jsonLine()
  }

  /// One order, in the same form as in a list.
  static func placed(_ entry: Order) throws -> [UInt8] {
    try OrderDocument(entry: entry, isWhole: false).jsonLine()
  }

  /// One order with its messages and attempts.
  static func show(_ entry: Order) throws -> [UInt8] {
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
    try body.encode(delivery.due?.text, forKey: .nextAttempt)
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
    _ messages: [Order.Message],
    to body: inout KeyedEncodingContainer<Key>
  ) throws {
    var list = body.nestedUnkeyedContainer(forKey: .messages)
    for message in messages {
      var item = list.nestedContainer(keyedBy: Key.self)
      try item.encode(message.id, forKey: .id)
      try item.encode(message.state.rawValue, forKey: .state)
      try item.encode(message.delivery.state.rawValue, forKey: .delivery)
      try item.encode(message.delivery.lastError, forKey: .lastError)
      try item.encode(message.delivery.due?.text, forKey: .nextAttempt)
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

/// One order as text, for `order show`.
struct OrderCard {
  private let entry: Order
  private let language: Language
  private let terminal: Terminal

  init(_ entry: Order, _ language: Language, _ terminal: Terminal) {
    self.entry = entry
    self.language = language
    self.terminal = terminal
  }

  /// The ordered items, then the history of states, then the attempts to deliver.
  var text: String {
    let order = entry.order
    var lines = [
      terminal.paint("\(PlainText.line(order.by)) – \(order.total.formatted())", .bold),
      order.id.rawValue,
    ]
    if let note = order.note { lines.append(PlainText.block(note)) }
    lines.append("")
    for line in order.lines {
      let (title, item) = (PlainText.line(line.title), PlainText.line(line.item))
      lines.append("  \(line.quantity) × \(title)  \(line.price.formatted())  \(item)")
    }
    lines.append("")
    for change in entry.history {
      lines.append("  \(change.time.text)  \(language.name(of: change.state))")
    }
    for message in entry.messages {
      let delivery = message.delivery
      lines.append("")
      var line = "\(message.id): \(delivery.state.rawValue)"
      if let error = delivery.lastError { line += ", \(PlainText.line(error))" }
      if let next = delivery.due { line += ", next attempt \(next.text)" }
      lines.append(line)
      for attempt in message.attempts {
        lines.append(
          "  \(attempt.began.text)  \(attempt.outcome.map(PlainText.line) ?? "in progress, or interrupted")"
        )
      }
    }
    return lines.joined(separator: "\n")
  }
}

/// The output of `order place`.
struct PlacedOrderText {
  private let order: PlacedOrder

  init(_ order: PlacedOrder) {
    self.order = order
  }

  /// The id, then customer, total and items.
  var text: String {
    let words = "\(order.by) – \(order.total.formatted()) – \(order.summary)"
    return "\(order.id)  \(PlainText.line(words))"
  }
}

/// The output of `order advance` and `order cancel`.
struct MovedOrderText {
  private let entry: Order
  private let language: Language

  init(_ entry: Order, _ language: Language) {
    self.entry = entry
    self.language = language
  }

  /// The id, then the new state.
  var text: String { "\(entry.order.id)  \(language.name(of: entry.state))" }
}

/// Orders as a text table, with a column for each order's progress.
struct OrderTable {
  private let entries: [Order]
  private let language: Language
  private let now: OrderTime
  private let terminal: Terminal

  init(_ entries: [Order], _ language: Language, now: OrderTime, _ terminal: Terminal) {
    self.entries = entries
    self.language = language
    self.now = now
    self.terminal = terminal
  }

  /// The whole table, empty when there is nothing to list.
  var text: String {
    let rows = entries.map { entry in
      [
        entry.order.id.rawValue, progress(entry.state),
        language.ago(seconds: now.seconds - entry.order.placed.seconds),
        PlainText.line(entry.order.by),
        entry.order.total.formatted(), delivery(entry), PlainText.line(entry.order.summary),
      ]
    }
    let widths = (0..<6).map { column in rows.map { columns($0[column]) }.max() ?? 0 }
    return zip(rows, entries).map { row, entry in
      var cells = row.enumerated().map { column, cell in
        column < 6 ? padded(cell, to: widths[column]) : cell
      }
      if let color = color(entry.delivery.state) { cells[5] = terminal.paint(cells[5], color) }
      return cells.joined(separator: "  ")
    }
    .joined(separator: "\n")
  }

  /// The progress as dots, one for each state, filled up to the current state: `●●○○ preparing`.
  private func progress(_ state: OrderState) -> String {
    let steps: [OrderState] = [.ordered, .preparing, .ready, .collected]
    let done = steps.firstIndex(of: state).map { $0 + 1 }
    let dots = steps.indices.map { index in
      done.map { index < $0 ? "●" : "○" } ?? "×"
    }
    return "\(dots.joined()) \(language.name(of: state))"
  }

  private func delivery(_ entry: Order) -> String {
    entry.state == .cancelled && entry.delivery.state == .dead
      ? "–" : entry.delivery.state.rawValue
  }

  private func color(_ state: Delivery.State) -> Terminal.Color? {
    switch state {
    case .delivered: .green
    case .ambiguous: .yellow
    case .dead: .red
    case .queued, .sending: nil
    }
  }
}
