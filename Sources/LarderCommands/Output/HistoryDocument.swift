import Base
import Cache
import Catalog
import Larder
import Pipeline

/// Changes of items, as JSON, CSV or text.
struct HistoryDocument: Encodable {
  /// A value in JSON: a price is an object as in `list --json`; every other value is text.
  private enum Value: Encodable {
    case price(Price)
    case text(String)

    init(_ value: Shop.Change.Value) {
      switch value {
      case .price(let price): self = .price(price)
      case .text(let text): self = .text(text)
      case .pictures(let digests): self = .text(digests.joined(separator: " "))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var body = encoder.singleValueContainer()
      switch self {
      case .price(let price): try body.encode(price)
      case .text(let text): try body.encode(text)
      }
    }
  }

  private struct Change: Encodable {
    let time: String
    let run: RunID
    let section: String
    let id: String
    let field: String
    @OrNull var from: Value?
    @OrNull var to: Value?
  }

  private let changes: [Shop.Change]

  init(_ changes: [Shop.Change]) {
    self.changes = changes
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.singleValueContainer()
    try body.encode(
      changes.map {
        Change(
          time: $0.time.rfc3339,
          run: $0.run,
          section: $0.section,
          id: $0.id,
          field: $0.field.rawValue,
          from: $0.from.map(Value.init),
          to: $0.to.map(Value.init)
        )
      }
    )
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// CSV: a header, then one line for each change. (RFC 4180)
  var table: String {
    let heading = ["time", "run", "section", "id", "field", "from", "to", "currency"]
    return CSVLine.table([CSVLine(heading: heading)] + changes.map(Self.line))
  }

  private static func line(_ change: Shop.Change) -> CSVLine {
    var currency: String?
    for case .price(let price)? in [change.from, change.to] { currency = price.currency }
    func cell(_ value: Shop.Change.Value?) -> CSVLine.Cell {
      switch value.map(Value.init) {
      case nil: return .text(nil)
      case .text(let text): return .text(text)
      case .price(let price):
        let units = String(price.minorUnits)
        // The `currency` column has room for only one currency. A price in another currency has the currency's code in
        // its own cell.
        return price.currency == currency ? .number(units) : .text("\(units) \(price.currency)")
      }
    }
    return CSVLine([
      .text(change.time.rfc3339), .number(change.run.description), .text(change.section),
      .text(change.id), .text(change.field.rawValue), cell(change.from), cell(change.to),
      .text(currency),
    ])
  }

  /// One line for each change, then the lowest price, if given.
  func text(lowest: LowestPrice?) -> String {
    // Escape only the parts that come from a feed. Escaping whole lines took half of the time, because the arrow `→` in
    // a line fails the quick test of `PlainText`.
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
