import Catalog

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
