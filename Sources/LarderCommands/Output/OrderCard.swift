import Catalog
import Orders

/// One order as people read it.
struct OrderCard {
  private let entry: OrderEntry
  private let language: Language
  private let terminal: Terminal

  init(_ entry: OrderEntry, _ language: Language, _ terminal: Terminal) {
    self.entry = entry
    self.language = language
    self.terminal = terminal
  }

  /// What was ordered, then the history of states, then that of attempts.
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
      if let next = delivery.nextAttempt { line += ", next attempt \(next.text)" }
      lines.append(line)
      for attempt in message.attempts {
        lines.append(
          "  \(attempt.began.text)  \(attempt.outcome.map(PlainText.line) ?? "under way, or cut off")"
        )
      }
    }
    return lines.joined(separator: "\n")
  }
}

/// What `order place` says.
struct PlacedOrderText {
  private let order: Order

  init(_ order: Order) {
    self.order = order
  }

  /// The id, then who, how much and what.
  var text: String {
    let words = "\(order.by) – \(order.total.formatted()) – \(order.summary)"
    return "\(order.id)  \(PlainText.line(words))"
  }
}

/// What a changed order says of itself.
struct MovedOrderText {
  private let entry: OrderEntry
  private let language: Language

  init(_ entry: OrderEntry, _ language: Language) {
    self.entry = entry
    self.language = language
  }

  /// The id and its state.
  var text: String { "\(entry.order.id)  \(language.name(of: entry.state))" }
}
