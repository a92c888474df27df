import CXML

/// A pull parser for an XML document.
///
/// libxml2's parser is freed exactly once.
///
/// It expands no entity and fetches nothing. Before parsing, ``MarkupTags`` refuses documents that would take libxml2
/// too long.
struct XMLReader: ~Copyable {
  /// The next event in a document.
  enum Event {
    /// An element begins.
    ///
    /// It is given by its name, the prefix before the name, its namespace, and whether it has no content.
    case start(name: String, prefix: String?, namespace: String?, isEmpty: Bool)
    /// An element ends.
    case end
    /// Characters in the innermost open element.
    case text(String)
  }

  private let reader: OpaquePointer
  private let subject: String
  // The parser reads the document directly from these bytes, without a copy.
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Starts to read a document.
  ///
  /// - Parameters:
  ///   - body: The document, in any encoding that it declares.
  ///   - subject: The name of the document, for messages.
  /// - Throws: ``CatalogError`` when ``MarkupTags`` finds a fault in the document, or memory runs out.
  init(_ body: [UInt8], of subject: String) throws(CatalogError) {
    if let fault = MarkupTags.fault(inXML: body) {
      throw Self.fault(fault.line, fault.reason, subject)
    }
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(body.count, 1))
    _ = bytes.update(fromContentsOf: body)
    guard let reader = cxml_start(bytes.baseAddress, body.count) else {
      bytes.deallocate()
      throw .outOfMemory(subject)
    }
    self.reader = reader
    self.bytes = bytes
    self.subject = subject
  }

  deinit {
    cxml_free(reader)
    bytes.deallocate()
  }

  /// The next event; nil at the end.
  func next() throws(CatalogError) -> Event? {
    switch Int(cxml_next(reader)) {
    case cxml_done: return nil
    case cxml_element:
      return .start(
        name: cxml_name(reader).map { String(cString: $0) } ?? "",
        prefix: cxml_prefix(reader).map { String(cString: $0) },
        namespace: cxml_namespace(reader).map { String(cString: $0) },
        isEmpty: cxml_is_empty(reader)
      )
    case cxml_element_end: return .end
    case cxml_text: return .text(cxml_characters(reader).map { String(cString: $0) } ?? "")
    case cxml_refused:
      throw fault(MarkupTags.documentType)
    default: throw fault("is not well-formed XML")
    }
  }

  /// The attributes of the element that just began, in order and without namespace declarations.
  func attributes() -> [(name: String, value: String)] {
    var attributes: [(name: String, value: String)] = []
    while cxml_next_attribute(reader) {
      let name = cxml_full_name(reader).map { String(cString: $0) } ?? ""
      guard name != "xmlns", !name.hasPrefix("xmlns:") else { continue }
      attributes.append((name, cxml_characters(reader).map { String(cString: $0) } ?? ""))
    }
    return attributes
  }

  /// An error on the parser's current line.
  func fault(_ reason: String) -> CatalogError {
    Self.fault(Int(cxml_line(reader)), reason, subject)
  }

  private static func fault(_ line: Int, _ reason: String, _ subject: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      reason: "line \(line) \(reason)",
      remedy: "check the shop's response"
    )
  }
}

extension CatalogError {
  /// The error if libxml2 has no memory for a parser.
  static func outOfMemory(_ subject: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      reason: "there is not enough memory to read it"
    )
  }
}

/// A check of the tags of an XML document or an HTML page before libxml2 parses it.
///
/// libxml2 compares each attribute of a tag with all earlier ones, and each name with all namespaces in scope. Its time
/// therefore grows with the square of their number.
///
/// A document type declaration of XML is refused too, so that none of its entities is ever read.
enum MarkupTags {
  /// The maximum number of attributes of one tag.
  static let mostAttributes = 256
  /// The maximum number of namespaces that one tag declares.
  static let mostNamespaces = 16
  /// The ``Fault/reason`` for a document with a document type declaration.
  static let documentType = "declares a document type or an entity, which larder does not read"

  /// The reason why a document is not parsed.
  struct Fault: Equatable {
    /// The line, counted from 1.
    var line: Int
    /// The reason, as words that follow the line: "line 3 declares a document type …".
    var reason: String
  }

  /// The first fault of an XML document; nil when there is none.
  ///
  /// - Parameter body: The document. Its markup must be ASCII or UTF-16.
  /// - Returns: The fault.
  static func fault(inXML body: [UInt8]) -> Fault? {
    guard let units = units(of: body) else {
      return Fault(line: 1, reason: "is in an encoding that larder does not read; use UTF-8")
    }
    return units.withUnsafeBufferPointer { bytes in
      var scan = Scan(bytes: bytes)
      return scan.faultOfXML()
    }
  }

  /// The first fault of an HTML page; nil when there is none.
  ///
  /// In a very broken page, libxml2 may see other tags. ``HTMLPage/Limits/seconds`` limits its time even then.
  static func fault(inHTML page: ArraySlice<UInt8>) -> Fault? {
    page.withUnsafeBufferPointer { bytes in
      var scan = Scan(bytes: bytes)
      return scan.faultOfHTML()
    }
  }

  /// The document with one byte for each code unit; nil for an encoding in which other bytes may be markup too.
  private static func units(of body: [UInt8]) -> [UInt8]? {
    let isLittle = body.starts(with: [0xFF, 0xFE]) || body.starts(with: [0x3C, 0x00])
    if isLittle || body.starts(with: [0xFE, 0xFF]) {
      // UTF-32 begins with the same two bytes. (XML 1.0, appendix F)
      guard !body.starts(with: [0x3C, 0x00, 0x00]), !body.starts(with: [0xFF, 0xFE, 0x00, 0x00])
      else { return nil }
      return stride(from: 0, to: body.count - 1, by: 2).map { place in
        let (low, high) = (body[isLittle ? place : place + 1], body[isLittle ? place + 1 : place])
        return high == 0 && low < 0x80 ? low : 0x80
      }
    }
    return isASCIIBased(encoding(of: body)) ? body : nil
  }

  /// The encoding that an XML declaration names, in lower case; nil when it names none.
  private static func encoding(of body: [UInt8]) -> String? {
    let head = String(decoding: body.prefix(1024), as: UTF8.self)
    guard let start = head.firstRange(of: "<?xml"), let end = head.firstRange(of: "?>"),
      start.upperBound <= end.lowerBound,
      let name = head[start.upperBound..<end.lowerBound].firstRange(of: "encoding")
    else { return nil }
    let rest = head[name.upperBound..<end.lowerBound].drop { $0.isWhitespace || $0 == "=" }
    guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
    return rest.dropFirst().prefix { $0 != quote }.lowercased()
  }

  /// Whether a document that begins with these bytes has ASCII markup, with one byte for each character.
  static func isASCII(_ beginning: [UInt8]) -> Bool {
    !isWide(beginning) && isASCIIBased(encoding(of: beginning))
  }

  /// Whether a text that begins with these bytes is UTF-16 or UTF-32.
  static func isWide(_ beginning: [UInt8]) -> Bool {
    [[0xFF, 0xFE], [0xFE, 0xFF], [0x3C, 0x00]].contains { beginning.starts(with: $0) }
  }

  /// Whether markup characters such as `<` have their ASCII bytes in an encoding, and these bytes mean nothing else.
  ///
  /// This is false for ISO-2022, UTF-7 and EBCDIC.
  private static func isASCIIBased(_ encoding: String?) -> Bool {
    guard let encoding else { return true }
    return [
      "utf-8", "utf8", "us-ascii", "ascii", "iso-8859", "iso8859", "iso_8859", "latin", "windows-",
      "cp125", "cp949", "euc", "shift_jis", "shift-jis", "sjis", "big5", "gb", "koi8", "ks_c",
      "uhc", "tis-620", "macintosh",
    ].contains { encoding.hasPrefix($0) }
  }

  /// A scanner that moves from tag to tag.
  private struct Scan {
    let bytes: UnsafeBufferPointer<UInt8>
    var place = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
      self.bytes = bytes
    }

    mutating func faultOfXML() -> Fault? {
      while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
        place = start + 1
        if take("!--") {
          skip(past: "-->")
        } else if take("![CDATA[") {
          skip(past: "]]>")
        } else if take("!") {
          return Fault(line: line(of: start), reason: documentType)
        } else if take("?") {
          skip(past: "?>")
        } else if let reason = tagFault() {
          return Fault(line: line(of: start), reason: reason)
        }
      }
      return nil
    }

    /// Skips a tag and returns the tag's fault; nil when it has none.
    private mutating func tagFault() -> String? {
      var attributes = 0
      var namespaces = 0
      // The position where the last name began.
      var name = place
      while place < bytes.count {
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: ">"): return nil
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
          guard let end = bytes[place...].firstIndex(of: byte) else {
            place = bytes.count
            return nil
          }
          place = end + 1
          name = place
        case UInt8(ascii: "="):
          attributes += 1
          if bytes[name...].starts(with: "xmlns".utf8) { namespaces += 1 }
          if attributes > mostAttributes {
            return "has a tag of more than \(mostAttributes) attributes"
          }
          if namespaces > mostNamespaces {
            return "has a tag that declares more than \(mostNamespaces) namespaces"
          }
        case 0x20, 0x09, 0x0A, 0x0D: name = place
        default: break
        }
      }
      return nil
    }

    mutating func faultOfHTML() -> Fault? {
      while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
        place = start + 1
        if take("!--") {
          skip(past: "-->")
        } else if place < bytes.count, bytes[place] | 0x20 >= UInt8(ascii: "a"),
          bytes[place] | 0x20 <= UInt8(ascii: "z"), let reason = pageTagFault()
        {
          return Fault(line: line(of: start), reason: reason)
        }
      }
      return nil
    }

    /// Skips an HTML tag and the text of a script, and returns the tag's fault; nil when it has none. (HTML, sections
    /// 13.2.5.6 to 13.2.5.40)
    private mutating func pageTagFault() -> String? {
      let start = place
      while place < bytes.count, bytes[place] > 0x20, !">/".utf8.contains(bytes[place]) {
        place += 1
      }
      let name = bytes[start..<place].map { $0 | 0x20 }
      var attributes = 0
      var isInName = false
      while place < bytes.count {
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: ">"):
          if name.elementsEqual("script".utf8) { skip(past: "</script") }
          if name.elementsEqual("style".utf8) { skip(past: "</style") }
          return nil
        case UInt8(ascii: "="):
          isInName = false
          while place < bytes.count, bytes[place] <= 0x20 { place += 1 }
          guard place < bytes.count else { return nil }
          if bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'") {
            let rest = bytes[(place + 1)...]
            place = rest.firstIndex(of: bytes[place]).map { $0 + 1 } ?? bytes.count
          } else {
            while place < bytes.count, bytes[place] > 0x20, bytes[place] != UInt8(ascii: ">") {
              place += 1
            }
          }
        case 0...0x20, UInt8(ascii: "/"): isInName = false
        default:
          guard !isInName else { continue }
          isInName = true
          attributes += 1
          if attributes > mostAttributes {
            return "has a tag of more than \(mostAttributes) attributes"
          }
        }
      }
      return nil
    }

    private mutating func take(_ text: StaticString) -> Bool {
      let isHere = text.withUTF8Buffer { bytes[place...].starts(with: $0) }
      if isHere { place += text.utf8CodeUnitCount }
      return isHere
    }

    private mutating func skip(past end: StaticString) {
      let first = end.utf8Start[0]
      while let next = bytes[place...].firstIndex(of: first) {
        place = next
        if take(end) { return }
        place += 1
      }
      place = bytes.count
    }

    private func line(of place: Int) -> Int {
      1 + bytes[..<place].count { $0 == 0x0A }
    }
  }
}
