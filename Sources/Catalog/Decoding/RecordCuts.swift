/// Finds the records of a large table, text of lines, JSON Lines text or XML document, and the places between records
/// where the body can be cut.
///
/// Some of the records, together with the bytes around all records, are a smaller body of the same notation. For
/// example, a table is cut into smaller tables, which all begin with the line of column names.
struct RecordCuts {
  /// The range of the body from the first record to the last one.
  private(set) var records: Range<Int>
  /// The parts into which ``records`` is cut.
  ///
  /// Each has the number of the body's lines that come before it.
  private(set) var parts: [(range: Range<Int>, linesBefore: Int)] = []

  /// Cuts a body.
  ///
  /// The result is nil if the body must be decoded whole, for example because its records are not siblings.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - start: The offset where the text begins. It is 3 if the body begins with a byte order mark of UTF-8.
  ///   - notation: The body's notation. Its kind must be known.
  ///   - size: The minimum number of bytes in a part.
  init?(
    _ body: some RandomAccessBody,
    from start: Int,
    _ notation: BodyFormat,
    size: Int
  ) {
    var pieces = BodyPieces(body, from: start)
    guard !WideText.appears(in: pieces.beginning) else { return nil }
    let records: Range<Int>?
    var cutter = Cutter(size: size)
    switch notation.kind {
    case .csv, .tsv: records = Self.table(&pieces, isTabbed: notation.kind == .tsv, &cutter)
    case .lines, .jsonl: records = Self.lines(&pieces, &cutter)
    case .xml: records = Self.xml(&pieces, named: notation.xml?.records ?? [], &cutter)
    case .json, .html, nil: return nil
    }
    guard let records, !records.isEmpty else { return nil }
    self.records = records
    parts = cutter.parts(of: records)
  }

  /// Collects the offsets of cuts, and leaves out those that would make a part too small.
  private struct Cutter {
    let size: Int
    var last: Int?
    var cuts: [(place: Int, lines: Int)] = []

    /// Cuts at an offset between two records, if the part since the last cut is large enough.
    ///
    /// The first call must be for the offset where the records begin.
    mutating func offer(_ place: Int, lines: Int) {
      if let last, place - last < size { return }
      last = place
      cuts.append((place, lines))
    }

    func parts(of records: Range<Int>) -> [(range: Range<Int>, linesBefore: Int)] {
      cuts.indices.map { index in
        let end = index + 1 < cuts.count ? cuts[index + 1].place : records.upperBound
        return (cuts[index].place..<end, cuts[index].lines)
      }.filter { !$0.range.isEmpty }
    }
  }

  /// The records of a table.
  ///
  /// They are the rows below the first line that is not empty.
  private static func table(
    _ pieces: inout BodyPieces,
    isTabbed: Bool,
    _ cutter: inout Cutter
  ) -> Range<Int>? {
    let separator =
      isTabbed ? UInt8(ascii: "\t") : TableRecords.separator(of: pieces.beginning[...])
    var scan = CellScan(separator: separator)
    var start: Int?
    var hasCells = false
    while let (offset, piece) = pieces.next() {
      for (index, byte) in piece.enumerated() {
        guard scan.step(byte) == .rowEnd else {
          hasCells = true
          continue
        }
        guard start != nil || hasCells else { continue }
        let place = offset + index + 1
        start = start ?? place
        cutter.offer(place, lines: 0)
      }
    }
    return pieces.end.flatMap { end in start.map { $0..<end } }
  }

  /// The records of a text that has one record on each line.
  ///
  /// Cuts are after line feeds.
  private static func lines(_ pieces: inout BodyPieces, _ cutter: inout Cutter) -> Range<Int>? {
    let start = pieces.start
    cutter.offer(start, lines: 0)
    var lines = 0
    var before: UInt8 = 0
    while let (offset, piece) = pieces.next() {
      for (index, byte) in piece.enumerated() {
        if byte == 0x0D || byte == 0x0A && before != 0x0D { lines += 1 }
        if byte == 0x0A { cutter.offer(offset + index + 1, lines: lines) }
        before = byte
      }
    }
    return pieces.end.map { start..<$0 }
  }

  /// The records of an XML document, or nil if they are not children of one element.
  private static func xml(
    _ pieces: inout BodyPieces,
    named names: [String],
    _ cutter: inout Cutter
  ) -> Range<Int>? {
    guard !names.isEmpty, MarkupTags.isASCII(pieces.beginning) else { return nil }
    var scan = MarkupScan()
    var depth = 0
    var found: (depth: Int, start: Int)?
    var end: Int?
    while let (offset, piece) = pieces.next() {
      for (index, byte) in piece.enumerated() {
        switch scan.step(byte, at: offset + index) {
        case .none: break
        case .refused: return nil
        case .start(let start, let isEmpty):
          let name = scan.name
          let local = name.split(separator: ":").last.map(String.init) ?? name
          if names.contains(name) || names.contains(local) {
            if found == nil { found = (depth, start) }
            guard let found, end == nil else { return nil }
            if depth == found.depth { cutter.offer(start, lines: 0) }
          }
          if !isEmpty { depth += 1 }
        case .end(let start):
          depth -= 1
          if depth < 0 { return nil }
          if let found, depth < found.depth, end == nil { end = start }
        }
      }
    }
    guard pieces.end != nil, depth == 0, let found, let end else { return nil }
    return found.start..<end
  }
}

/// Reads a body piece by piece from its beginning.
private struct BodyPieces {
  private let body: any RandomAccessBody
  private var offset: Int
  private var bytes: [UInt8] = []
  /// The offset of the first piece.
  let start: Int
  /// The first bytes of the text.
  private(set) var beginning: [UInt8] = []

  private static let size = 256 << 10

  init(_ body: some RandomAccessBody, from start: Int) {
    (self.body, self.start, offset) = (body, start, start)
    if !body.read(into: &beginning, from: start, most: 1 << 16) { beginning = [] }
  }

  /// The offset of the body's end if all pieces have been read, or nil if a piece could not be read.
  var end: Int? { offset == body.count ? offset : nil }

  /// The next piece and its offset in the body, or nil if there is none or if it cannot be read.
  mutating func next() -> (offset: Int, piece: [UInt8])? {
    let isRead = body.read(into: &bytes, from: offset, most: Self.size)
    guard isRead, !bytes.isEmpty else { return nil }
    defer { offset += bytes.count }
    return (offset, bytes)
  }
}
