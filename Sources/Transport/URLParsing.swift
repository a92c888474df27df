/// Turns text into a URL that can be fetched.
package protocol URLParsing: Sendable {
  /// Parses an absolute URL, or one that is relative to `base`. (RFC 3986, section 5)
  ///
  /// White space around the text is dropped; spaces and raw UTF-8 in path and query are percent-encoded; what
  /// is already encoded is left alone; the fragment goes.
  ///
  /// - Parameters:
  ///   - text: What a catalog, a feed or a `Location` header says.
  ///   - base: What relative text is relative to.
  /// - Returns: The URL as it will be sent.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` or `scheme-refused`.
  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL
}
