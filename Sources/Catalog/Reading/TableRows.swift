/// Reads the rows of a table one after the other. (RFC 4180, section 2)
///
/// A quote at the beginning of a cell encloses it. It is text if the cell would have a line end and text behind its
/// closing quote, or no closing quote within ``longest`` bytes. In a table with tabs, which most programs write without
/// quotes, it is text too if the cell would have a line end and as many tabs as a row.
struct TableRows {
  /// A row of a table.
  struct Row {
    /// The first cells.
    var cells: [String] = []
    /// The number of all cells.
    var count = 0
    /// The number of the line where the row begins.
    var line: Int
    /// Whether a cell after the first ones is not empty.
    var hasMore = false
    /// Whether the table ends within a cell in quotes.
    var isTorn = false
    /// Whether a cell in quotes has a line end.
    var isTall = false
    /// Whether a quote at the beginning of a cell is text.
    var isStray = false
    /// The place of the first quote that encloses no cell, or else of the first one that encloses a line end: the number
    /// of its line, and that of the cell in its row.
    var oddQuote: (line: Int, cell: Int)?
    /// Whether the row ends with a carriage return alone.
    var endsInReturn = false
    /// Whether bytes behind the table could belong to the row or change it.
    var isOpen = false
    /// Whether each cell that is not empty begins with `# `, as in the line of hints above the names in a template for
    /// Facebook's catalog.
    var isHint = true
  }

  /// The maximum length of a cell in quotes that has line ends, in bytes.
  static let longest = 1 << 20

  private var bytes: ArraySlice<UInt8>
  private let separator: UInt8
  /// The index of the next row.
  private(set) var place: Int
  /// The number of lines before the next row.
  private(set) var lines = 0
  /// The number of separators in the first row that is not blank, which has the names of the columns.
  private(set) var width: Int?

  /// Begins a table.
  init(_ bytes: ArraySlice<UInt8>, separator: UInt8) {
    (self.bytes, self.separator, place) = (bytes, separator, bytes.startIndex)
  }

  /// Continues with other bytes, which begin with the row on a line.
  mutating func move(to bytes: [UInt8], line: Int) {
    (self.bytes, place, lines) = (bytes[...], 0, line - 1)
  }

  /// The next line that is not empty, with its first `most` cells, or nil at the end of the table.
  ///
  /// Hints above the names of the columns are skipped.
  mutating func next(most: Int) -> Row? {
    while place < bytes.endIndex {
      let hasNames = width != nil
      let row = row(most)
      if !hasNames, row.isHint, row.count > 1, !row.isOpen { continue }
      if row.count != 1 || row.cells != [""] { return row }
    }
    return nil
  }

  private mutating func row(_ most: Int) -> Row {
    var row = Row(line: lines + 1)
    var text: [UInt8] = []
    var isBlank: Bool
    while true {
      text.removeAll(keepingCapacity: true)
      readCell(of: &row, into: &text)
      row.count += 1
      isBlank = !text.contains { $0 > 0x20 }
      if width == nil, !isBlank, !text.starts(with: [0x23, 0x20]) { row.isHint = false }
      if row.count <= most {
        row.cells.append(String(decoding: text, as: UTF8.self).trimmed)
      } else if !isBlank {
        row.hasMore = true
      }
      guard place < bytes.endIndex, bytes[place] == separator else { break }
      place += 1
    }
    guard place < bytes.endIndex else {
      row.isOpen = true
      return row
    }
    if width == nil, row.count == 1 ? !isBlank : !row.isHint { width = row.count - 1 }
    row.endsInReturn = bytes[place] == 0x0D
    (place, lines) = (place + 1, lines + 1)
    guard row.endsInReturn else { return row }
    if place == bytes.endIndex { row.isOpen = true }
    if bytes[place...].first == 0x0A { (place, row.endsInReturn) = (place + 1, false) }
    return row
  }

  private mutating func readCell(of row: inout Row, into text: inout [UInt8]) {
    if bytes[place...].first == UInt8(ascii: "\"") {
      let (start, linesBefore) = (place, lines)
      if !readQuotes(of: &row, into: &text) {
        (place, lines) = (start, linesBefore)
        text.removeAll(keepingCapacity: true)
        row.isStray = true
        row.oddQuote = row.oddQuote ?? (lines + 1, row.count + 1)
      }
    }
    let rest = rest
    text += rest
    place = rest.endIndex
  }

  /// The bytes up to the end of the present cell, if they are not in quotes.
  private var rest: ArraySlice<UInt8> {
    bytes[place...].prefix { $0 != separator && $0 != 0x0A && $0 != 0x0D }
  }

  /// Reads text in quotes at the beginning of a cell, in which two quotes mean one.
  ///
  /// - Returns: Whether the quotes enclose a cell.
  private mutating func readQuotes(of row: inout Row, into text: inout [UInt8]) -> Bool {
    let (quote, isTabbed) = (UInt8(ascii: "\""), separator == UInt8(ascii: "\t"))
    let (start, linesBefore) = (place, lines)
    var tabs = 0
    place += 1
    while true {
      let plain = bytes[place...].prefix {
        $0 != quote && $0 != separator && $0 != 0x0A && $0 != 0x0D
      }
      text += plain
      place = plain.endIndex
      guard place < bytes.endIndex else {
        row.isOpen = true
        row.isTorn = isTorn(from: start, behind: row.count)
        if row.isTorn { row.oddQuote = (linesBefore + 1, row.count + 1) }
        return row.isTorn
      }
      let byte = bytes[place]
      place += 1
      if byte == quote {
        guard bytes[place...].first == quote else { break }
        place += 1
      }
      text.append(byte)
      if byte == 0x0D || byte == 0x0A && bytes[place - 2] != 0x0D { lines += 1 }
      if isTabbed, byte == separator { tabs += 1 }
      let isLong = tabs >= max(1, width ?? .max) || place - start > Self.longest
      if lines > linesBefore, isLong { return false }
    }
    guard lines > linesBefore else { return true }
    if rest.contains(where: { $0 > 0x20 }) { return false }
    row.isTall = true
    row.oddQuote = row.oddQuote ?? (linesBefore + 1, row.count + 1)
    return true
  }

  /// Whether the table was cut within a cell: no line of the rest is a whole row if the quote is text.
  private func isTorn(from start: Int, behind count: Int) -> Bool {
    var cells = count
    for byte in bytes[start...] + [0x0A] {
      if byte == separator { cells += 1 }
      guard byte == 0x0A || byte == 0x0D else { continue }
      if cells == width { return false }
      cells = 0
    }
    return true
  }
}
