import CXML

/// The owner of one libxml2 parser, which reads an XML document event by event and is freed exactly once.
///
/// The parser expands no entities and fetches nothing. Before it starts, ``MarkupTags`` refuses documents for which
/// libxml2 would take too long.
struct XMLReader: ~Copyable {
  /// A part of the document.
  enum Event {
    /// An element begins.
    ///
    /// For example, `<g:id/>` has the name "id", the prefix "g", the namespace that the document declares for "g", and
    /// is empty.
    case start(name: String, prefix: String?, namespace: String?, isEmpty: Bool)
    /// An element ends.
    case end
    /// A text in the innermost open element.
    case text(String)
  }

  private let reader: OpaquePointer
  private let subject: String
  // The document. The parser reads these bytes in place, so they must live as long as the parser.
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Starts to read a document.
  ///
  /// - Parameters:
  ///   - body: The document, in the encoding that it declares.
  ///   - subject: The name of the document in error messages, for example "section main".
  /// - Throws: ``CatalogError`` if ``MarkupTags`` finds a fault in the document, or if memory runs out.
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

  /// The next event, or nil at the end of the document.
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

  /// The attributes of the element that just began, in the document's order.
  ///
  /// Namespace declarations are left out.
  func attributes() -> [(name: String, value: String)] {
    var attributes: [(name: String, value: String)] = []
    while cxml_next_attribute(reader) {
      let name = cxml_full_name(reader).map { String(cString: $0) } ?? ""
      guard name != "xmlns", !name.hasPrefix("xmlns:") else { continue }
      attributes.append((name, cxml_characters(reader).map { String(cString: $0) } ?? ""))
    }
    return attributes
  }

  /// Makes an error that names the parser's current line.
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
  /// The error that libxml2 has no memory for a parser.
  static func outOfMemory(_ subject: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      reason: "there is not enough memory to read it"
    )
  }
}
