/// Finds the records of a large table, JSON Lines text or XML document, and the positions between records where the
/// body can be cut.
///
/// The bytes around the records, together with some of the records, are a smaller body of the same notation. For
/// example, a table is cut into tables that all begin with its header row.
struct RecordCuts {
  /// The range of the records in the body.
  private(set) var records: Range<Int>
  /// The parts of ``records`` between the cuts, each with the number of lines before it.
  private(set) var parts: [(range: Range<Int>, linesBefore: Int)] = []

  /// Cuts a body; nil when the body has to be read whole, for example because its records are not siblings.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - start: The offset where the text begins, after any byte order mark.
  ///   - notation: The body's notation, with its kind already detected.
  ///   - size: The least number of bytes of records in a part.
  init?(
    _ body: some RandomAccessBody,
    from start: Int,
    _ notation: BodyFormat,
    size: Int
  ) {
    var pieces = BodyPieces(body, from: start)
    guard !MarkupTags.isWide(pieces.beginning) else { return nil }
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

  /// Collects the cuts between records, so that each part is large enough.
  private struct Cutter {
    let size: Int
    private var last: Int?
    private var cuts: [(place: Int, lines: Int)] = []

    init(size: Int) { self.size = size }

    /// Cuts here if the part since the last cut is large enough; the first cut is where the records begin.
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

  /// The records of a table: the rows below the first line that is not empty.
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

  /// The records of JSON Lines or plain lines: all lines, with cuts after line feeds.
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

  /// The records of an XML document, which must be children of one element.
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
        case .start(let name, let start, let isEmpty):
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
  private var isRead = true
  /// The offset of the first piece.
  let start: Int
  /// The first bytes of the text.
  let beginning: [UInt8]

  private static let size = 256 << 10

  init(_ body: some RandomAccessBody, from start: Int) {
    (self.body, self.start, offset) = (body, start, start)
    beginning = body.beginning(from: start, most: 1 << 16) ?? []
  }

  /// The offset of the body's end, once all pieces were read; nil when a piece could not be read.
  var end: Int? { isRead && offset == body.count ? offset : nil }

  /// The next piece and its offset in the body; nil after the last piece, or when the piece cannot be read.
  mutating func next() -> (offset: Int, piece: [UInt8])? {
    let range = offset..<min(body.count, offset + Self.size)
    guard !range.isEmpty, isRead else { return nil }
    if bytes.count != range.count { bytes = [UInt8](repeating: 0, count: range.count) }
    isRead = bytes.withUnsafeMutableBytes { [body] in body.copy(range, to: $0) }
    guard isRead else { return nil }
    offset = range.upperBound
    return (range.lowerBound, bytes)
  }
}

extension RandomAccessBody {
  /// Up to `most` bytes from `start`; nil when the bytes cannot be read.
  func beginning(from start: Int = 0, most: Int) -> [UInt8]? {
    let range = start..<max(start, min(count, start + most))
    var bytes = [UInt8](repeating: 0, count: range.count)
    return bytes.withUnsafeMutableBytes({ copy(range, to: $0) }) ? bytes : nil
  }
}

/// A state machine that finds the tags of an XML document, byte by byte.
///
/// It knows comments, CDATA, processing instructions and quoted values. It validates nothing: libxml2 parses the
/// elements that it finds.
private struct MarkupScan {
  /// The kind of tag that ends with the byte just read.
  enum Step {
    /// No tag ends here.
    case none
    /// The start tag at offset `at`; `isEmpty` says that the element has no end tag.
    case start(name: String, at: Int, isEmpty: Bool)
    /// The end tag at offset `at`.
    case end(at: Int)
    /// A document type declaration, or a tag with a name of more than 1 KiB.
    case refused
  }

  private enum State {
    case text
    /// After `<`.
    case open
    /// After `<!`.
    case declaration
    /// Inside a comment or another part that ends with these bytes.
    case until(StaticString)
    case endTag
    case name
    case tag
    case value(quote: UInt8)
  }

  private var state = State.text
  private var start = 0
  /// The bytes after `<!`, the name of the tag, or the last bytes of a comment.
  private var word: [UInt8] = []
  private var last: UInt8 = 0

  private static let longestName = 1024

  mutating func step(_ byte: UInt8, at place: Int) -> Step {
    switch state {
    case .text:
      if byte == UInt8(ascii: "<") { (state, start) = (.open, place) }
    case .open:
      word.removeAll(keepingCapacity: true)
      switch byte {
      case UInt8(ascii: "/"): state = .endTag
      case UInt8(ascii: "!"): state = .declaration
      case UInt8(ascii: "?"): state = .until("?>")
      default:
        word.append(byte)
        state = .name
      }
    case .declaration:
      word.append(byte)
      let isComment = "--".utf8.starts(with: word)
      guard isComment || "[CDATA[".utf8.starts(with: word) else { return .refused }
      guard word.count == (isComment ? 2 : 7) else { break }
      word.removeAll(keepingCapacity: true)
      state = .until(isComment ? "-->" : "]]>")
    case .until(let end):
      if word.count == end.utf8CodeUnitCount { word.removeFirst() }
      word.append(byte)
      if end.withUTF8Buffer({ $0.elementsEqual(word) }) { state = .text }
    case .endTag:
      guard byte == UInt8(ascii: ">") else { break }
      state = .text
      return .end(at: start)
    case .name:
      guard byte <= 0x20 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") else {
        word.append(byte)
        return word.count > Self.longestName ? .refused : .none
      }
      state = .tag
      last = 0
      return step(byte, at: place)
    case .tag:
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .value(quote: byte)
      case UInt8(ascii: ">"):
        state = .text
        let name = String(decoding: word, as: UTF8.self)
        return .start(name: name, at: start, isEmpty: last == UInt8(ascii: "/"))
      default: break
      }
      last = byte
    case .value(let quote):
      if byte == quote { state = .tag }
    }
    return .none
  }
}
