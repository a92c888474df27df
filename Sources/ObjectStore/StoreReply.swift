/// Reads what stores answer: small XML documents of elements without attributes that matter.
enum StoreReply {
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
    /// What the next page is asked for with; nil at the end.
    var next: String?
  }

  /// An upload in parts that was begun and not ended.
  struct Upload: Equatable {
    var key: String
    var id: String
    var begun: String
  }

  /// The code and the words of a refusal, as far as it is one.
  static func refusal(_ bytes: [UInt8]) -> (code: String?, words: String?) {
    let text = Substring(decoding: bytes, as: UTF8.self)
    guard let error = element("Error", in: text) else { return (nil, nil) }
    // A code is one word; anything else is none.
    let code = value("Code", in: error).flatMap { code in
      code.utf8.count <= 64 && code.utf8.allSatisfy(StoreText.isUnreserved) ? code : nil
    }
    return (code, value("Message", in: error))
  }

  /// A page of `ListObjectsV2`.
  static func page(_ bytes: [UInt8]) -> Page? {
    guard let list = element("ListBucketResult", in: Substring(decoding: bytes, as: UTF8.self))
    else { return nil }
    var page = Page()
    for contents in elements("Contents", in: list) {
      guard let key = value("Key", in: contents),
        let size = value("Size", in: contents).flatMap({ Int64($0) })
      else { return nil }
      page.objects.append(
        Object(
          key: key,
          tag: tag(value("ETag", in: contents) ?? ""),
          bytes: size,
          changed: value("LastModified", in: contents) ?? ""
        )
      )
    }
    if value("IsTruncated", in: list) == "true" {
      page.next = value("NextContinuationToken", in: list)
      // Without it the rest would be lost in silence.
      if page.next == nil { return nil }
    }
    return page
  }

  /// The uploads of `ListMultipartUploads`.
  static func uploads(_ bytes: [UInt8]) -> [Upload] {
    let text = Substring(decoding: bytes, as: UTF8.self)
    guard let list = element("ListMultipartUploadsResult", in: text) else { return [] }
    return elements("Upload", in: list).compactMap { upload in
      guard let key = value("Key", in: upload), let id = value("UploadId", in: upload) else {
        return nil
      }
      return Upload(key: key, id: id, begun: value("Initiated", in: upload) ?? "")
    }
  }

  /// The text of one element, wherever it stands.
  static func value(_ name: String, of bytes: [UInt8]) -> String? {
    value(name, in: Substring(decoding: bytes, as: UTF8.self))
  }

  /// An entity-tag without its quotation marks, which some answers have and others lack.
  static func tag(_ text: String) -> String { text.replacing("\"", with: "") }

  private static func value(_ name: String, in text: Substring) -> String? {
    element(name, in: text).map { unescaped($0) }
  }

  private static func elements(_ name: String, in text: Substring) -> [Substring] {
    var found: [Substring] = []
    var rest = text
    while let (inner, after) = next(name, in: rest) {
      found.append(inner)
      rest = after
    }
    return found
  }

  private static func element(_ name: String, in text: Substring) -> Substring? {
    next(name, in: text)?.0
  }

  /// The inside of the first element of a name, and what stands behind it.
  private static func next(_ name: String, in text: Substring) -> (Substring, Substring)? {
    var rest = text
    while let open = rest.firstRange(of: "<" + name) {
      rest = rest[open.upperBound...]
      guard let first = rest.first, first == ">" || first == " " || first == "/",
        let end = rest.firstIndex(of: ">")
      else { continue }
      let behind = rest.index(after: end)
      if rest[..<end].hasSuffix("/") { return (rest[behind..<behind], rest[behind...]) }
      guard let close = rest[behind...].firstRange(of: "</\(name)>") else { return nil }
      return (rest[behind..<close.lowerBound], rest[close.upperBound...])
    }
    return nil
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("&") else { return String(text) }
    return String(
      text.replacing("&quot;", with: "\"").replacing("&#34;", with: "\"")
        .replacing("&lt;", with: "<").replacing("&gt;", with: ">")
        .replacing("&apos;", with: "'").replacing("&#39;", with: "'")
        .replacing("&amp;", with: "&")
    )
  }
}
