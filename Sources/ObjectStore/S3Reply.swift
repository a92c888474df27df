import Base
import CXML

/// Reads the XML replies of S3: errors and lists of objects.
enum S3Reply {
  /// An object in a reply to `ListObjectsV2`.
  struct Object: Equatable {
    var key: String
    var tag: String
    var bytes: Int64
    var changed: String
  }

  /// A page of the list of objects that `ListObjectsV2` returns.
  struct Page: Equatable {
    var objects: [Object] = []
    /// The token with which the next page is requested; nil on the last page.
    var next: String?
  }

  /// The error code in a document of the type `Error`, such as `SlowDown`.
  ///
  /// It is nil for any other document, and if the code is not a single word.
  static func refusal(_ bytes: [UInt8]) -> String? {
    guard let code = document("Error", bytes)?["Code"] else { return nil }
    let isWord =
      (1...64).contains(code.utf8.count) && code.utf8.allSatisfy(PercentEncoding.isUnreserved)
    return isWord ? code : nil
  }

  /// Parses a page of `ListObjectsV2`; nil for any other document.
  static func page(_ bytes: [UInt8]) -> Page? {
    guard let list = document("ListBucketResult", bytes) else { return nil }
    let isEncoded = list["EncodingType"] == "url"
    var page = Page()
    for contents in list.all("Contents") {
      guard let key = contents["Key"],
        let size = contents["Size"].flatMap({ Int64($0) }), size >= 0
      else { return nil }
      page.objects.append(
        Object(
          key: isEncoded ? decoded(key) : key,
          tag: tag(contents["ETag"] ?? ""),
          bytes: size,
          changed: contents["LastModified"] ?? ""
        )
      )
    }
    switch list["IsTruncated"] {
    case "true":
      // Without the token, the rest of the list would be lost without an error.
      guard let next = list["NextContinuationToken"], !next.isEmpty else { return nil }
      page.next = next
    case "false": break
    default: return nil
    }
    return page
  }

  /// Parses a document; nil if it is malformed, or if its root element has another name.
  private static func document(_ name: String, _ bytes: [UInt8]) -> S3Document? {
    S3Document(bytes).flatMap { $0.name == name ? $0 : nil }
  }

  /// Removes the quotation marks of an entity-tag, because only some replies have them.
  static func tag(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\"" }))
  }

  /// Decodes a key of a list with `encoding-type=url`.
  ///
  /// Keys are requested in encoded form because XML cannot represent some characters. In this form, a plus stands for
  /// a space.
  private static func decoded(_ key: String) -> String {
    PercentEncoding.lenientText(key, plusIsSpace: true)
  }
}

/// An element of an XML reply, with its child elements.
///
/// Attributes are ignored.
///
/// libxml2 parses the reply, and fetches nothing from the network. A document is refused if it has a DOCTYPE or
/// entities of its own, or if it is larger than any reply of a store.
struct S3Document: Equatable {
  /// The name of the element, without a namespace prefix.
  let name: String
  /// The text in the element itself, without the text in its child elements.
  private(set) var text = ""
  private var children: [S3Document] = []

  /// The maximum depth of nested elements.
  ///
  /// A list has a depth of four.
  private static let depth = 16
  /// The maximum number of elements in a document.
  ///
  /// A list of a thousand objects has at most 15,000.
  private static let most = 65_536

  private init(_ name: String) { self.name = name }

  /// Parses a document; nil if it is malformed or exceeds the limits.
  init?(_ bytes: [UInt8]) {
    // A store may send white space before the document, to keep the connection open while it works.
    let body = bytes.drop { $0 == 32 || (9...13).contains($0) }
    guard !body.isEmpty else { return nil }
    let root = body.withUnsafeBufferPointer { buffer -> S3Document? in
      guard let reader = cxml_start(buffer.baseAddress, buffer.count) else { return nil }
      defer { xmlFreeTextReader(reader) }
      return Self.root(of: reader)
    }
    guard let root else { return nil }
    self = root
  }

  private static func root(of reader: OpaquePointer) -> S3Document? {
    var open: [S3Document] = []
    var root: S3Document?
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
        guard count <= most, open.count < depth, let name = xmlTextReaderConstLocalName(reader)
        else { return nil }
        open.append(S3Document(String(cString: name)))
        if xmlTextReaderIsEmptyElement(reader) == 1 { close() }
      case cxml_element_end: close()
      case cxml_text:
        guard !open.isEmpty, let text = xmlTextReaderConstValue(reader) else { continue }
        open[open.count - 1].text += String(cString: text)
      default: return nil
      }
    }
  }

  /// The text of the first child element with this name; nil if there is no such element.
  subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

  /// The child elements with this name.
  func all(_ name: String) -> some Sequence<S3Document> {
    children.lazy.filter { $0.name == name }
  }
}
