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
  ///
  /// Words are split when they are needed. Splitting all of them takes 8 % of the instructions of a sync of unchanged
  /// lists, which needs one line.
  private let rows: [String: [(value: String, words: ArraySlice<UInt8>)]]

  private init(_ bytes: [UInt8]) {
    var rows: [String: [(value: String, words: ArraySlice<UInt8>)]] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
      let cells = line.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
      rows[Self.text(cells[0]), default: []].append((Self.text(cells[1]), cells[2]))
    }
    self.rows = rows
  }

  /// The lines with a meaning, in their order.
  func rows(of meaning: String) -> [(value: String, words: [String])] {
    (rows[meaning] ?? []).map { row in
      (row.value, row.words.split(separator: UInt8(ascii: ",")).map(Self.text))
    }
  }

  /// The words with a meaning, in their order.
  func words(of meaning: String) -> [String] { rows(of: meaning).flatMap(\.words) }

  /// The value of each word with a meaning.
  func values(of meaning: String) -> [String: String] {
    let pairs = rows(of: meaning).flatMap { row in row.words.map { ($0, row.value) } }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The value of each word, first by meaning and then by word.
  var values: [String: [String: String]] {
    Dictionary(uniqueKeysWithValues: rows.keys.map { ($0, values(of: $0)) })
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).trimmed
  }
}
