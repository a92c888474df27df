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

  /// A page of a list of uploads.
  struct Uploads: Equatable {
    var uploads: [Upload] = []
    /// The last key and upload, after which the next page begins; nil at the end.
    var next: Marker?
  }

  /// Where a list of uploads goes on.
  struct Marker: Equatable {
    var key: String
    var id: String
  }

  /// The code of a refusal; nil when it is none, or has a code that is no word.
  static func refusal(_ bytes: [UInt8]) -> String? {
    guard let error = StoreDocument(bytes), error.name == "Error", let code = error["Code"] else {
      return nil
    }
    let isWord =
      (1...64).contains(code.utf8.count) && code.utf8.allSatisfy(StoreText.isUnreserved)
    return isWord ? code : nil
  }

  /// A page of `ListObjectsV2`; nil when it is none.
  static func page(_ bytes: [UInt8]) -> Page? {
    guard let list = StoreDocument(bytes), list.name == "ListBucketResult" else { return nil }
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
    guard let list = StoreDocument(bytes), list.name == "ListMultipartUploadsResult" else {
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
    guard let reply = StoreDocument(bytes), reply.name == "InitiateMultipartUploadResult" else {
      return nil
    }
    return reply["UploadId"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The entity-tag of an upload in parts that was ended.
  static func whole(_ bytes: [UInt8]) -> String? {
    guard let reply = StoreDocument(bytes), reply.name == "CompleteMultipartUploadResult" else {
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
    StoreText.decoded(key.replacing("+", with: " "))
  }
}
