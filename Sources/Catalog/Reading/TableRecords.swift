/// Converts a table, such as a CSV file, to JSON. (RFC 4180, section 2)
///
/// The first line has the names of the columns, and each further line is a record. For example, the lines `id,price`
/// and `A1,19.90 EUR` become `{"items": [{"id": "A1", "price": "19.90 EUR"}]}`. Empty cells are left out.
///
/// A cell in quotes can contain separators and line ends. Two quotes inside such a cell mean one quote.
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
    var rows = Rows(bytes, separator: separator)
    let names = try head(&rows, separator)
    let lists = names.map { rule.lists.contains($0) }
    var writer = StoredFormWriter()
    writer.open("{")
    writer.name("items")
    writer.open("[")
    var count = 0
    while let row = rows.next(most: names.count) {
      count += 1
      if count % 1024 == 0 { try limits.demandTime(subject) }
      writer.object {
        for (place, cell) in row.enumerated() where !cell.isEmpty {
          $0.name(escaping: names[place])
          if lists[place] { Self.write(parts: cell, to: &$0) } else { $0.value(cell) }
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

  /// The separator that is most frequent in the first line that is not empty, or a comma if there is none.
  ///
  /// Separators in quotes do not count. A quote encloses a cell if it comes after any of the separators.
  static func separator(of bytes: ArraySlice<UInt8>) -> UInt8 {
    let comma = UInt8(ascii: ",")
    var counts = [Int](repeating: 0, count: separators.count)
    var scan = CellScan(separator: comma)
    var isEmpty = true
    scan: for byte in bytes.prefix(1 << 16) {
      let place = separators.firstIndex { $0.byte == byte }
      switch scan.step(place == nil ? byte : comma) {
      case .part: isEmpty = isEmpty && byte <= 0x20
      case .quote: break
      case .cellEnd:
        isEmpty = false
        if let place { counts[place] += 1 }
      case .rowEnd: if !isEmpty { break scan }
      }
    }
    let most = counts.max() ?? 0
    guard most > 0, let place = counts.firstIndex(of: most) else { return comma }
    return separators[place].byte
  }

  /// Whether a body looks like a table, with at least two columns, most of which have short names, and at least one
  /// record.
  static func isTable(_ body: [UInt8]) -> Bool {
    let text = text(of: body)
    guard let first = text.first, !"{[<".utf8.contains(first) else { return false }
    let bytes = text.bytes
    var rows = Rows(bytes.prefix(1 << 20), separator: separator(of: bytes))
    guard let names = rows.next(most: mostColumns), let row = rows.next(most: mostColumns) else {
      return false
    }
    // If cells of the first line are empty or equal, a number among them says that it is a record and has no names.
    let named = names.filter { !$0.isEmpty }
    return names.count > 1 && row.count > 1 && row.count <= names.count
      && named.count * 2 >= names.count
      && (Set(named).count == names.count || !names.contains(where: PriceText.isPrice))
      && names.allSatisfy { $0.utf8.count <= 100 && !$0.contains("://") }
  }

  /// The name of the separator between the cells of a table without column names, such as "bars"; nil for other texts.
  ///
  /// The second line and the two after it must have the same number of cells, at least three.
  static func unnamedSeparator(in body: [UInt8]) -> String? {
    let beginning = text(of: body).bytes.prefix(1 << 16)
    return separators.first { separator in
      var rows = Rows(beginning, separator: separator.byte)
      let counts = (0..<4).compactMap { _ in rows.next(most: mostColumns)?.count }.dropFirst()
      return counts.count > 1 && counts[1] > 2 && Set(counts).count == 1
    }?.name
  }

  private func head(_ rows: inout Rows, _ separator: UInt8) throws(CatalogError) -> [String] {
    let names = Self.numbered(rows.next(most: Self.mostColumns + 1)?.map(name) ?? [])
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

  private static func write(parts cell: String, to writer: inout StoredFormWriter) {
    writer.array {
      for part in cell.split(separator: ",") where !part.trimmed.isEmpty { $0.value(part.trimmed) }
    }
  }

  /// The body in UTF-8, without a byte order mark.
  private static func text(of body: [UInt8]) -> JSONText {
    JSONText(WideText.appears(in: body) ? WideText.utf8(of: body) ?? body : body)
  }

  /// Reads a table line by line, and skips empty lines.
  private struct Rows {
    let bytes: ArraySlice<UInt8>
    let separator: UInt8
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>, separator: UInt8) {
      (self.bytes, self.separator, place) = (bytes, separator, bytes.startIndex)
    }

    /// The first `most` cells of the next line that is not empty, or nil at the end of the table.
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
      var scan = CellScan(separator: separator)
      func end(_ cell: [UInt8]) {
        if row.count < most { row.append(String(decoding: cell, as: UTF8.self).trimmed) }
      }
      scan: while place < bytes.endIndex {
        let byte = bytes[place]
        place += 1
        switch scan.step(byte) {
        case .part: cell.append(byte)
        case .quote: break
        case .cellEnd:
          end(cell)
          cell.removeAll(keepingCapacity: true)
        case .rowEnd: break scan
        }
      }
      end(cell)
      return row
    }
  }
}

/// A state machine that finds the cells of a table, byte by byte. (RFC 4180, section 2)
struct CellScan {
  /// The meaning of a byte.
  enum Step {
    /// The byte belongs to the text of the cell. The second of two adjacent quotes does so, too.
    case part
    /// The byte is a quote that encloses a cell, or the first of two adjacent quotes inside such a cell.
    case quote
    /// The byte ends the cell, but not the row.
    case cellEnd
    /// The byte ends the cell and the row.
    case rowEnd
  }

  private let separator: UInt8
  private var isQuoted = false
  private var isBehindQuote = false
  private var isEmpty = true

  /// Makes a state machine at the beginning of a row.
  init(separator: UInt8) { self.separator = separator }

  /// Reads the next byte.
  mutating func step(_ byte: UInt8) -> Step {
    let isQuote = byte == UInt8(ascii: "\"")
    if isQuoted {
      if isQuote { (isQuoted, isBehindQuote) = (false, true) } else { isEmpty = false }
      return isQuote ? .quote : .part
    }
    if isQuote, isEmpty || isBehindQuote {
      let isDoubled = isBehindQuote
      (isQuoted, isBehindQuote) = (true, false)
      if isDoubled { isEmpty = false }
      return isDoubled ? .part : .quote
    }
    if byte == 0x0A || byte == 0x0D || byte == separator {
      self = CellScan(separator: separator)
      return byte == separator ? .cellEnd : .rowEnd
    }
    (isEmpty, isBehindQuote) = (false, false)
    return .part
  }
}
