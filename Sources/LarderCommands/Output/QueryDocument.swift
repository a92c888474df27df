import Base
import Cache
import Catalog
import Pipeline

/// The rows of `larder sql`, as JSON, CSV or text.
struct QueryDocument: Encodable {
  private let columns: [String]
  private let rows: [[QueryValue]]

  init(_ rows: QueryRows) {
    self.rows = rows.rows
    // The keys of a JSON object must differ: repeated names become `NAME_2`, `NAME_3`.
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

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.unkeyedContainer()
    for row in rows {
      var object = body.nestedContainer(keyedBy: Key.self)
      for (column, value) in zip(columns, row) {
        let key = Key(stringValue: column)
        switch value {
        case .integer(let number): try object.encode(number, forKey: key)
        // JSON has no infinity.
        case .real(let number) where number.isFinite: try object.encode(number, forKey: key)
        case .text, .bytes: try object.encode(Self.words(value), forKey: key)
        case .null, .real: try object.encodeNil(forKey: key)
        }
      }
    }
  }

  /// One line of JSON: an array of objects.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// CSV: a header, then one line for each row. (RFC 4180)
  var table: String {
    CSVLine.table(
      [CSVLine(heading: columns)]
        + rows.map { row in
          CSVLine(
            row.map { value in
              switch value {
              case .integer, .real: .number(Self.words(value))
              case .null, .text, .bytes: .text(Self.words(value))
              }
            }
          )
        }
    )
  }

  /// A text table: the names of the columns, then the rows, with numbers aligned to the right.
  var text: String {
    let cells =
      [columns.map(PlainText.line)] + rows.map { $0.map { PlainText.line(Self.words($0)) } }
    let widths = self.columns.indices.map { place in
      cells.reduce(0) { max($0, LarderCommands.columns($1[place])) }
    }
    let lines = cells.enumerated().map { number, row in
      row.enumerated().map { place, cell in
        let isNumber = number > 0 && Self.isNumber(rows[number - 1][place])
        if !isNumber { return padded(cell, to: widths[place]) }
        let space = widths[place] - LarderCommands.columns(cell)
        return String(repeating: " ", count: space) + cell
      }.joined(separator: "  ")
    }
    let rule = widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ")
    return ([lines[0], rule] + lines.dropFirst()).map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  private static func isNumber(_ value: QueryValue) -> Bool {
    switch value {
    case .integer, .real: true
    case .null, .text, .bytes: false
    }
  }

  private static func words(_ value: QueryValue) -> String {
    switch value {
    case .null: ""
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .bytes(let bytes): Hexadecimal.text(bytes)
    }
  }
}
