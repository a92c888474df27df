import Catalog

/// One line of a CSV file for spreadsheets, for example `banchan,soup,"Soup, large",7000`. (RFC 4180)
package struct CSVLine {
  /// A value and its kind.
  ///
  /// The kind keeps a spreadsheet from taking text for a formula.
  package enum Cell: Hashable, Sendable {
    /// Text from fetched data, reduced to one line; nil makes an empty cell.
    case text(String?)
    /// A number, which is written as it is.
    case number(String?)
  }

  private let cells: [Cell]

  /// Makes a line of these cells.
  package init(_ cells: [Cell]) {
    self.cells = cells
  }

  /// Makes the line with the names of the columns.
  package init(heading: [String]) {
    cells = heading.map(Cell.text)
  }

  /// The line without CR LF at its end.
  package var text: String {
    cells.map { cell in
      switch cell {
      case .text(let text): Self.quoted(Self.harmless(PlainText.line(text ?? "")))
      case .number(let number): Self.quoted(number ?? "")
      }
    }
    .joined(separator: ",")
  }

  /// Joins lines to text.
  ///
  /// Each line ends with CR LF.
  package static func table(_ lines: [CSVLine]) -> String {
    lines.map { $0.text + "\r\n" }.joined()
  }

  /// Prefixes the text with an apostrophe if a spreadsheet would take it for a formula, such as `=A1`. (OWASP, "CSV
  /// Injection")
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
    // Compare scalars, because a quotation mark with a combining accent would be another `Character`.
    let doubled = field.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
    return "\"\(String(String.UnicodeScalarView(doubled)))\""
  }
}

/// Builds metrics in Prometheus' text format, version 0.0.4.
package struct MetricLines {
  /// The lines so far.
  package private(set) var text = ""
  private var name = ""

  /// Makes an empty text.
  package init() {}

  /// Begins a family of samples.
  ///
  /// The prefix `larder_` is added to its name, for example `items`. `type` is `gauge`, `counter` or `histogram`.
  package mutating func family(_ name: String, _ help: String, _ type: String) {
    self.name = "larder_" + name
    text += "# HELP \(self.name) \(help)\n# TYPE \(self.name) \(type)\n"
  }

  /// Adds a sample to the current family, for example `larder_items{catalog="banchan"} 24`.
  package mutating func sample(
    _ labels: [(String, String)],
    _ value: String,
    suffix: String = ""
  ) {
    let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    text += name + suffix + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
  }

  /// Escapes the value of a label, and removes control characters, because these could harm a terminal.
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
