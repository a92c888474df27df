import Catalog
import Orders

extension Order {
  /// The order as text, for `order show`: the ordered items, the history of states, then the attempts to deliver.
  func card(_ language: Language, _ terminal: Terminal) -> String {
    var lines = [
      terminal.paint("\(PlainText.line(by)) – \(total.formatted())", .bold),
      id.rawValue,
    ]
    if let note { lines.append(PlainText.block(note)) }
    lines.append("")
    for line in self.lines {
      let (title, item) = (PlainText.line(line.title), PlainText.line(line.item))
      lines.append("  \(line.quantity) × \(title)  \(line.price.formatted())  \(item)")
    }
    lines.append("")
    for change in history {
      lines.append("  \(change.time.text)  \(language.name(of: change.state))")
    }
    for message in messages {
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

  /// The line that `order advance` and `order cancel` print: the id, then the new state.
  func stateLine(_ language: Language) -> String { "\(id)  \(language.name(of: state))" }
}

extension PlacedOrder {
  /// The line that `order place` prints: the id, then customer, total and items.
  var line: String { "\(id)  \(PlainText.line(text))" }
}

/// Orders as a text table, with a column for each order's progress.
struct OrderTable {
  let orders: [Order]
  let language: Language
  let now: OrderTime
  let terminal: Terminal

  /// The whole table; empty if there are no orders.
  var text: String {
    let rows = orders.map { order in
      [
        order.id.rawValue, progress(order.state),
        language.ago(seconds: now.seconds - order.order.placed.seconds), PlainText.line(order.by),
        order.total.formatted(), delivery(order), PlainText.line(order.order.summary),
      ]
    }
    return zip(aligned(rows), orders).map { row, order in
      var cells = row
      if let color = color(order.delivery.state) { cells[5] = terminal.paint(cells[5], color) }
      return cells.joined(separator: "  ")
    }
    .joined(separator: "\n")
  }

  /// The progress as four dots and a word, such as `●●○○ preparing`.
  ///
  /// There is a dot for each state. The dots up to the present state are filled.
  private func progress(_ state: OrderState) -> String {
    let steps: [OrderState] = [.ordered, .preparing, .ready, .collected]
    let done = steps.firstIndex(of: state).map { $0 + 1 }
    let dots = steps.indices.map { index in
      done.map { index < $0 ? "●" : "○" } ?? "×"
    }
    return "\(dots.joined()) \(language.name(of: state))"
  }

  private func delivery(_ order: Order) -> String {
    order.state == .cancelled && order.delivery.state == .dead
      ? "–" : order.delivery.state.rawValue
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
