import CXML
import Glibc

/// The owner of one libxml2 parser, which reads an XML document event by event and is freed exactly once.
///
/// The parser expands no entities and fetches nothing. A document type declaration that declares no entities, such as
/// `<!DOCTYPE shop SYSTEM "shop.dtd">`, is skipped; any other is refused. Before the parser starts, ``MarkupTags``
/// refuses documents for which libxml2 would take too long.
struct XMLReader: ~Copyable {
  /// A part of the document.
  enum Event {
    /// An element begins.
    case start
    /// An element ends.
    case end
    /// A text in the innermost open element.
    case text(String)
  }

  private let reader: OpaquePointer
  private let subject: String
  /// The number of lines before the document.
  private let linesBefore: Int
  // The document. The parser reads these bytes in place, so they must live as long as the parser.
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Starts to read a document.
  ///
  /// - Parameters:
  ///   - body: The document, in the encoding that it declares. White space before its XML declaration, which shops
  ///     send by mistake, is skipped.
  ///   - subject: The name of the document in error messages, for example "section main".
  /// - Throws: ``CatalogError`` if ``MarkupTags`` finds a fault in the document, or if memory runs out.
  init(_ body: [UInt8], of subject: String) throws(CatalogError) {
    let space = MarkupTags.spaceBeforeDeclaration(in: body)
    linesBefore = body[..<space].count { $0 == 0x0A }
    let body = space == 0 ? body : Array(body[space...])
    let declaration = MarkupTags.bareDocumentType(in: body)
    if let fault = MarkupTags.fault(inXML: body, after: declaration.upperBound) {
      throw Self.fault(linesBefore + fault.line, fault.reason, subject)
    }
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(body.count, 1))
    _ = bytes.update(fromContentsOf: body)
    // libxml2 never sees the declaration, so it cannot fetch what the declaration refers to.
    for place in declaration where bytes[place] != 0x0A { bytes[place] = 0x20 }
    guard let reader = cxml_start(bytes.baseAddress, body.count) else {
      bytes.deallocate()
      throw .outOfMemory(subject)
    }
    self.reader = reader
    self.bytes = bytes
    self.subject = subject
  }

  deinit {
    xmlFreeTextReader(reader)
    bytes.deallocate()
  }

  /// The next event, or nil at the end of the document.
  func next() throws(CatalogError) -> Event? {
    switch Int(cxml_next(reader)) {
    case cxml_done: return nil
    case cxml_element: return .start
    case cxml_element_end: return .end
    case cxml_text: return .text(text(xmlTextReaderConstValue) ?? "")
    case cxml_refused: throw fault(MarkupTags.documentType)
    default:
      let cause = cxml_fault().map { ": \(PlainText.line(String(cString: $0)).prefix(120))" } ?? ""
      let broken = fault("is not well-formed XML\(cause)")
      guard MarkupTags.isUTF8(declaredBy: Array(bytes.prefix(1024))) else { throw broken }
      do throws(CatalogError) {
        try JSONText(Array(bytes)).demandUTF8(of: subject)
      } catch {
        var own = fault("is not in UTF-8, the encoding of the document")
        own.remedy = error.remedy
        throw own
      }
      throw broken
    }
  }

  /// The name of the element that just began, with its prefix, for example "g:id".
  var name: String { text(xmlTextReaderConstName) ?? "" }

  /// The name of the element that just began, without a prefix, for example "id".
  var localName: String { text(xmlTextReaderConstLocalName) ?? "" }

  /// Whether the element that just began has no end tag, as in `<a/>`, so that no event ends it.
  var isEmptyElement: Bool { xmlTextReaderIsEmptyElement(reader) == 1 }

  /// Whether the element that just began is in a namespace, which is given by its URL.
  func isElement(in namespace: String) -> Bool {
    // The URL of an element's namespace is compared in place, because each element of a feed has one.
    xmlTextReaderConstNamespaceUri(reader).map { strcmp($0, namespace) == 0 } ?? false
  }

  /// The attributes of the element that just began, in the document's order.
  ///
  /// Namespace declarations are left out.
  func attributes() -> [(name: String, value: String)] {
    var attributes: [(name: String, value: String)] = []
    while xmlTextReaderMoveToNextAttribute(reader) == 1 {
      let name = text(xmlTextReaderConstName) ?? ""
      guard name != "xmlns", !name.hasPrefix("xmlns:") else { continue }
      attributes.append((name, text(xmlTextReaderConstValue) ?? ""))
    }
    _ = xmlTextReaderMoveToElement(reader)
    return attributes
  }

  /// The text that a function of libxml2 returns for the current event, or nil if it returns NULL.
  private func text(_ read: (OpaquePointer?) -> UnsafePointer<xmlChar>?) -> String? {
    read(reader).map { String(cString: $0) }
  }

  /// Makes an error that names the parser's current line.
  func fault(_ reason: String) -> CatalogError {
    Self.fault(linesBefore + Int(xmlTextReaderGetParserLineNumber(reader)), reason, subject)
  }

  private static func fault(_ line: Int, _ reason: String, _ subject: String) -> CatalogError {
    .shape(subject, "line \(line) \(reason)", remedy: "check the shop's response")
  }
}

extension CatalogError {
  /// The error that libxml2 has no memory for a parser.
  static func outOfMemory(_ subject: String) -> CatalogError {
    .shape(subject, "there is not enough memory to read it")
  }
}
