import CXML

/// An element of an XML document of a store, with what is in it.
///
/// libxml2 reads; a document with a document type or an entity of its own is refused, nothing is fetched, and what is
/// larger than any answer of a store is none.
struct StoreDocument: Equatable {
  /// Its name without prefix.
  let name: String
  /// The characters that stand directly in it.
  private(set) var text = ""
  private var children: [StoreDocument] = []

  /// How deep elements may lie in one another; a list needs four.
  private static let depth = 16
  /// How many elements are read; a list of a thousand objects has 15,000 at the most.
  private static let most = 65_536

  private init(_ name: String) { self.name = name }

  /// Reads a document whole; nil when it is none, or none that a store sends.
  init?(_ bytes: [UInt8]) {
    // A store that takes its time sends blanks first. (S3, CompleteMultipartUpload)
    let body = bytes.drop { $0 == 32 || (9...13).contains($0) }
    guard !body.isEmpty else { return nil }
    let root = body.withUnsafeBufferPointer { buffer -> StoreDocument? in
      guard let reader = cxml_start(buffer.baseAddress, buffer.count) else { return nil }
      defer { cxml_free(reader) }
      return Self.root(of: reader)
    }
    guard let root else { return nil }
    self = root
  }

  private static func root(of reader: OpaquePointer) -> StoreDocument? {
    var open: [StoreDocument] = []
    var root: StoreDocument?
    var count = 0
    func close() {
      let element = open.removeLast()
      if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
    while true {
      switch Int(cxml_next(reader)) {
      case cxml_done: return root
      case cxml_element:
        count += 1
        guard count <= most, open.count < depth, let name = cxml_name(reader) else { return nil }
        open.append(StoreDocument(String(cString: name)))
        if cxml_is_empty(reader) { close() }
      case cxml_element_end: close()
      case cxml_text:
        guard !open.isEmpty, let text = cxml_characters(reader) else { continue }
        open[open.count - 1].text += String(cString: text)
      default: return nil
      }
    }
  }

  /// The text of the first element of a name directly in this one; nil when there is none.
  subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

  /// The elements of a name directly in this one.
  func all(_ name: String) -> some Sequence<StoreDocument> {
    children.lazy.filter { $0.name == name }
  }
}
