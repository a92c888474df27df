/// A table of words that larder recognizes in shops' responses, for example as names of fields.
///
/// The tables are files in `Sources/Catalog/Words`, which SwiftPM embeds in the program. Each line has a meaning, a value,
/// the words with this meaning, separated by commas, and possibly a reason. Lines that begin with `#` are comments.
struct WordTable {
  /// The names of fields, and other words about them.
  static let names = WordTable(PackageResources.names_txt)
  /// The currencies, and the ways in which shops write prices.
  static let currencies = WordTable(PackageResources.currencies_txt)

  /// The lines of each meaning, in their order.
  private let rows: [String: [(value: String, words: [String])]]
  /// The value of each word, first by meaning and then by word.
  let values: [String: [String: String]]

  private init(_ bytes: [UInt8]) {
    var rows: [String: [(value: String, words: [String])]] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    where !line.hasPrefix("#") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(\.trimmed)
      let words = cells[2].split(separator: ",").map(\.trimmed)
      rows[cells[0], default: []].append((cells[1], words))
    }
    self.rows = rows
    values = rows.mapValues { rows in
      let pairs = rows.flatMap { row in row.words.map { ($0, row.value) } }
      return Dictionary(pairs) { first, _ in first }
    }
  }

  /// The lines with a meaning, in their order.
  func rows(of meaning: String) -> [(value: String, words: [String])] { rows[meaning] ?? [] }

  /// The words with a meaning, in their order.
  func words(of meaning: String) -> [String] { rows(of: meaning).flatMap(\.words) }
}
