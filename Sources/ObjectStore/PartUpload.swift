import Base
import Cache
import Transport

/// Multipart uploads of S3, which send a large object in several parts.
extension ObjectStore {
  /// The size of a part, and the maximum size of an object that is uploaded in one request.
  ///
  /// It is 5 MiB, the smallest part that S3 allows. (S3, "multipart upload limits")
  static let partSize = 5 << 20
  /// The age in seconds after which an unfinished upload is aborted: a day.
  private static let patience: Int64 = 86_400

  /// Writes an object in parts, one part after the other.
  ///
  /// The object becomes visible when the upload is completed. If a part fails, the upload is aborted.
  ///
  /// - Returns: The entity-tag of the object.
  /// - Throws: ``LarderError``. In that case the stored object is unchanged.
  func putParts(
    _ file: OpenFile,
    _ size: Int,
    to path: String,
    headers: Headers
  ) throws(LarderError) -> String {
    let begun = try answer(
      .post,
      path,
      query: ["uploads": ""],
      headers: headers,
      body: [],
      doing: "write"
    )
    guard let id = S3Reply.upload(begun.body) else {
      throw unfit(path, "the store did not start the upload")
    }
    do throws(LarderError) {
      return try finish(file, size, path, id)
    } catch {
      try? abort(path, id)
      throw error
    }
  }

  private func finish(
    _ file: OpenFile,
    _ size: Int,
    _ path: String,
    _ id: String
  ) throws(LarderError) -> String {
    var list = "<CompleteMultipartUpload>"
    for (number, start) in stride(from: 0, to: size, by: Self.partSize).enumerated() {
      let part = try file.bytes(start..<min(size, start + Self.partSize))
      let query = ["partNumber": "\(number + 1)", "uploadId": id]
      let reply = try answer(
        .put,
        path,
        query: query,
        headers: ["Content-Type": "application/octet-stream"],
        body: part,
        doing: "write"
      )
      list +=
        "<Part><PartNumber>\(number + 1)</PartNumber><ETag>\"\(XMLText.escaped(reply.tag))\"</ETag></Part>"
    }
    list += "</CompleteMultipartUpload>"
    let reply: Reply
    do throws(LarderError) {
      reply = try answer(
        .post,
        path,
        query: ["uploadId": id],
        headers: ["Content-Type": "application/xml"],
        body: Array(list.utf8),
        doing: "write"
      )
    } catch {
      guard error.code == .objectMissing else { throw error }
      // The reply to the first attempt can be lost, and the upload is then complete. The next run finds the object.
      throw LarderError(
        .storeBusy,
        "cannot write \(name(path)): the store knows the upload no more; run it again"
      )
    }
    // Even a reply with status 200 may have an error in its body, because S3 sends the status before the work is done.
    // (S3, CompleteMultipartUpload)
    if let code = S3Reply.refusal(reply.body) {
      throw LarderError(code, "write", name(path))
    }
    guard let tag = S3Reply.whole(reply.body) else {
      throw unfit(path, "the store gave no ETag")
    }
    return tag
  }

  private func unfit(_ path: String, _ words: String) -> LarderError {
    LarderError(.storeUnfit, "cannot write \(name(path)): \(words)")
  }

  private func abort(_ path: String, _ id: String) throws(LarderError) {
    _ = try answer(.delete, path, query: ["uploadId": id], doing: "end an upload to")
  }

  /// Aborts uploads that were begun more than a day ago and are not completed.
  ///
  /// - Parameters:
  ///   - path: The path below which uploads are aborted.
  ///   - now: The present moment.
  /// - Throws: ``LarderError``.
  func abortOldUploads(below path: String, now: UnixTime) throws(LarderError) {
    var pages = ListedPages("list the uploads of \(location)")
    var next: S3Reply.Marker?
    repeat {
      var query = [
        "encoding-type": "url", "prefix": location.key(path), "uploads": "",
      ]
      if let next {
        query["key-marker"] = next.key
        query["upload-id-marker"] = next.id
      }
      let reply = try answer(.get, nil, query: query, doing: "list the uploads of")
      guard let page = S3Reply.uploads(reply.body) else {
        throw LarderError(
          .storeUnfit,
          "cannot list the uploads of \(location): the answer is not a list of uploads"
        )
      }
      for upload in page.uploads {
        guard let path = location.path(of: upload.key),
          let begun = UnixTime(rfc3339: upload.begun), now - begun > Self.patience
        else { continue }
        do throws(LarderError) {
          try abort(path, upload.id)
        } catch {
          // Another run may have ended the upload meanwhile.
          guard error.code == .objectMissing || error.code == .storeUnfit else { throw error }
        }
      }
      next = page.next
      if let next {
        try pages.advance(to: "\(next.key) \(next.id)", isEmpty: page.uploads.isEmpty)
      }
    } while next != nil
  }
}

/// Escapes text for XML, so that it can be used as character data or as an attribute.
enum XMLText {
  /// Replaces characters such as `&` by references such as `&#38;`, and removes characters that XML 1.0 forbids.
  /// (Section 2.2)
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "&", "<", ">", "\"", "'", "\t", "\n", "\r": "&#\(scalar.value);"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": ""
      default: String(scalar)
      }
    }.joined()
  }
}
