import Transport

/// Parses URLs by libcurl's own parser where there is no transport at hand.
package struct CurlURLParser: URLParsing {
  /// Makes a parser; it holds nothing.
  package init() {}

  /// Parses as ``CurlTransport/parse(_:relativeTo:)`` does.
  package func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try CurlTransport.parse(text, relativeTo: base)
  }
}
