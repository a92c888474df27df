/// Google's product feed as text: tab-separated, a line of names, then a line for each item.
enum TabbedTable {
  /// The columns that hold several values, parted by commas.
  private static let lists: Set<String> = ["additional_image_link", "product_highlight"]

  /// How many columns a table may have.
  private static let mostColumns = 1000

  /// A table as the JSON that the XML forms become, line by line.
  static func json(
    of bytes: ArraySlice<UInt8>,
    _ subject: String,
    within limits: DecodingLimits
  ) throws(CatalogError) -> [UInt8] {
    var rows = Rows(bytes)
    let head = rows.next(most: mostColumns + 1)?.map(name) ?? []
    guard head.contains("id"), head.count > 1 else {
      throw shapeError(
        subject,
        "expected XML, or a first line of tab-separated column names with \"id\" among them"
      )
    }
    guard head.count <= mostColumns else {
      throw shapeError(subject, "it has more than \(mostColumns) columns")
    }
    var writer = StoredFormWriter()
    writer.open("{")
    writer.member("title", nil as String?)
    writer.name("items")
    writer.open("[")
    var count = 0
    while let row = rows.next(most: head.count) {
      count += 1
      if count % 1024 == 0 { try limits.demandTime(subject) }
      let cells = zip(head, row).filter { !$1.isEmpty }.map { name, cell in
        (name: name, values: (lists.contains(name) ? parts(cell) : [cell]).map(MerchantValue.text))
      }
      MerchantValue.object(cells).write(to: &writer)
    }
    writer.close("]")
    writer.close("}")
    return writer.bytes
  }

  private static func shapeError(_ subject: String, _ reason: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      expected: "a feed in XML, or tab-separated text",
      reason: reason,
      remedy: "check the URL"
    )
  }

  /// `image link` and `g:image_link` are `image_link`.
  private static func name(_ cell: String) -> String {
    let name = cell.lowercased().replacing(" ", with: "_")
    return name.hasPrefix("g:") ? String(name.dropFirst(2)) : name
  }

  private static func parts(_ cell: String) -> [String] {
    cell.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// The lines that are not empty, cell by cell.
  ///
  /// In quotes, a cell may hold tabs and line ends, and a doubled quote is one. (RFC 4180, section 2)
  private struct Rows {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) {
      self.bytes = bytes
      place = bytes.startIndex
    }

    /// The cells of the next line that is not empty, the first so many of them; nil at the end.
    mutating func next(most: Int) -> [String]? {
      while place < bytes.endIndex {
        let row = line(most)
        if row != [""] { return row }
      }
      return nil
    }

    private mutating func line(_ most: Int) -> [String] {
      var row: [String] = []
      var cell: [UInt8] = []
      var isQuoted = false
      var afterQuote = false
      func end(_ cell: [UInt8]) {
        if row.count < most { row.append(String(decoding: cell, as: UTF8.self).trimmed) }
      }
      while place < bytes.endIndex {
        let byte = bytes[place]
        place += 1
        if isQuoted {
          if byte == UInt8(ascii: "\"") {
            isQuoted = false
            afterQuote = true
          } else {
            cell.append(byte)
          }
        } else if byte == UInt8(ascii: "\""), cell.isEmpty || afterQuote {
          if afterQuote { cell.append(byte) }
          isQuoted = true
          afterQuote = false
        } else if byte == 0x0A || byte == 0x0D {
          break
        } else if byte == 0x09 {
          end(cell)
          cell.removeAll(keepingCapacity: true)
          afterQuote = false
        } else {
          cell.append(byte)
          afterQuote = false
        }
      }
      end(cell)
      return row
    }
  }
}
