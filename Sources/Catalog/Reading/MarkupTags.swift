/// A check of the tags of an XML document or an HTML page before libxml2 parses it.
///
/// libxml2 compares each attribute of a tag with all earlier attributes, and each name with all namespaces that are in
/// scope. Its time grows with the square of their number, so a hostile document could occupy it for hours.
///
/// An XML document with a document type declaration is refused too, because such a declaration can define entities. A
/// declaration that only refers to another document (``bareDocumentType(in:)``) is skipped.
enum MarkupTags {
  /// The maximum number of attributes of one tag.
  static let mostAttributes = 256
  /// The maximum number of namespaces that one tag of XML declares.
  static let mostNamespaces = 16
  /// The ``Fault/reason`` for a document that has a document type declaration.
  static let documentType = "declares a document type or an entity, which larder does not read"

  /// The reason why a document is not parsed.
  struct Fault: Equatable {
    /// The line at fault, counted from 1.
    var line: Int
    /// The words that follow the line in a message, such as "declares a document type" in "line 3 declares a document
    /// type".
    var reason: String
  }

  /// The first fault of an XML document, or nil if there is none.
  ///
  /// - Parameters:
  ///   - body: The document. It must be in UTF-16 or in an encoding that contains ASCII, such as UTF-8.
  ///   - start: The offset where the check begins, which is behind a declaration that is skipped.
  /// - Returns: The fault.
  static func fault(inXML body: [UInt8], after start: Int = 0) -> Fault? {
    let isRead = WideText.appears(in: body) || isASCIIBased(encoding(of: body))
    guard isRead, let text = WideText.appears(in: body) ? WideText.utf8(of: body) : body else {
      return Fault(line: 1, reason: "is in an encoding that larder does not read; use UTF-8")
    }
    return fault(in: text[...], from: start, MarkupScan())
  }

  /// The first fault of an HTML page, or nil if there is none.
  ///
  /// In a very broken page, libxml2 can find other tags than this check. ``HTMLPage`` limits its time
  /// even then.
  static func fault(inHTML page: ArraySlice<UInt8>) -> Fault? {
    fault(in: page, MarkupScan(isHTML: true))
  }

  private static func fault(
    in bytes: ArraySlice<UInt8>,
    from start: Int = 0,
    _ scan: MarkupScan
  ) -> Fault? {
    var scan = scan
    var index = start
    while true {
      switch scan.next(in: bytes.span, from: &index, at: bytes.startIndex) {
      case .none: return nil
      case .start, .end: break
      case .refused(let start):
        return Fault(line: 1 + bytes[..<start].count { $0 == 0x0A }, reason: scan.refusal)
      }
    }
  }

  /// The document type declaration before the first tag if it declares elements and attributes alone, or nothing;
  /// otherwise an empty range.
  ///
  /// Such a declaration is `<!DOCTYPE shop SYSTEM "shop.dtd">` or `<!DOCTYPE shop [<!ELEMENT shop (item*)>]>`. It has no
  /// entities. What it refers to is never read. (XML 1.0, section 2.8)
  static func bareDocumentType(in body: [UInt8]) -> Range<Int> {
    let head = body.prefix(longestProlog)
    let isThere = head.indices.contains {
      head[$0] == UInt8(ascii: "!") && head[$0...].starts(with: "!DOCTYPE".utf8)
    }
    guard isThere, isASCII(Array(body.prefix(1024))) else { return 0..<0 }
    // Each byte is one scalar, so that offsets in the text are those of the document.
    let text = String(
      String.UnicodeScalarView(head.map { Unicode.Scalar($0) })
    )
    let prolog =
      #/
      (?s) (?> (?:\u{EF}\u{BB}\u{BF})? (?: [\u{0}-\u{20}] | <!--.*?--> | <\?.*?\?> )* )
      ( <!DOCTYPE (?> (?: "[^"]*" | '[^']*' | [^"'\[<&%>] )* )
        (?> \[ (?: [\u{0}-\u{20}] | (?> <!--.*?--> )
          | <! (?: ELEMENT | ATTLIST ) (?: "[^"]*" | '[^']*' | [^"'<&%>\]] )* > )* \] [\u{0}-\u{20}]* )? > )
      /#.matchingSemantics(.unicodeScalar)
    guard let declaration = text.prefixMatch(of: prolog)?.1 else { return 0..<0 }
    let start = text[..<declaration.startIndex].unicodeScalars.count
    return start..<(start + declaration.unicodeScalars.count)
  }

  /// The maximum size of the comments and the declaration before the first tag.
  private static let longestProlog = 256 << 10

  /// The number of bytes before the XML declaration if they are white space, or a byte order mark and white space;
  /// otherwise 0.
  static func spaceBeforeDeclaration(in body: [UInt8]) -> Int {
    let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let rest = body[start...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return rest.startIndex > start && rest.starts(with: "<?xml".utf8) ? rest.startIndex : 0
  }

  /// The encoding that the XML declaration names, in lower case, or nil if it names none.
  private static func encoding(of body: [UInt8]) -> String? {
    // Only a declaration at the beginning counts, or behind white space. (XML 1.0, section 2.8)
    let start = spaceBeforeDeclaration(in: body)
    let bytes = start == 0 ? JSONText(body).bytes : body[start...]
    let head = String(decoding: bytes.prefix(1024), as: UTF8.self)
    guard head.hasPrefix("<?xml") else { return nil }
    let named = head.prefixMatch(of: /<\?xml(?:(?!\?>)[\s\S])*?encoding[\s=]*["']([^"']*)/)
    return named?.output.1.lowercased()
  }

  /// Whether the markup of a document is ASCII, according to the document's first bytes and its XML declaration.
  static func isASCII(_ beginning: [UInt8]) -> Bool {
    !WideText.appears(in: beginning) && isASCIIBased(encoding(of: beginning))
  }

  /// Whether a document is in UTF-8 according to its first bytes and its XML declaration.
  static func isUTF8(declaredBy beginning: [UInt8]) -> Bool {
    !WideText.appears(in: beginning)
      && ["utf-8", "utf8", "us-ascii", "ascii", nil].contains(encoding(of: beginning))
  }

  /// Whether an encoding writes markup characters such as `<` as in ASCII, and writes nothing else with these bytes.
  ///
  /// The result is false for ISO-2022, UTF-7 and EBCDIC, for example.
  private static func isASCIIBased(_ encoding: String?) -> Bool {
    guard let encoding else { return true }
    return [
      "utf-8", "utf8", "us-ascii", "ascii", "iso-8859", "iso8859", "iso_8859", "latin", "windows-",
      "cp125", "cp949", "euc", "shift_jis", "shift-jis", "sjis", "big5", "gb", "koi8", "ks_c",
      "uhc", "tis-620", "macintosh",
    ].contains { encoding.hasPrefix($0) }
  }
}

/// A state machine that finds the tags of an XML document or an HTML page, byte by byte.
///
/// It knows comments, CDATA sections, processing instructions, the scripts and style sheets of pages, and attribute
/// values. It does not check whether the document is well-formed, because libxml2 does that. It also counts the
/// attributes of each tag for ``MarkupTags``. (HTML, sections 13.2.5.6 to 13.2.5.40)
struct MarkupScan {
  /// The result of reading bytes.
  enum Step {
    /// No tag ends with the last byte.
    case none
    /// The last byte ends a start tag. `at` is the offset of its `<`, and `isEmpty` says that it is a tag such as `<a/>`.
    case start(at: Int, isEmpty: Bool)
    /// The last byte ends an end tag. `at` is the offset of its `<`.
    case end(at: Int)
    /// The document must not be parsed, for the reason in ``MarkupScan/refusal``. `at` is the offset of the `<` of the tag
    /// at fault.
    case refused(at: Int)
  }

  private enum State {
    case text
    /// After `<`.
    case open
    /// After `<!`.
    case declaration
    /// In a comment, a script or a similar part. It ends when the bits of ``last`` under `mask` equal `end`.
    case until(end: UInt64, mask: UInt64)
    case endTag
    case name
    case tag
    /// After the `=` of an attribute.
    case equals
    case value(quote: UInt8)
    case unquotedValue
  }

  /// The reason for a refusal, as in ``MarkupTags/Fault``.
  private(set) var refusal = ""
  private let isHTML: Bool
  private var state = State.text
  /// The offset of the `<` of the current tag.
  private var start = 0
  /// The name of the current tag, or the bytes after `<!`.
  ///
  /// Only the first bytes of a very long name are kept.
  private var word: [UInt8] = []
  /// The last bytes of the comment or similar part, or the last byte of the tag.
  private var last: UInt64 = 0
  private var attributes = 0
  private var namespaces = 0
  /// The number of bytes of `xmlns` at the beginning of the current attribute's name, or nil if it begins with other
  /// bytes.
  ///
  /// It is 0 before the name.
  private var prefix: Int? = 0

  private static let namespace = Array("xmlns".utf8)
  private static let longestName = 1024

  /// Makes a state machine at the beginning of a document.
  init(isHTML: Bool = false) { self.isHTML = isHTML }

  /// The name of the tag that a step has reported, for example "g:item".
  var name: String { String(decoding: word, as: UTF8.self) }

  /// Reads bytes up to the end of the next tag.
  ///
  /// - Parameters:
  ///   - bytes: The document, or a piece of it.
  ///   - index: The index of the next byte. It is moved behind the bytes that were read.
  ///   - offset: The offset in the document where the bytes begin.
  /// - Returns: The result of the last byte. It is `none` if no tag ends in the rest of the bytes.
  mutating func next(in bytes: Span<UInt8>, from index: inout Int, at offset: Int) -> Step {
    while true {
      // Most bytes are in a text, an end tag or a value in quotes, where only one byte has a meaning.
      let end: UInt8? =
        switch state {
        case .text: UInt8(ascii: "<")
        case .endTag: UInt8(ascii: ">")
        case .value(let quote): quote
        default: nil
        }
      if let end { while index < bytes.count, bytes[index] != end { index += 1 } }
      guard index < bytes.count else { return .none }
      let step = step(bytes[index], at: offset + index)
      index += 1
      if case .none = step { continue }
      return step
    }
  }

  private mutating func step(_ byte: UInt8, at place: Int) -> Step {
    switch state {
    case .text:
      if byte == UInt8(ascii: "<") { (state, start) = (.open, place) }
    case .open:
      word.removeAll(keepingCapacity: true)
      (last, attributes, namespaces, prefix) = (0, 0, 0, 0)
      switch byte {
      case UInt8(ascii: "!"): state = .declaration
      case UInt8(ascii: "/") where !isHTML: state = .endTag
      case UInt8(ascii: "?") where !isHTML: skip(past: "?>")
      default:
        // In a page, a `<` before another byte than a letter is text.
        let isTag = !isHTML || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        state = isTag ? .name : .text
        return step(byte, at: place)
      }
    case .declaration:
      word.append(byte)
      let isComment = "--".utf8.starts(with: word)
      if isHTML, !isComment {
        state = .text
        return step(byte, at: place)
      }
      guard isComment || "[CDATA[".utf8.starts(with: word) else {
        refusal = MarkupTags.documentType
        return .refused(at: start)
      }
      if word.count == (isComment ? 2 : 7) { skip(past: isComment ? "-->" : "]]>") }
    case .until(let end, let mask):
      last = last << 8 | UInt64(byte)
      if last & mask == end { state = .text }
    case .endTag:
      guard byte == UInt8(ascii: ">") else { break }
      state = .text
      return .end(at: start)
    case .name:
      guard byte <= 0x20 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") else {
        if word.count < Self.longestName { word.append(byte) }
        break
      }
      state = .tag
      return step(byte, at: place)
    case .tag: return stepInTag(byte)
    case .equals:
      guard byte > 0x20 else { break }
      let isQuote = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
      state = isQuote ? .value(quote: byte) : .unquotedValue
      if !isQuote { return step(byte, at: place) }
    case .value(let quote):
      if byte == quote { state = .tag }
    case .unquotedValue:
      guard byte <= 0x20 || byte == UInt8(ascii: ">") else { break }
      state = .tag
      return step(byte, at: place)
    }
    return .none
  }

  /// Skips everything up to the end of a text, which has at most eight bytes.
  private mutating func skip(past text: String) {
    let end = text.utf8.reduce(0) { $0 << 8 | UInt64($1) }
    state = .until(end: end, mask: .max >> UInt64(64 - 8 * text.utf8.count))
    last = 0
  }

  private mutating func stepInTag(_ byte: UInt8) -> Step {
    switch byte {
    case UInt8(ascii: ">"):
      let isEmpty = last == UInt64(UInt8(ascii: "/"))
      state = .text
      let name = isHTML ? self.name.lowercased() : ""
      if name == "script" || name == "style" { skip(past: "</\(name)") }
      return .start(at: start, isEmpty: isEmpty)
    case UInt8(ascii: "="):
      if prefix == Self.namespace.count { namespaces += 1 }
      if !isHTML, namespaces > MarkupTags.mostNamespaces {
        refusal = "has a tag that declares more than \(MarkupTags.mostNamespaces) namespaces"
        return .refused(at: start)
      }
      (state, prefix) = (.equals, 0)
    case 0...0x20, UInt8(ascii: "/"): prefix = 0
    default:
      if prefix == 0 { attributes += 1 }
      if attributes > MarkupTags.mostAttributes {
        refusal = "has a tag of more than \(MarkupTags.mostAttributes) attributes"
        return .refused(at: start)
      }
      if let count = prefix, count < Self.namespace.count {
        prefix = byte == Self.namespace[count] ? count + 1 : nil
      }
    }
    last = UInt64(byte)
    return .none
  }
}
