import Catalog
import FoundationEssentials

extension Encodable {
  /// The value as one line of JSON, with sorted keys, so that equal values give equal bytes.
  package func jsonLine() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(self))
  }
}

/// One line of a CSV for spreadsheets. (RFC 4180)
package struct CSVLine {
  /// A value with its kind, so that numbers stay numbers, and text never becomes a formula.
  package enum Cell: Hashable, Sendable {
    /// Text from fetched data, reduced to one line; nil is an empty cell.
    case text(String?)
    /// Text that a person wrote, which may have several lines.
    case note(String?)
    /// A number that larder counted.
    case number(String?)
  }

  private let cells: [Cell]

  /// A line of these cells.
  package init(_ cells: [Cell]) {
    self.cells = cells
  }

  /// Makes the heading line.
  package init(heading: [String]) {
    cells = heading.map(Cell.text)
  }

  /// The line without its end.
  package var text: String {
    cells.map { cell in
      switch cell {
      case .text(let text): Self.quoted(Self.harmless(PlainText.line(text ?? "")))
      case .note(let text): Self.quoted(Self.harmless(PlainText.block(text ?? "")))
      case .number(let number): Self.quoted(number ?? "")
      }
    }
    .joined(separator: ",")
  }

  /// The lines as text, each ended by CR LF.
  package static func table(_ lines: [CSVLine]) -> String {
    lines.map { $0.text + "\r\n" }.joined()
  }

  /// The text, prefixed with an apostrophe if a spreadsheet would take it for a formula. (OWASP, "CSV Injection")
  ///
  /// Spreadsheets ignore leading quotes and white space, and accept full-width signs, such as `＝`, as formula signs.
  private static func harmless(_ text: String) -> String {
    let first = text.unicodeScalars.first { scalar in
      !"\"'`“”‘’".unicodeScalars.contains(scalar) && !scalar.properties.isWhitespace
        && !PlainText.isHarmful(scalar)
    }
    return first.map { "=+-@＝＋－＠﹢﹣﹦﹫−".unicodeScalars.contains($0) } ?? false ? "'\(text)" : text
  }

  private static func quoted(_ field: String) -> String {
    let isPlain = !field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
    if isPlain { return field }
    // Compares scalars, because a quotation mark with a combining accent would be another `Character`.
    let doubled = field.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
    return "\"\(String(String.UnicodeScalarView(doubled)))\""
  }
}

/// Metrics in Prometheus' text format, version 0.0.4.
package struct MetricLines {
  /// The lines so far.
  package private(set) var text = ""
  private var name = ""

  /// No lines.
  package init() {}

  /// Begins a family, such as `larder_items`; `type` is `gauge`, `counter` or `histogram`.
  package mutating func family(_ name: String, _ help: String, _ type: String) {
    self.name = "larder_" + name
    text += "# HELP \(self.name) \(help)\n# TYPE \(self.name) \(type)\n"
  }

  /// Adds a sample to the family.
  package mutating func sample(
    _ labels: [(String, String)],
    _ value: String,
    suffix: String = ""
  ) {
    let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    text += name + suffix + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
  }

  /// Escapes a label's value, and drops characters that would move a terminal's cursor.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: if !PlainText.isHarmful(character) { escaped.unicodeScalars.append(character) }
      }
    }
    return escaped
  }
}
