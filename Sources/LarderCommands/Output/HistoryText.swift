import Catalog
import Larder
import Pipeline

/// Changes of items, as CSV or text.
struct HistoryText {
  let changes: [Shop.Change]

  /// The changes as CSV: a header, then one line for each change. (RFC 4180)
  var table: String {
    let heading = ["time", "run", "section", "id", "field", "from", "to", "currency"]
    return CSVLine.table([CSVLine(heading: heading)] + changes.map(Self.line))
  }

  private static func line(_ change: Shop.Change) -> CSVLine {
    var currency: String?
    for case .price(let price)? in [change.from, change.to] { currency = price.currency }
    func cell(_ value: Shop.Change.Value?) -> CSVLine.Cell {
      switch value {
      case nil: return .text(nil)
      case .text(let text): return .text(text)
      case .pictures(let digests): return .text(digests.joined(separator: " "))
      case .price(let price):
        let units = String(price.minorUnits)
        // The column `currency` has room for only one currency. If the prices have two currencies, the cell of the
        // other price names its own, for example `700 USD`.
        return price.currency == currency ? .number(units) : .text("\(units) \(price.currency)")
      }
    }
    return CSVLine([
      .text(change.time.rfc3339), .number(change.run.description), .text(change.section),
      .text(change.id), .text(change.field.rawValue), cell(change.from), cell(change.to),
      .text(currency),
    ])
  }

  /// The changes as text, one on each line; then the lowest price, if there is one.
  func text(lowest: LowestPrice?) -> String {
    // Only the parts that come from the shop's data are escaped. Escaping whole lines took half of the time, because
    // the arrow `→` fails the quick test of `PlainText`.
    var lines = changes.map { change in
      let item = PlainText.line("\(change.section)/\(change.id)")
      return
        "\(change.time.rfc3339) run \(change.run) \(item) \(change.field.rawValue)\(Self.values(change))"
    }
    if lines.isEmpty { lines.append("nothing changed") }
    if let lowest {
      lines.append(
        "lowest price of the last 30 days: \(lowest.price.formatted()), since \(lowest.time.rfc3339)"
      )
    }
    return lines.joined(separator: "\n")
  }

  private static func values(_ change: Shop.Change) -> String {
    if [.added, .removed, .back].contains(change.field) { return "" }
    return " \(words(change.from)) → \(words(change.to))"
  }

  private static func words(_ value: Shop.Change.Value?) -> String {
    switch value {
    case nil: "nothing"
    case .price(let price): price.formatted()
    case .text(let text): PlainText.line(text)
    // Twelve digits are enough to tell pictures apart.
    case .pictures(let digests): digests.map { String($0.prefix(12)) }.joined(separator: " ")
    }
  }
}
