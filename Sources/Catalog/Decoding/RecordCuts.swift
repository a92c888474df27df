/// The records of a body, or the elements of an array in it, in parts that can be decoded one after the other.
///
/// Some of the records, together with the bytes around all records, are a smaller body of the same notation. For
/// example, a table is cut into smaller tables, which all begin with the line of column names.
struct RecordCuts {
  /// The range of the body from the first record to the last one.
  private(set) var range: Range<Int>
  /// The ranges of the parts, without the commas between them.
  ///
  /// Each has the number of the body's lines that come before it.
  private(set) var parts: [(range: Range<Int>, linesBefore: Int)] = []
  /// Whether one of the elements of an array is itself an array.
  var holdsArrays = false
  private let size: Int
  private var start: Int
  private var lines = 0

  /// Begins the first part.
  ///
  /// - Parameters:
  ///   - start: The offset where the records begin.
  ///   - size: The minimum number of bytes in a part.
  init(from start: Int, size: Int) {
    (range, self.size, self.start) = (start..<start, size, start)
  }

  /// Ends a part between two records, if it is large enough.
  ///
  /// - Parameters:
  ///   - end: The offset behind a record.
  ///   - next: The offset of the next record, if there are bytes between the records.
  ///   - lines: The number of the body's lines that come before the next record.
  mutating func cut(at end: Int, next: Int? = nil, lines: Int = 0) {
    guard end - start >= size else { return }
    parts.append((start..<end, self.lines))
    (start, self.lines) = (next ?? end, lines)
  }

  /// Ends the last part.
  mutating func end(at end: Int) {
    range = range.lowerBound..<end
    if start < end { parts.append((start..<end, lines)) }
  }
}

extension RecordCuts {
  /// Finds the records of a table, a text of lines, a JSON Lines text or an XML document.
  ///
  /// The result is nil if the body must be decoded whole, for example because its records are not siblings.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - start: The offset where the text begins. It is 3 if the body begins with a byte order mark of UTF-8.
  ///   - notation: The body's notation. Its kind must be known.
  ///   - size: The minimum number of bytes in a part.
  init?(_ body: some RandomAccessBody, from start: Int, _ notation: BodyFormat, size: Int) {
    var beginning: [UInt8] = []
    guard body.read(into: &beginning, from: start, most: 1 << 16), !WideText.appears(in: beginning)
    else { return nil }
    var cursor = BodyCursor(body, at: start)
    let cuts: RecordCuts?
    switch notation.kind {
    case .csv, .tsv:
      let isTabbed = notation.kind == .tsv
      let separator =
        isTabbed ? UInt8(ascii: "\t") : TableRecords.separator(of: beginning[...])
      cuts = Self.table(body, from: start, separator, size)
      cursor.move(to: body.count)
    case .lines, .jsonl: cuts = Self.lines(&cursor, size)
    case .xml:
      guard XMLEncoding.isAlikeASCII(beginning), let names = notation.xml?.records, !names.isEmpty
      else { return nil }
      cuts = Self.xml(&cursor, named: names, size)
    case .json, .html, nil: return nil
    }
    guard var cuts, cursor.place == body.count else { return nil }
    if notation.kind != .xml { cuts.end(at: body.count) }
    // The elements of JSON Lines can be arrays.
    cuts.holdsArrays = notation.kind == .jsonl
    self = cuts
  }

  /// The records of a table.
  ///
  /// They are the rows below the first line that is not empty. A table with a quote that encloses no cell (``TableRows``)
  /// has none, so it is read whole.
  private static func table(
    _ body: some RandomAccessBody,
    from start: Int,
    _ separator: UInt8,
    _ size: Int
  ) -> Self? {
    var rows = TableRows([], separator: separator)
    var cuts: RecordCuts?
    var linesOfNames = 0
    var (place, line) = (start, 1)
    var bytes: [UInt8] = []
    while place < body.count {
      guard body.read(into: &bytes, from: place, most: 4 * TableRows.longest) else { return nil }
      rows.move(to: bytes, line: line)
      let isLast = place + bytes.count == body.count
      var end = 0
      while let row = rows.next(most: 0), !row.isOpen {
        // Whether a quote encloses a cell depends on the records behind it, which another part may have.
        if row.isStray { return nil }
        (end, line) = (rows.place, rows.lines + 1)
        if cuts != nil {
          if !row.endsInReturn { cuts?.cut(at: place + end, lines: rows.lines - linesOfNames) }
        } else if rows.width != nil {
          // The names come before each part. Behind a carriage return alone, a part's first line feed would be no line.
          if row.endsInReturn { return nil }
          cuts = RecordCuts(from: place + end, size: size)
          linesOfNames = rows.lines
        }
      }
      // Rows behind a quote that nothing closes are in the last part.
      if isLast { break }
      guard end > 0 else { return nil }
      place += end
    }
    return cuts
  }

  /// The records of a text that has one record on each line.
  ///
  /// Cuts are after line feeds, but not before a byte order mark. It is text there, and would not be at the beginning of a
  /// window. Its first byte begins hardly any other line.
  private static func lines(_ cursor: inout BodyCursor, _ size: Int) -> Self {
    var cuts = RecordCuts(from: cursor.place, size: size)
    var lines = 0
    var before: UInt8 = 0
    while let (offset, piece) = cursor.nextPiece() {
      for (index, byte) in piece.enumerated() {
        if before == 0x0A, byte != 0xEF { cuts.cut(at: offset + index, lines: lines) }
        if byte == 0x0D || byte == 0x0A && before != 0x0D { lines += 1 }
        before = byte
      }
    }
    return cuts
  }

  /// The records of an XML document, or nil if they are not children of one element.
  private static func xml(
    _ cursor: inout BodyCursor,
    named names: [String],
    _ size: Int
  ) -> Self? {
    var depth = 0
    var found: (depth: Int, cuts: RecordCuts)?
    var isEnded = false
    while let tag = cursor.nextTag() {
      guard tag.kind != .end else {
        depth -= 1
        if depth < 0 { return nil }
        if let outer = found?.depth, depth < outer, !isEnded {
          found?.cuts.end(at: tag.start)
          isEnded = true
        }
        continue
      }
      // Elements inside a record cannot be others.
      if isEnded || depth <= found?.depth ?? .max {
        let local = tag.name.split(separator: ":").last.map(String.init) ?? tag.name
        if names.contains(tag.name) || names.contains(local) {
          if isEnded { return nil }
          if found == nil { found = (depth, RecordCuts(from: tag.start, size: size)) }
          if depth == found?.depth { found?.cuts.cut(at: tag.start) }
        }
      }
      if tag.kind == .start { depth += 1 }
    }
    return depth == 0 && isEnded ? found?.cuts : nil
  }
}
