import Transport

/// Where photos are posted to, and with which token.
package struct UploadDestination: Sendable {
  /// The URL.
  package let url: WebURL
  /// The header that carries the token.
  let header: String
  /// The token; never printed, logged or kept.
  let token: String?

  /// Judges a destination.
  ///
  /// - Parameters:
  ///   - text: The URL: https, or http to a loopback address.
  ///   - token: The token, white space around it left out; nil for none.
  ///   - header: The name of the header that carries it.
  ///   - parser: What turns text into URLs.
  /// - Throws: ``UploadError`` that says what is wrong, and never the token.
  package init(
    _ text: String,
    token: String?,
    header: String = "token",
    parser: some URLParsing
  ) throws(UploadError) {
    do {
      url = try parser.parse(text, relativeTo: nil)
    } catch {
      throw UploadError(
        "cannot post to \(error.url): it is no URL of http or https; give one like https://host/path"
      )
    }
    guard url.scheme == .https || url.isLoopback else {
      throw UploadError(
        "cannot post to \(url.redacted): over http everybody on the way reads the photo and the "
          + "token; give an https URL"
      )
    }
    var probe = Headers()
    probe.append(header, "x")
    guard !probe.isEmpty else {
      throw UploadError("cannot send the header \(header): it is no header name; try token")
    }
    self.header = header
    let bare = token.map { String($0.trimmed) }
    guard bare?.isEmpty != true else {
      throw UploadError("cannot send the token: it is empty; write it into the file or variable")
    }
    guard bare?.utf8.allSatisfy({ $0 > 31 && $0 != 127 }) != false else {
      throw UploadError("cannot send the token: it has more than one line; keep the token alone")
    }
    self.token = bare
  }
}

/// Why nothing can be posted at all.
package struct UploadError: Error, CustomStringConvertible {
  /// The whole sentence.
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension String {
  /// The text without white space at its ends.
  fileprivate var trimmed: Substring {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
