/// What bodies are written in, beside JSON: each is made into JSON that a mapping then reads.
public enum BodyNotation: String, Hashable, Sendable {
  /// JSON, read as it is.
  case json
  /// Google's product feed: RSS 2.0 or Atom, or tab-separated text.
  case merchantFeed
  /// Products of schema.org: JSON-LD, alone or in an HTML page.
  case linkedData

  /// A body as JSON.
  ///
  /// - Parameters:
  ///   - body: The body as it came.
  ///   - subject: What is read, for messages.
  ///   - limits: What the run holds decoding to.
  /// - Returns: JSON in UTF-8.
  /// - Throws: ``CatalogError`` when the body is not what the notation says.
  func json(
    of body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> [UInt8] {
    switch self {
    case .json: body
    case .merchantFeed: try MerchantFeed.json(of: body, subject, within: limits)
    case .linkedData: try LinkedData.json(of: body, subject, within: limits)
    }
  }
}
