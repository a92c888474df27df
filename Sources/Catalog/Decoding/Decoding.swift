/// Decodes the response of a source of a catalog.
///
/// A source is a URL that the catalog file gives. Its response holds one section, or many sections if the file has
/// `each:` for it.
///
/// - Parameters:
///   - body: The body of the response, in a notation that the catalog file allows.
///   - position: The index of the source in the catalog file.
///   - file: The catalog file that lists the source.
/// - Returns: The sections, together with a list of the items and fields that were skipped.
/// - Throws: ``CatalogError`` if the body cannot be parsed, reports a failure, or has no list of items where the
///   mapping expects it. An empty list is no error, and gives an empty section.
public func decodeSource(
  _ body: [UInt8],
  at position: Int,
  using file: CatalogFile
) throws(CatalogError) -> DecodedListing {
  try decodeSource(body, at: position, using: file, within: DecodingLimits())
}

/// Decodes the response of a source of a catalog, within limits such as a deadline.
///
/// The other parameters, the result and the errors are those of `decodeSource(_:at:using:)`.
package func decodeSource(
  _ body: [UInt8],
  at position: Int,
  using file: CatalogFile,
  within limits: DecodingLimits
) throws(CatalogError) -> DecodedListing {
  var decoder = ListingDecoder(file, position: position)
  decoder.limits = limits
  let source = file.sections[position]
  guard let parts = source.parts else { return try decoder.section(body, source: source) }
  return try decoder.sections(body, plan: parts)
}

/// Cuts a large response into windows, which are smaller bodies that can be decoded one after the other.
///
/// - Parameters:
///   - body: The body of the response, in any notation.
///   - position: The index of the source in the catalog file.
///   - file: The catalog file that lists the source.
/// - Returns: The windows, or nil if the body must be decoded whole with `decodeSource(_:at:using:within:)`.
package func windows(
  of body: some RandomAccessBody,
  at position: Int,
  using file: CatalogFile
) -> ListingWindows? {
  ListingWindows(
    body,
    for: ListingDecoder(file, position: position),
    parts: file.sections[position].parts
  )
}

/// Decodes one window of a response that `windows(of:at:using:)` has cut.
///
/// - Parameters:
///   - window: The window to decode.
///   - position: The index of the source in the catalog file.
///   - file: The catalog file that lists the source.
///   - earlier: The joined results of the windows before this one. Its items are not used.
///   - elements: The window begins with elements of a section. This is the number of elements that the section has in
///     earlier windows.
///   - limits: The limits for decoding, such as a deadline.
/// - Returns: The sections, or parts of sections, that the window contains. Append them to `earlier`.
/// - Throws: ``CatalogError`` if the window cannot be decoded alone. In that case, decode the whole body, which
///   either succeeds or gives an error with the right position.
package func decodeWindow(
  _ window: ListingWindow,
  at position: Int,
  using file: CatalogFile,
  after earlier: DecodedListing,
  elements: Int,
  within limits: DecodingLimits = DecodingLimits()
) throws(CatalogError) -> DecodedListing {
  var decoder = ListingDecoder(file, position: position)
  decoder.mapping.notation.kind = window.kind
  decoder.linesBefore = window.linesBefore
  decoder.limits = limits
  let source = file.sections[position]
  if let parts = source.parts {
    return try decoder.sections(in: window, plan: parts, after: earlier, elements: elements)
  }
  // The limit on unreadable elements depends on the number of all elements, which a part of the section cannot know.
  decoder.limits.maxSkipped = nil
  return try decoder.section(window.bytes, source: source, firstIndex: elements)
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
  init(_ file: CatalogFile, position: Int) {
    let paging = file.paging(ofSource: position)
    self.init(
      mapping: file.mapping(ofSource: position),
      currency: file.currency,
      nextPage: paging?.path
    )
    nextPageIsCursor = paging?.step == .cursor
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
      throw CatalogError(
        .unexpectedShape,
        subject: subject,
        reason: "catalog \(file.name) has no details"
      )
    }
    self.init(envelope: file.mapping.envelope, mapping: mapping, currency: file.currency)
  }
}

/// The limits that a run sets for the decoding of a body, for example its deadline.
package struct DecodingLimits: Sendable {
  /// The number of unreadable elements in a section at which decoding still continues.
  ///
  /// Nil means that all elements are decoded.
  package var maxSkipped: SkipLimit?
  /// A function that is called now and then during decoding.
  ///
  /// If it returns true, decoding ends with an error.
  package var isStopped: @Sendable () -> Bool

  /// Makes limits.
  ///
  /// Without arguments, nothing is limited.
  package init(
    maxSkipped: SkipLimit? = nil,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) {
    self.maxSkipped = maxSkipped
    self.isStopped = isStopped
  }

  /// Throws an error if ``isStopped`` returns true.
  func demandTime(_ subject: String) throws(CatalogError) {
    guard isStopped() else { return }
    throw CatalogError(.stopped, subject: subject, reason: "the run ended while it was read")
  }
}
