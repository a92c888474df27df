import Cache
import Catalog
import Pipeline

/// The rows of `larder sql`, as JSON, CSV or text.
struct QueryDocument {
  private let columns: [String]
  private let rows: [[QueryValue]]

  init(_ rows: QueryRows) {
    self.rows = rows.rows
    // The keys of a JSON object must differ. A repeated name becomes `NAME_2`, then `NAME_3`.
    var names: Set<String> = []
    columns = rows.columns.map { column in
      var (name, number) = (column, 1)
      while !names.insert(name).inserted {
        number += 1
        name = "\(column)_\(number)"
      }
      return name
    }
  }

  /// The rows as JSON objects, with the names of the columns as keys.
  var objects: [[String: QueryValue]] {
    rows.map { Dictionary(uniqueKeysWithValues: zip(columns, $0)) }
  }

  /// The rows as CSV: a header, then one line for each row. (RFC 4180)
  var table: String {
    CSVLine.table(
      [CSVLine(heading: columns)]
        + rows.map { row in
          CSVLine(row.map { Self.isNumber($0) ? .number($0.text) : .text($0.text) })
        }
    )
  }

  /// The rows as a text table, below the names of the columns.
  ///
  /// Numbers are aligned to the right.
  var text: String {
    let cells = aligned(
      [columns.map(PlainText.line)] + rows.map { $0.map { PlainText.line($0.text) } },
      right: { row, column in row > 0 && Self.isNumber(rows[row - 1][column]) }
    )
    let widths = columns.indices.map { column in
      cells.reduce(0) { max($0, LarderCommands.columns($1[column])) }
    }
    let rule = widths.map { String(repeating: "-", count: $0) }
    return ([cells[0], rule] + cells.dropFirst()).map { row in
      String(row.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  private static func isNumber(_ value: QueryValue) -> Bool {
    switch value {
    case .integer, .real: true
    case .null, .text, .bytes: false
    }
  }
}
