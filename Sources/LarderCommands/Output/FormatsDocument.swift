import Catalog
import Pipeline

/// The built-in formats, as JSON and for people.
struct FormatsDocument: Encodable {
  private struct Format: Encodable {
    var name: String
    var summary: String
  }

  private let formats: [Format]

  init(_ entries: [FormatCatalog.Entry]) {
    formats = entries.map { Format(name: $0.name, summary: $0.summary) }
  }

  /// An array, one object a format.
  func json() throws -> [UInt8] { try formats.jsonLine() }

  /// A line a format.
  var text: String {
    let width = formats.map(\.name.count).max() ?? 0
    return formats.map { "\(padded($0.name, to: width))  \($0.summary)" }.joined(separator: "\n")
  }
}
