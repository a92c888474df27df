import Transport

/// Parses URLs by libcurl's own parser where there is no transport at hand.
public struct CurlURLParser: URLParsing {
  /// Makes a parser; it holds nothing.
  public init() {}

  /// Parses as ``CurlTransport/parse(_:relativeTo:)`` does.
  public func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try CurlTransport.parse(text, relativeTo: base)
  }
}
