import CXML

/// A pull parser over an XML document, freed exactly once.
///
/// It expands no entity and fetches nothing. ``MarkupTags`` looks at the document first, for what libxml2 takes too long.
struct XMLReader: ~Copyable {
  /// What comes next in a document.
  enum Event {
    /// An element begins: its name without prefix, its namespace, and whether it has no content.
    case start(name: String, namespace: String?, isEmpty: Bool)
    /// An element ends.
    case end
    /// Characters of the element that is open.
    case text(String)
  }

  private let reader: OpaquePointer
  private let subject: String
  // The parser reads the bytes in place.
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Starts to read a document.
  ///
  /// - Parameters:
  ///   - body: The document, in any encoding that it declares.
  ///   - subject: What is read, for messages.
  /// - Throws: ``CatalogError`` when a tag of the document is at fault or memory is out.
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

  /// What comes next; nil at the end.
  func next() throws(CatalogError) -> Event? {
    switch Int(cxml_next(reader)) {
    case cxml_done: return nil
    case cxml_element:
      return .start(
        name: cxml_name(reader).map { String(cString: $0) } ?? "",
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

  /// An attribute of the element that just began.
  func attribute(_ name: String) -> String? {
    cxml_attribute(reader, name).map { String(cString: $0) }
  }

  /// A fault on the line that the parser has come to.
  func fault(_ reason: String) -> CatalogError {
    Self.fault(Int(cxml_line(reader)), reason, subject)
  }

  private static func fault(_ line: Int, _ reason: String, _ subject: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: subject,
      reason: "line \(line) \(reason)",
      remedy: "look at what the shop sends"
    )
  }
}

extension CatalogError {
  /// libxml2 has no memory for a parser.
  static func outOfMemory(_ subject: String) -> CatalogError {
    CatalogError(.unexpectedShape, subject: subject, reason: "there is no memory to read it")
  }
}
