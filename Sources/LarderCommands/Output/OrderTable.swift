import Catalog
import Orders

/// Orders as people read them: a line each, with a column that shows how far the shop is.
struct OrderTable {
  private let entries: [OrderEntry]
  private let language: Language
  private let now: OrderTime
  private let terminal: Terminal

  init(_ entries: [OrderEntry], _ language: Language, now: OrderTime, _ terminal: Terminal) {
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

  /// A dot a step, filled as far as the order is: `●●○○ preparing`.
  private func progress(_ state: OrderState) -> String {
    let steps: [OrderState] = [.ordered, .preparing, .ready, .collected]
    let done = steps.firstIndex(of: state).map { $0 + 1 }
    let dots = steps.indices.map { index in
      done.map { index < $0 ? "●" : "○" } ?? "×"
    }
    return "\(dots.joined()) \(language.name(of: state))"
  }

  private func delivery(_ entry: OrderEntry) -> String {
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
