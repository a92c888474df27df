import CurlTransport
import Transport

extension CurlURLParser {
  /// Parses a URL.
  package static func parse(
    _ text: String,
    relativeTo base: WebURL? = nil
  ) throws(TransferFailure) -> WebURL {
    try CurlURLParser().parse(text, relativeTo: base)
  }
}
