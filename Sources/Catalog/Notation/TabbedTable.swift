/// Google's product feed as text: tab-separated, a line of names, then a line for each item.
enum TabbedTable {
  /// The columns that hold several values, parted by commas.
  private static let lists: Set<String> = ["additional_image_link", "product_highlight"]

  /// A table as the JSON that the XML forms become.
  static func json(of bytes: [UInt8], _ subject: String) throws(CatalogError) -> [UInt8] {
    let rows = rows(of: String(decoding: bytes, as: UTF8.self))
    guard let head = rows.first?.map(name), head.contains("id"), head.count > 1 else {
      throw CatalogError(
        .unexpectedShape,
        subject: subject,
        expected: "a feed in XML, or tab-separated text",
        reason:
          "expected XML, or a first line of tab-separated column names with \"id\" among them",
        remedy: "check the URL"
      )
    }
    let items = rows.dropFirst().map { row in
      MerchantValue.object(
        zip(head, row).filter { !$1.isEmpty }.map { name, cell in
          let values = lists.contains(name) ? parts(cell) : [cell]
          return (name, values.map(MerchantValue.text))
        }
      )
    }
    return MerchantValue.document(title: nil, items: items)
  }

  /// `image link` and `g:image_link` are `image_link`.
  private static func name(_ cell: String) -> String {
    let name = cell.lowercased().replacing(" ", with: "_")
    return name.hasPrefix("g:") ? String(name.dropFirst(2)) : name
  }

  private static func parts(_ cell: String) -> [String] {
    cell.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// The cells of the lines that are not empty.
  ///
  /// In quotes, a cell may hold tabs and line ends, and a doubled quote is one. (RFC 4180, section 2)
  private static func rows(of text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var cell = ""
    var isQuoted = false
    var afterQuote = false
    for character in text {
      if isQuoted {
        if character == "\"" {
          isQuoted = false
          afterQuote = true
        } else {
          cell.append(character)
        }
      } else if character == "\"", cell.isEmpty || afterQuote {
        if afterQuote { cell.append("\"") }
        isQuoted = true
        afterQuote = false
      } else if character == "\t" || character.isNewline {
        row.append(cell.trimmed)
        cell = ""
        afterQuote = false
        if character.isNewline {
          if row != [""] { rows.append(row) }
          row = []
        }
      } else {
        cell.append(character)
        afterQuote = false
      }
    }
    row.append(cell.trimmed)
    if row != [""] { rows.append(row) }
    return rows
  }
}
