import Base
import CXML

/// Reads replies of stores: small XML documents without relevant attributes.
enum S3Reply {
  /// An object in a list.
  struct Object: Equatable {
    var key: String
    var tag: String
    var bytes: Int64
    var changed: String
  }

  /// A page of a list.
  struct Page: Equatable {
    var objects: [Object] = []
    /// The token of the next page; nil at the end.
    var next: String?
  }

  /// An upload in parts that was begun and not ended.
  struct Upload: Equatable {
    var key: String
    var id: String
    var begun: String
  }

  /// A page of a list of uploads.
  struct Uploads: Equatable {
    var uploads: [Upload] = []
    /// The last key and upload, after which the next page begins; nil at the end.
    var next: Marker?
  }

  /// The start of the next page of a list of uploads.
  struct Marker: Equatable {
    var key: String
    var id: String
  }

  /// The code of a refusal; nil when it is none, or has a code that is no word.
  static func refusal(_ bytes: [UInt8]) -> String? {
    guard let error = S3Document(bytes), error.name == "Error", let code = error["Code"] else {
      return nil
    }
    let isWord =
      (1...64).contains(code.utf8.count) && code.utf8.allSatisfy(PercentEncoding.isUnreserved)
    return isWord ? code : nil
  }

  /// A page of `ListObjectsV2`; nil when it is none.
  static func page(_ bytes: [UInt8]) -> Page? {
    guard let list = S3Document(bytes), list.name == "ListBucketResult" else { return nil }
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
      // Without it the rest would be lost in silence.
      guard let next = list["NextContinuationToken"], !next.isEmpty else { return nil }
      page.next = next
    case "false": break
    default: return nil
    }
    return page
  }

  /// A page of `ListMultipartUploads`; nil when it is none.
  static func uploads(_ bytes: [UInt8]) -> Uploads? {
    guard let list = S3Document(bytes), list.name == "ListMultipartUploadsResult" else {
      return nil
    }
    let isEncoded = list["EncodingType"] == "url"
    var page = Uploads()
    page.uploads = list.all("Upload").compactMap { upload in
      guard let key = upload["Key"], let id = upload["UploadId"] else { return nil }
      return Upload(
        key: isEncoded ? decoded(key) : key,
        id: id,
        begun: upload["Initiated"] ?? ""
      )
    }
    guard list["IsTruncated"] == "true" else { return page }
    // Without a marker the rest would be left open in silence.
    guard let key = list["NextKeyMarker"], !key.isEmpty else { return nil }
    page.next = Marker(
      key: isEncoded ? decoded(key) : key,
      id: list["NextUploadIdMarker"] ?? ""
    )
    return page
  }

  /// The id of an upload in parts that was begun.
  static func upload(_ bytes: [UInt8]) -> String? {
    guard let reply = S3Document(bytes), reply.name == "InitiateMultipartUploadResult" else {
      return nil
    }
    return reply["UploadId"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The entity-tag of an upload in parts that was ended.
  static func whole(_ bytes: [UInt8]) -> String? {
    guard let reply = S3Document(bytes), reply.name == "CompleteMultipartUploadResult" else {
      return nil
    }
    return reply["ETag"].map(tag).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// An entity-tag without its quotation marks, which some answers have and others lack.
  static func tag(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\"" }))
  }

  /// A key as a list writes it that was asked to encode.
  ///
  /// XML has no way to write some characters. A plus is a blank.
  private static func decoded(_ key: String) -> String {
    PercentEncoding.lenientText(key, plusIsSpace: true)
  }
}

/// An element of an XML document of a store, with its content.
///
/// libxml2 reads it. A document with a document type or an entity of its own is refused, nothing is fetched, and a
/// document larger than any reply of a store is refused.
struct S3Document: Equatable {
  /// Its name without prefix.
  let name: String
  /// The characters that stand directly in it.
  private(set) var text = ""
  private var children: [S3Document] = []

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
    let root = body.withUnsafeBufferPointer { buffer -> S3Document? in
      guard let reader = cxml_start(buffer.baseAddress, buffer.count) else { return nil }
      defer { cxml_free(reader) }
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
        guard count <= most, open.count < depth, let name = cxml_name(reader) else { return nil }
        open.append(S3Document(String(cString: name)))
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
  func all(_ name: String) -> some Sequence<S3Document> {
    children.lazy.filter { $0.name == name }
  }
}
