/// Turns text into a URL that can be fetched.
package protocol URLParsing: Sendable {
  /// Parses an absolute URL, or one that is relative to `base`. (RFC 3986, section 5)
  ///
  /// White space around the text is dropped; what no URL has, such as spaces, braces and raw UTF-8, is
  /// percent-encoded in path and query; a backslash of the path becomes a slash; what is already encoded is left alone; the
  /// fragment goes. `${NAME}` stays.
  ///
  /// - Parameters:
  ///   - text: What a catalog, a feed or a `Location` header says.
  ///   - base: What relative text is relative to.
  /// - Returns: The URL as it will be sent.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` or `scheme-refused`.
  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL
}
