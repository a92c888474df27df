import CXML
import Glibc

/// A part of an XML document or an HTML page.
enum MarkupEvent {
  /// An element begins.
  ///
  /// The name has the prefix that it has in the document, such as "g:id". In HTML, it is in lower case.
  case start(name: String, MarkupAttributes)
  /// An element ends.
  ///
  /// In HTML, it can end without an end tag, for example at the end of the page.
  case end(name: String)
  /// A text in UTF-8.
  ///
  /// Entities such as `&amp;` are decoded, except in scripts of pages. A text can come in several pieces. A piece can end
  /// in the middle of a character. The text of a script or a style sheet is not shown by a browser.
  case text([UInt8], isShown: Bool)
}

/// The attributes of an element, in the order of the document.
///
/// If an attribute has no value, as in `<div itemscope>`, its value is empty.
struct MarkupAttributes {
  fileprivate(set) var pairs: [(name: String, value: String)] = []

  /// The value of an attribute, or nil if the element does not have it.
  subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }
}

/// Reads XML documents and HTML pages with libxml2.
///
/// libxml2 fetches nothing. It repairs broken markup of pages as browsers do. It compares each attribute of a tag with all
/// others, and each end tag of a page with all open elements. Therefore the number of words in a tag, the depth and the
/// time are limited.
final class MarkupReader {
  /// A markup language.
  enum Language {
    case xml, html
  }

  /// The maximum depth of nested elements.
  private static let mostDepth = 512
  /// The maximum number of words that the parser reads without reporting an event.
  ///
  /// In the worst case, one tag has 25,000 attributes. libxml2 takes half a second to read it.
  private static let mostWords = 25_000
  /// The numbers of bytes that are passed to the parser at once: the least one, and the most if no event comes.
  private static let pieces = (least: 16 << 10, most: 64 << 10)

  /// The beginning of the tag that ends a page, as shops write it.
  private static let pageEnds = ["</html", "</HTML"].map { Array($0.utf8) }

  private let language: Language
  private let subject: String
  private let take: (MarkupEvent, MarkupReader) throws(CatalogError) -> Void
  private var parser = cxml_parser()
  /// The number of lines before the bytes that the parser gets.
  private var linesBefore = 0
  /// The first error of ``take``.
  private var error: CatalogError?
  /// The number of open elements.
  private var depth = 0
  /// The number of events so far.
  private var events = 0
  /// Whether the parser has read the document to its end.
  private var isWhole = false
  /// Whether the parser is inside a script or a style sheet of a page, where `<` begins no tag.
  private var isRaw = false

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - bytes: A page in UTF-8 or in the encoding that its `meta` element names, or else in Windows-1252; or an XML
  ///     document in the encoding that it declares. White space before the XML declaration, which shops send by mistake, is
  ///     skipped.
  ///   - language: The language of the document.
  ///   - subject: The name of the document in error messages, for example "section main".
  ///   - seconds: The maximum processor time. Nil means two seconds, and one second more for each megabyte.
  ///   - run: The limits for decoding, such as a deadline.
  ///   - take: Called with each event of the document before this function returns, until it throws an error.
  /// - Throws: ``CatalogError`` if XML is not well-formed or refers to entities of its own, if memory runs out, if a limit
  ///   is exceeded, if decoding was stopped, for example at a deadline, or the error of `take`.
  static func read(
    _ bytes: ArraySlice<UInt8>,
    as language: Language,
    _ subject: String,
    seconds: Double? = nil,
    within run: DecodingLimits = DecodingLimits(),
    _ take: @escaping (MarkupEvent, MarkupReader) throws(CatalogError) -> Void
  ) throws(CatalogError) {
    let reader = MarkupReader(language, subject, take)
    // The parser calls the reader until it is freed.
    defer { withExtendedLifetime(reader) {} }
    try reader.read(bytes, seconds: seconds ?? 2 + Double(bytes.count) / 1_000_000, run)
  }

  private init(
    _ language: Language,
    _ subject: String,
    _ take: @escaping (MarkupEvent, MarkupReader) throws(CatalogError) -> Void
  ) {
    (self.language, self.subject, self.take) = (language, subject, take)
  }

  private func read(
    _ bytes: ArraySlice<UInt8>,
    seconds: Double,
    _ run: DecodingLimits
  ) throws(CatalogError) {
    let end = Self.processorTime() + seconds
    let (bytes, kind) = try text(of: bytes)
    try start(kind)
    defer { cxml_parser_free(parser) }
    var place = bytes.startIndex
    var size = Self.pieces.least
    var words = 0
    while place < bytes.endIndex {
      // libxml2 would read nothing behind this tag, where browsers read on.
      if language == .html, !isRaw, Self.pageEnds.contains(where: bytes[place...].starts) {
        place = bytes[place...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.endIndex
        continue
      }
      let piece = piece(of: bytes, from: place, most: size)
      place = piece.endIndex
      let before = events
      let count = Self.wordCount(of: piece)
      words += count
      guard isRaw || words <= Self.mostWords else {
        throw refusal("has a tag, comment or text of more than \(Self.mostWords) words")
      }
      try run.demandTime(subject)
      piece.withUnsafeBufferPointer { cxml_parser_push(parser, $0.baseAddress, $0.count) }
      // If the parser has reported an event, it has finished all earlier pieces. Only words of this piece can still be
      // in an unfinished tag. Otherwise, it looks at all unfinished bytes again for each piece.
      if events > before { words = count }
      size = events > before ? Self.pieces.least : min(2 * size, Self.pieces.most)
      try demandSound()
      guard Self.processorTime() < end else {
        throw refusal("takes more than \(Int(seconds)) s of processor time")
      }
    }
    cxml_parser_end(parser)
    try demandSound()
    guard isWhole || language == .html else {
      throw fault("is not well-formed XML, or has bytes that are not of its encoding")
    }
  }

  /// A document without white space before it, in UTF-8 if its encoding has another name in browsers or cannot be read by
  /// libxml2, which ends a document at a byte that is not of the encoding.
  private func text(
    of bytes: ArraySlice<UInt8>
  ) throws(CatalogError) -> (ArraySlice<UInt8>, cxml_language) {
    let head = String(decoding: bytes.prefix(1024), as: UTF8.self)
    guard language == .xml else {
      guard String(validating: bytes, as: UTF8.self) == nil else { return (bytes, cxml_html) }
      let name = head.firstMatch(of: /(?i)<meta[^>]*?charset[\s=]*["']?([^\s"'\/>;]+)/)?.output.1
      let encoding = name.flatMap { TextEncoding($0) } ?? TextEncoding("windows-1252")
      return (encoding?.utf8(bytes).bytes[...] ?? bytes, cxml_html)
    }
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    let space = text.prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    linesBefore = space.count { $0 == 0x0A }
    let rest = space.isEmpty ? bytes : text[space.endIndex...]
    guard let name = XMLEncoding.name(in: head), let encoding = TextEncoding(name),
      encoding.isLarger
    else { return (rest, cxml_xml) }
    let (converted, lines) = encoding.utf8(rest)
    if let lines {
      throw fault("is not in \(name), the encoding of the document", line: lines + 1)
    }
    return (converted[...], cxml_xml_in_utf8)
  }

  /// Throws the error of ``take``, or the error that an XML document is not well-formed.
  private func demandSound() throws(CatalogError) {
    if let error { throw error }
    var line: Int32 = 0
    guard let cause = cxml_parser_fault(parser, &line) else { return }
    // libxml2 knows the lines of elements only if it keeps them.
    let words = PlainText.line(String(cString: cause)).replacing(" line 0", with: "").prefix(120)
    guard words.hasPrefix("Input is not proper UTF-8") else {
      throw fault("is not well-formed XML: \(words)", line: Int(line))
    }
    var error = fault("is not in UTF-8, the encoding of the document", line: Int(line))
    error.remedy = "name its encoding in the XML declaration"
    throw error
  }

  private func start(_ language: cxml_language) throws(CatalogError) {
    var handlers = cxml_handlers()
    handlers.start = { context, name, attributes in
      guard let context, let name else { return }
      let attributes = MarkupReader.attributes(attributes)
      MarkupReader.at(context).receive(.start(name: String(cString: name), attributes))
    }
    handlers.end = { context, name in
      guard let context, let name else { return }
      MarkupReader.at(context).receive(.end(name: String(cString: name)))
    }
    handlers.text = { context, bytes, count in
      guard let context, count > 0 else { return }
      let bytes = UnsafeBufferPointer(start: bytes, count: Int(count))
      let reader = MarkupReader.at(context)
      reader.receive(.text(Windows1252.characters(bytes), isShown: !reader.isRaw))
    }
    // An entity can stand for a long text that has other entities in it.
    handlers.entity = { context, _, _, _, _, _ in
      guard let reader = context.map(MarkupReader.at) else { return }
      reader.stop(
        reader.fault("declares an entity in its document type, which larder does not read")
      )
    }
    handlers.reference = { context, name in
      guard let reader = context.map(MarkupReader.at), let name else { return }
      let entity = PlainText.line(String(cString: name)).prefix(80)
      reader.stop(reader.fault("is not well-formed XML: Entity '\(entity)' not defined"))
    }
    handlers.whole = { context in
      if let context { MarkupReader.at(context).isWhole = true }
    }
    // SAFETY: the context is the reader. `read` keeps it alive until the parser is freed.
    parser = cxml_parser_start(&handlers, Unmanaged.passUnretained(self).toOpaque(), language)
    guard parser.state != nil else {
      throw .shape(subject, "there is not enough memory to read it")
    }
  }

  private static func at(_ context: UnsafeMutableRawPointer) -> MarkupReader {
    Unmanaged<MarkupReader>.fromOpaque(context).takeUnretainedValue()
  }

  /// Copies attributes.
  ///
  /// - Parameter pairs: Pointers to a name, its value, the next name, its value, and so on. A value can be NULL, and
  ///   NULL follows the last value. If the element has no attributes, the parameter is nil.
  /// - Returns: The attributes.
  private static func attributes(
    _ pairs: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
  ) -> MarkupAttributes {
    var attributes = MarkupAttributes()
    guard var pair = pairs else { return attributes }
    while let name = pair[0] {
      let value = pair[1].map { Windows1252.characters(String(cString: $0).utf8) } ?? []
      attributes.pairs.append((String(cString: name), String(decoding: value, as: UTF8.self)))
      pair += 2
    }
    return attributes
  }

  private func receive(_ event: MarkupEvent) {
    guard error == nil else { return }
    events += 1
    switch event {
    case .start(let name, _):
      depth += 1
      isRaw = language == .html && (name == "script" || name == "style")
      guard depth <= Self.mostDepth else {
        return stop(refusal("has more than \(Self.mostDepth) nested elements"))
      }
    case .end:
      depth -= 1
      isRaw = false
    case .text: break
    }
    do throws(CatalogError) { try take(event, self) } catch { stop(error) }
  }

  private func stop(_ error: CatalogError) {
    self.error = self.error ?? error
    cxml_parser_stop(parser)
  }

  /// The next bytes to pass to the parser.
  ///
  /// They end before a `<`, unless there is none. If a piece ended with a part of `</script>`, the parser would take
  /// this part for text of the script.
  private func piece(
    of bytes: ArraySlice<UInt8>,
    from start: Int,
    most: Int
  ) -> ArraySlice<UInt8> {
    let rest = bytes[start...]
    let next = rest.prefix(most)
    if language == .html {
      let ends = Self.pageEnds.compactMap { next.dropFirst().firstRange(of: $0)?.lowerBound }
      if let end = ends.min() { return bytes[start..<end] }
    }
    guard rest.count > most else { return rest }
    let last = next.dropFirst().lastIndex(of: UInt8(ascii: "<"))
    return last.map { bytes[start..<$0] } ?? next
  }

  /// An upper bound for the number of attributes in a text.
  ///
  /// Each attribute except the first follows white space or a quote, so these are counted.
  private static func wordCount(of bytes: ArraySlice<UInt8>) -> Int {
    var count = 0
    var wasSpace = false
    for byte in bytes {
      let isSpace = byte <= 0x20
      if isSpace ? !wasSpace : byte == 0x22 || byte == 0x27 { count += 1 }
      wasSpace = isSpace
    }
    return count
  }

  /// The processor time of this thread, in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The error that an XML document cannot be read at the parser's current line, or at another one.
  func fault(_ reason: String, line: Int? = nil) -> CatalogError {
    let line = linesBefore + (line ?? Int(cxml_parser_line(parser)))
    return .shape(subject, "line \(line) \(reason)", remedy: "check the shop's response")
  }

  /// The error that the document exceeds a limit.
  private func refusal(_ what: String) -> CatalogError {
    language == .xml ? fault(what) : .page(subject, what)
  }
}

extension CatalogError {
  /// The error that an HTML page exceeds a limit.
  static func page(_ subject: String, _ what: String) -> CatalogError {
    .shape(subject, "the page \(what)", remedy: "try another page, or the shop's JSON")
  }
}

/// The characters that a document means by control characters.
///
/// A document that names ISO-8859-1 is in Windows-1252, and `&#128;` is the euro sign. libxml2 reads both as the standards
/// of 1987 say, as controls from U+0080 to U+009F. (WHATWG Encoding, section 4.2; HTML, section 13.2.5.80)
private enum Windows1252 {
  /// The characters of the bytes from 0x80 to 0x9F.
  private static let table = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars.map {
      Array(String($0).utf8)
    }
  )

  /// A text in UTF-8, with the characters that the document means.
  static func characters(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
    guard bytes.contains(0xC2) else { return Array(bytes) }
    var text: [UInt8] = []
    for byte in bytes {
      if (0x80..<0xA0).contains(byte), text.last == 0xC2 {
        text.removeLast()
        text += table[Int(byte - 0x80)]
      } else {
        text.append(byte)
      }
    }
    return text
  }
}
