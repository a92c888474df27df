import ArgumentParser
import Orders

/// How `order export` writes.
enum OrderExportFormat: String, ExpressibleByArgument, CaseIterable {
  /// A JSON object a line, an order each.
  case jsonl
  /// A header, then a line an item of an order. (RFC 4180)
  case csv
}

/// Every order for other programs.
struct OrderExport {
  /// The whole text.
  let text: String

  init(_ entries: [OrderEntry], _ format: OrderExportFormat) throws {
    switch format {
    case .jsonl:
      text = try entries.map { String(decoding: try OrderDocument.show($0), as: UTF8.self) + "\n" }
        .joined()
    case .csv:
      text = ([Self.header] + entries.flatMap(Self.rows)).map { row in
        row.map(Self.cell).joined(separator: ",") + "\r\n"
      }
      .joined()
    }
  }

  private static let header = [
    "order", "placed", "by", "state", "delivery", "attempts", "item", "title", "quantity",
    "price", "amount", "currency", "note",
  ]

  private static func rows(_ entry: OrderEntry) -> [[String]] {
    let order = entry.order
    return order.lines.map { line in
      [
        order.id.rawValue, order.placed.text, order.by, entry.state.rawValue,
        entry.delivery.state.rawValue, String(entry.delivery.attempts), line.item, line.title,
        String(line.quantity), String(line.price.minorUnits),
        String(line.price.minorUnits * line.quantity), order.total.currency, order.note ?? "",
      ]
    }
  }

  /// Quotes what needs it, and takes the power from what a spreadsheet would calculate.
  private static func cell(_ text: String) -> String {
    let isFormula = text.first.map { "=+-@\t".contains($0) } ?? false
    let safe = isFormula ? "'\(text)" : text
    guard safe.contains(where: { "\",\n\r".contains($0) || $0.isNewline }) else { return safe }
    return "\"\(safe.replacing("\"", with: "\"\""))\""
  }
}
