/// Decodes the response of a source of a catalog.
///
/// A source is a URL that the catalog file gives. Its response holds one section, or many sections if the file has
/// `each:` for it.
///
/// - Parameters:
///   - body: The body of the response, in a notation that the catalog file allows.
///   - position: The index of the source in the catalog file.
///   - file: The catalog file that lists the source.
///   - limits: The limits for decoding, such as a deadline.
/// - Returns: The sections, together with a list of the items and fields that were skipped.
/// - Throws: ``CatalogError`` if the body cannot be parsed, reports a failure, or has no list of items where the
///   mapping expects it. An empty list is no error, and gives an empty section.
public func decodeSource(
  _ body: [UInt8],
  at position: Int,
  using file: CatalogFile,
  within limits: DecodingLimits = DecodingLimits()
) throws(CatalogError) -> DecodedListing {
  try ListingDecoder(file, position: position, within: limits).listing(body)
}

/// Decodes the detail of one item: the document that has more fields of the item than its entry in a list.
///
/// - Parameters:
///   - body: The response, as JSON in UTF-8. It holds either this detail alone or the details of many items.
///   - id: The item's id.
///   - file: The catalog file.
/// - Returns: The detail.
/// - Throws: ``CatalogError`` if the body is not JSON, reports a failure, or holds no detail of the item.
public func decodeDetail(
  _ body: [UInt8],
  id: String,
  using file: CatalogFile
) throws(CatalogError) -> ItemDetail {
  try DetailDecoder(file, subject: "detail \(id)").detail(body, id: id)
}

/// Decodes a response that holds the details of many items.
///
/// - Parameters:
///   - body: The response, as JSON in UTF-8.
///   - file: The catalog file.
/// - Returns: The details that can be read, in the order of the body, and the reasons why the others cannot be read.
/// - Throws: ``CatalogError`` if the body cannot be used, or if none of its details can be read.
public func decodeDetails(
  _ body: [UInt8],
  using file: CatalogFile
) throws(CatalogError) -> DecodedDetails {
  try DetailDecoder(file, subject: "details").details(body)
}

extension ListingDecoder {
  /// Makes a decoder for the source at an index of the catalog file.
  package init(
    _ file: CatalogFile,
    position: Int,
    within limits: DecodingLimits = DecodingLimits()
  ) {
    let source =
      switch file.sections {
      case .listed(let sources): sources[position]
      case .combined(let parts): SectionSource(key: parts.url, url: parts.url, parts: parts)
      }
    self.init(
      mapping: file.mapping(ofSource: position),
      currency: file.currency,
      source: source,
      paging: file.paging(ofSource: position),
      limits: limits
    )
  }
}

extension DetailDecoder {
  /// Makes a decoder for the details of a catalog.
  ///
  /// - Parameters:
  ///   - file: The catalog file.
  ///   - subject: The name of the document in an error message, for example "detail A1".
  /// - Throws: ``CatalogError`` if the catalog file describes no details.
  fileprivate init(_ file: CatalogFile, subject: String) throws(CatalogError) {
    guard let mapping = file.mapping.detail else {
      throw CatalogError.shape(subject, "catalog \(file.name) has no details")
    }
    self.init(envelope: file.mapping.envelope, mapping: mapping, currency: file.currency)
  }
}

/// The limits that a run sets for the decoding of a body, for example its deadline.
public struct DecodingLimits: Sendable {
  /// A function that is called now and then during decoding.
  ///
  /// If it returns true, decoding ends with an error.
  public var isStopped: @Sendable () -> Bool

  /// Makes limits.
  ///
  /// Without arguments, nothing is limited.
  public init(isStopped: @escaping @Sendable () -> Bool = { false }) {
    self.isStopped = isStopped
  }

  /// Throws an error if ``isStopped`` returns true.
  func demandTime(_ subject: String) throws(CatalogError) {
    guard isStopped() else { return }
    throw CatalogError(.stopped, subject: subject, reason: "the run ended while it was read")
  }
}
