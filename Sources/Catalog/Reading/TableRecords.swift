/// Converts a table, such as a CSV file, to JSON. (RFC 4180, section 2)
///
/// The first line has the names of the columns, and each further line is a record. For example, the lines `id,price`
/// and `A1,19.90 EUR` become `{"items": [{"id": "A1", "price": "19.90 EUR"}]}`. Empty cells are left out.
///
/// A cell in quotes can contain separators and line ends. Two quotes inside such a cell mean one quote. A quote that
/// encloses no cell (``TableRows``) is text. If its line then does not have a cell for each column, the row cannot be
/// read: `items` has a text with the reason instead of a record.
struct TableRecords {
  /// A rule that says how the cells of a line become the members of a record.
  struct Rule: Hashable, Sendable {
    /// Whether column names are simplified.
    ///
    /// For example, "g:Image Link" becomes "image_link".
    var hasPlainNames = false
    /// The columns whose cells hold several values, separated by commas.
    var lists: [String] = []
  }

  /// The maximum number of columns.
  private static let mostColumns = 1000
  /// The maximum size of the JSON as a multiple of the table's size.
  private static let mostGrowth = 32
  private static let separators: [(byte: UInt8, name: String)] = [
    (UInt8(ascii: "\t"), "tabs"), (UInt8(ascii: ","), "commas"),
    (UInt8(ascii: ";"), "semicolons"), (UInt8(ascii: "|"), "bars"),
  ]

  /// The rule that says how cells become members.
  let rule: Rule
  /// The byte between cells, or nil to use the separator that is most frequent in the line of column names.
  let separator: UInt8?
  /// Names of columns.
  ///
  /// The table is accepted if it has at least one of them. If there are no names, any table is accepted.
  let columns: [String]
  /// The name of the table in error messages, for example "section main".
  let subject: String
  /// The number of lines between the column names and the first record, if the table is a part of a larger one.
  var linesBefore = 0
  /// Whether a row that cannot be read is an error, because a program reads the records together.
  var needsAllRows = false

  /// Converts the table.
  ///
  /// - Parameters:
  ///   - body: The table, in UTF-8 with or without a byte order mark, or in UTF-16 with one.
  ///   - limits: The limits for decoding, such as a deadline.
  /// - Returns: JSON in UTF-8.
  /// - Throws: ``CatalogError`` if the table is not UTF-8 or has no line of column names, or if decoding was stopped,
  ///   for example at a deadline.
  func json(
    of body: [UInt8],
    within limits: DecodingLimits
  ) throws(CatalogError) -> [UInt8] {
    let text = Self.text(of: body)
    try text.demandUTF8(of: subject)
    let bytes = text.bytes
    let separator = separator ?? Self.separator(of: bytes)
    var rows = TableRows(bytes, separator: separator)
    let names = try head(&rows, separator)
    let wanted = Set(rule.lists.map(name))
    let lists = names.map(wanted.contains)
    var writer = StoredFormWriter()
    writer.open("{")
    writer.name("items")
    writer.open("[")
    var count = 0
    while let row = rows.next(most: names.count) {
      count += 1
      if count % 1024 == 0 { try limits.demandTime(subject) }
      if let (reason, remedy) = fault(of: row, columns: names.count, separator) {
        if needsAllRows { throw .shape(subject, reason, remedy: remedy) }
        writer.value("\(reason); \(remedy)")
        continue
      }
      // Joined tables have the line of column names again.
      let isHead = names.count > 1 && row.cells == names
      if isHead || row.cells.allSatisfy(\.isEmpty) { continue }
      writer.object {
        for (place, cell) in row.cells.enumerated() where !cell.isEmpty {
          $0.name(escaping: names[place])
          guard lists[place] else {
            $0.value(cell)
            continue
          }
          $0.value(cell.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty })
        }
      }
      // Each record repeats the names of its columns.
      guard writer.bytes.count <= 1 << 20 + Self.mostGrowth * bytes.count else {
        let reason =
          "its records, each with its column names, take more than \(Self.mostGrowth) times its "
          + "size"
        throw .shape(subject, reason, remedy: "check the URL")
      }
    }
    writer.close("]")
    writer.close("}")
    return writer.bytes
  }

  /// The reason why a row cannot be read, and the remedy; nil for other rows.
  private func fault(
    of row: TableRows.Row,
    columns: Int,
    _ separator: UInt8
  ) -> (reason: String, remedy: String)? {
    // A separator at the end of each row begins an empty cell.
    let most = row.hasMore ? columns : columns + 1
    if let odd = row.oddQuote,
      row.isTorn || (row.isTall ? row.count > most : row.count != columns)
    {
      return (
        "line \(linesBefore + odd.line): the quote that begins its cell \(odd.cell) encloses no cell",
        "write two quotes for one inside a cell, and one at its beginning and its end"
      )
    }
    guard row.hasMore else { return nil }
    let kind = Self.separators.first { $0.byte == separator }?.name ?? "separators"
    return (
      "line \(linesBefore + row.line) has \(row.count) cells, and the first line names \(columns) columns",
      "put quotes around each cell that contains \(kind), or name the other columns"
    )
  }

  /// The separator that is most frequent in the first line that is not empty, or a comma if there is none.
  ///
  /// Separators in quotes do not count, nor do those in a line of hints (``TableRows/Row/isHint``). A quote encloses a cell
  /// if it comes after any of the separators.
  static func separator(of bytes: ArraySlice<UInt8>) -> UInt8 {
    var counts = [Int](repeating: 0, count: separators.count)
    var isQuoted = false
    // Whether a quote encloses a cell: at its beginning, or behind another quote.
    var isOpening = true
    var isBlank = true
    let hint = bytes.starts(with: "# ".utf8) ? bytes.prefix { $0 != 0x0A && $0 != 0x0D } : []
    for byte in bytes.dropFirst(hint.count).prefix(1 << 16) {
      if byte == UInt8(ascii: "\""), isQuoted || isOpening {
        isQuoted.toggle()
        isOpening = !isQuoted
        continue
      }
      if !isQuoted, byte == 0x0A || byte == 0x0D {
        guard isBlank else { break }
        isOpening = true
        continue
      }
      if byte > 0x20 { isBlank = false }
      if isQuoted { continue }
      let place = separators.firstIndex { $0.byte == byte }
      if let place { counts[place] += 1 }
      isOpening = place != nil
      if isOpening { isBlank = false }
    }
    let most = counts.max() ?? 0
    guard most > 0, let place = counts.firstIndex(of: most) else { return UInt8(ascii: ",") }
    return separators[place].byte
  }

  /// Whether a body looks like a table, with at least two columns, most of which have short names, and at least one
  /// record.
  static func isTable(_ body: [UInt8]) -> Bool {
    let text = text(of: body)
    guard let first = text.first, !"{[<".utf8.contains(first) else { return false }
    let bytes = text.bytes
    var rows = TableRows(bytes.prefix(1 << 20), separator: separator(of: bytes))
    guard let names = rows.next(most: mostColumns)?.cells, !isRecord(names, above: rows) else {
      return false
    }
    let most = names.count + 1
    var row = rows.next(most: most)
    // A comment or a row with a stray quote tells nothing about the others.
    while let odd = row,
      odd.cells.count == 1 && odd.cells[0].hasPrefix("#") || odd.oddQuote != nil && !odd.isTall,
      let next = rows.next(most: most)
    {
      row = next
    }
    // A separator at the end of each row begins an empty cell.
    let extra = row?.count == most && row?.cells.last?.isEmpty == true ? 1 : 0
    return areNames(names) && (2...max(2, names.count)).contains((row?.count ?? 0) - extra)
  }

  /// Whether the cells of a first line look like the names of columns.
  ///
  /// There must be at least two, and most of them must be short.
  private static func areNames(_ names: [String]) -> Bool {
    // If cells of the first line are empty or equal, a number among them says that it is a record and has no names.
    let named = names.filter { !$0.isEmpty }
    // Spreadsheets write empty cells behind the last name.
    let width = named.count > 1 ? (names.lastIndex { !$0.isEmpty } ?? 0) + 1 : names.count
    return names.count > 1 && named.count * 2 >= width
      && (Set(named).count == names.count || !names.contains(where: PriceText.isPrice))
      && names.count { $0.utf8.count <= 100 } * 2 > names.count
      && !names.contains { $0.contains("://") }
  }

  /// Whether the cells of a first line are those of a record: one of them is an amount, as are those below it that are not
  /// empty, and none is a known name such as `id`.
  private static func isRecord(_ first: [String], above rows: TableRows) -> Bool {
    var rows = rows
    let below = (0..<6).compactMap { _ in rows.next(most: first.count)?.cells }
    // A price can have a note, as in "$1,350 (reduced)".
    func isAmount(_ cell: String) -> Bool {
      PriceText.isPrice(String(cell.prefix { $0 != "(" }).trimmed)
    }
    return !first.contains { FieldRules.isText($0) || FieldRules.isID($0) }
      && first.indices.contains { place in
        let others = below.map { place < $0.count ? $0[place] : "-" }
        let amounts = others.filter { !$0.isEmpty }
        guard isAmount(first[place]), amounts.allSatisfy(isAmount) else { return false }
        // The sizes in a heading are numbers too, but have no currency.
        return !others.isEmpty && !others.prefix(3).contains("")
          || amounts.count > 2 && PriceText.hasUnit(first[place])
      }
  }

  /// The reason why records that have a table's cells in one member are none, and the remedy; nil for other records.
  ///
  /// For example, `{"name;price;image": "Cup;9.50;cup.jpg"}` comes of a table that was split at commas.
  static func fault(inMembersOf records: [JSONNode]) -> (reason: String, remedy: String)? {
    guard records.count > 1, let name = records[0].members.first?.name,
      let separator = separators.first(where: { one in
        name.utf8.count { $0 == one.byte } > 1
          && records.allSatisfy { record in
            record.count == 1 && record.members[0].name == name
              && record.members[0].value.text.map { $0.utf8.count { $0 == one.byte } > 1 } == true
          }
      })
    else { return nil }
    return (
      "each of its records is a line of a table, with \(separator.name) between its cells, in one member",
      "give the table itself, as CSV"
    )
  }

  /// Whether a text is a table of three or more columns, one of them with URLs, and its first line is a record.
  static func lacksNames(_ body: [UInt8]) -> Bool {
    let bytes = text(of: body).bytes.prefix(1 << 16)
    var rows = TableRows(bytes, separator: separator(of: bytes))
    let first = rows.next(most: mostColumns)?.cells ?? []
    return first.count > 2 && isRecord(first, above: rows)
      && first.contains { PictureText.isAbsolute($0) && PictureText.isLink($0) }
  }

  /// The reason why a text that seems to be a table is none, and the remedy; nil for other texts.
  static func fault(in body: [UInt8]) -> (reason: String, remedy: String)? {
    let bytes = text(of: body).bytes.prefix(1 << 16)
    let separator = separator(of: bytes)
    var rows = TableRows(bytes, separator: separator)
    let kind = separators.first { $0.byte == separator }?.name ?? "commas"
    let names = rows.next(most: mostColumns)?.cells ?? []
    var below = rows
    let lines = names + (below.next(most: 1)?.cells ?? [])
    if names.count == 1, lines.count == 2, isTable(Array(lines.joined(separator: "\n").utf8)) {
      return (
        "each of its lines is in quotes as a whole, so that it has one column",
        #"take these quotes away, for example with sed -E 's/^"|"\r?$//g; s/""/"/g'"#
      )
    }
    let isRecord = names.count > 1 && isRecord(names, above: rows)
    if !isRecord, areNames(names) {
      if lines.count == names.count, !bytes.starts(with: "{".utf8), !bytes.starts(with: "[".utf8),
        (try? JSONDocument(parsing: Array(bytes))) == nil
      {
        return (
          "it has one line, with \(kind) between its words: a table without rows, if these are its columns",
          "give a URL whose list is not empty"
        )
      }
      while let row = rows.next(most: 1) {
        guard row.count > names.count else { continue }
        return (
          "it is a table with \(kind) between its cells, and line \(row.line) has \(row.count) cells, "
            + "while the first line names \(names.count) columns",
          "put quotes around each cell that contains \(kind), or name the other columns too"
        )
      }
    }
    return (isRecord ? kind : unnamedSeparator(in: body)).map {
      (
        "it is a table with \($0) between its cells, and its first line does not name the columns",
        "put a line with a name for each column before the others"
      )
    }
  }

  /// The name of the separator between the cells of a table without column names, such as "bars"; nil for other texts.
  ///
  /// The second line and the two after it must have the same number of cells, at least three.
  private static func unnamedSeparator(in body: [UInt8]) -> String? {
    let beginning = text(of: body).bytes.prefix(1 << 16)
    return separators.first { separator in
      var rows = TableRows(beginning, separator: separator.byte)
      let counts = (0..<4).compactMap { _ in rows.next(most: mostColumns)?.count }.dropFirst()
      return counts.count > 1 && counts[1] > 2 && Set(counts).count == 1
    }?.name
  }

  private func head(_ rows: inout TableRows, _ separator: UInt8) throws(CatalogError) -> [String] {
    let names = Self.numbered(rows.next(most: Self.mostColumns + 1)?.cells.map(name) ?? [])
    let isNamed = columns.isEmpty ? names.count > 1 : names.contains { columns.contains($0) }
    guard isNamed else {
      let known = Self.separators.first { $0.byte == separator }?.name ?? "commas"
      let wanted = columns.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
      let reason =
        "expected a first line of column names with \(known) between them"
        + (columns.isEmpty ? "" : ", and \(wanted) among them")
      throw .shape(subject, reason, remedy: "check the URL")
    }
    guard names.count <= Self.mostColumns else {
      let reason = "it has more than \(Self.mostColumns) columns"
      throw .shape(subject, reason, remedy: "check the URL")
    }
    return names
  }

  /// The names of columns, in which the second column with the name "size" is called "size_2".
  ///
  /// A column without a name is called by its position: "column_1" is the first column.
  private static func numbered(_ names: [String]) -> [String] {
    var taken = Set(names)
    guard taken.count < names.count || taken.contains("") else { return names }
    var seen: Set<String> = []
    return names.enumerated().map { place, name in
      guard name.isEmpty || !seen.insert(name).inserted else { return name }
      var (stem, number) = name.isEmpty ? ("column", place + 1) : (name, 2)
      while !taken.insert("\(stem)_\(number)").inserted { number += 1 }
      return "\(stem)_\(number)"
    }
  }

  /// The member name for a column name.
  ///
  /// A byte order mark before the name, which can follow empty lines, is left out.
  private func name(_ cell: String) -> String {
    let cell = String(cell.unicodeScalars.drop { $0 == "\u{FEFF}" })
    guard rule.hasPlainNames else { return cell }
    let name = cell.lowercased().replacing(" ", with: "_")
    return name.hasPrefix("g:") ? String(name.dropFirst(2)) : name
  }

  /// The body in UTF-8, without a byte order mark.
  static func text(of body: [UInt8]) -> JSONText {
    JSONText(WideText.appears(in: body) ? WideText.utf8(of: body) ?? body : body)
  }
}
