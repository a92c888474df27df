/// Decodes the body of one listed section.
///
/// - Parameters:
///   - body: JSON in UTF-8.
///   - source: The section that the body was fetched for.
///   - file: The catalog file that lists the section.
///   - firstIndex: The number of elements on earlier pages, so that the indices of skipped items continue.
/// - Returns: The section, with a list of the skipped items and fields.
/// - Throws: ``CatalogError`` when the body is not JSON, reports a failure, or has no list of items at the paths of the
///   mapping. An empty array is an empty section.
public func decodeSection(
  _ body: [UInt8],
  source: SectionSource,
  using file: CatalogFile,
  firstIndex: Int = 0
) throws(CatalogError) -> DecodedListing {
  try ListingDecoder(file, source: source).section(body, source: source, firstIndex: firstIndex)
}

/// Cuts a body into windows: smaller bodies of the same source.
///
/// - Parameters:
///   - body: The body, in any notation.
///   - position: The index of the source in the catalog's order.
///   - file: The catalog file that lists the source.
/// - Returns: The windows; nil when the body has to be decoded whole.
package func windows(
  of body: some RandomAccessBody,
  at position: Int,
  using file: CatalogFile
) -> ListingWindows? {
  ListingWindows(
    body,
    for: ListingDecoder(file, position: position),
    parts: file.sections.parts(ofSource: position)
  )
}

/// Decodes a window of a body.
///
/// - Parameters:
///   - window: The window.
///   - position: The index of the window's source in the catalog's order.
///   - file: The catalog file that lists the source.
///   - earlier: The result of the windows before it; its items are not used.
///   - elements: The number of elements that earlier windows have of the same section.
///   - limits: The run's limits for decoding.
/// - Returns: The sections, or parts of them, to be added to the result so far.
/// - Throws: ``CatalogError`` when the window cannot be decoded alone; decode the body whole to
///   learn why.
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
  // A window does not know how many elements the whole section has, so the limit on unreadable elements cannot be
  // applied.
  decoder.limits = limits
  if file.sections.parts(ofSource: position) == nil { decoder.limits.maxSkipped = nil }
  if let parts = file.sections.parts(ofSource: position) {
    return try decoder.sections(in: window, plan: parts, after: earlier, elements: elements)
  }
  guard case .listed(let sources) = file.sections else { return earlier }
  return try decoder.section(window.bytes, source: sources[position], firstIndex: elements)
}

/// Decodes a body of one source; the body holds one section or many.
///
/// - Parameters:
///   - body: JSON in UTF-8.
///   - position: The index of the source in the catalog's order.
///   - file: The catalog file that lists the source.
///   - limits: The run's limits for decoding.
/// - Returns: The sections, with a list of the skipped items and fields.
/// - Throws: ``CatalogError`` when the body cannot be used.
package func decodeSource(
  _ body: [UInt8],
  at position: Int,
  using file: CatalogFile,
  within limits: DecodingLimits = DecodingLimits()
) throws(CatalogError) -> DecodedListing {
  var decoder = ListingDecoder(file, position: position)
  decoder.limits = limits
  switch file.sections {
  case .combined(let plan):
    return try decoder.sections(body, plan: plan)
  case .listed(let sources):
    guard let parts = sources[position].parts else {
      return try decoder.section(body, source: sources[position])
    }
    return try decoder.sections(body, plan: parts)
  }
}

/// Decodes a body that holds all sections of a catalog.
///
/// - Parameters:
///   - body: JSON in UTF-8.
///   - plan: Where the sections and their names are.
///   - file: The catalog file.
///   - firstIndices: By section, how many elements earlier pages listed.
/// - Returns: The sections, with a list of the skipped items and fields.
/// - Throws: ``CatalogError`` when the body as a whole cannot be used.
public func decodeSections(
  _ body: [UInt8],
  plan: CombinedSections,
  using file: CatalogFile,
  firstIndices: [String: Int] = [:]
) throws(CatalogError) -> DecodedListing {
  try ListingDecoder(file).sections(body, plan: plan, firstIndices: firstIndices)
}

/// Decodes the detail of one item, from a body that holds only this detail, or the details of many items.
///
/// - Parameters:
///   - body: JSON in UTF-8.
///   - id: The item's id.
///   - file: The catalog file.
/// - Returns: The detail.
/// - Throws: ``CatalogError`` when the body is not JSON, says that it failed, or holds no detail of that item.
public func decodeDetail(
  _ body: [UInt8],
  id: String,
  using file: CatalogFile
) throws(CatalogError) -> ItemDetail {
  guard let mapping = file.mapping.detail else {
    throw CatalogError(
      .unexpectedShape,
      subject: "detail \(id)",
      reason: "catalog \(file.name) has no details"
    )
  }
  return try DetailDecoder(
    envelope: file.mapping.envelope,
    mapping: mapping,
    currency: file.currency
  ).detail(body, id: id)
}

extension ListingDecoder {
  /// A decoder for a catalog, or for one section of it.
  public init(_ file: CatalogFile, source: SectionSource? = nil) {
    let paging = source.map(file.paging) ?? file.paging
    self.init(
      mapping: source?.mapping ?? file.mapping,
      currency: file.currency,
      nextPage: paging?.path
    )
    if case .cursor = paging?.step { nextPageIsCursor = true }
  }

  /// A decoder for the source at a position.
  fileprivate init(_ file: CatalogFile, position: Int) {
    guard case .listed(let sources) = file.sections else {
      self.init(file)
      return
    }
    self.init(file, source: sources[position])
  }
}

/// Decodes a body that holds the details of many items.
///
/// - Parameters:
///   - body: JSON in UTF-8.
///   - file: The catalog file.
/// - Returns: The details that can be read, in the body's order, and a list of the others with the reasons.
/// - Throws: ``CatalogError`` when the body cannot be used, or none of its details can be read.
public func decodeDetails(
  _ body: [UInt8],
  using file: CatalogFile
) throws(CatalogError) -> DecodedDetails {
  guard let mapping = file.mapping.detail else {
    throw CatalogError(
      .unexpectedShape,
      subject: "details",
      reason: "catalog \(file.name) has no details"
    )
  }
  return try DetailDecoder(
    envelope: file.mapping.envelope,
    mapping: mapping,
    currency: file.currency
  ).details(body)
}

/// Limits that a run sets on the decoding of a body, such as a deadline.
package struct DecodingLimits: Sendable {
  /// How many elements of a listing may be unreadable before decoding stops; nil decodes the whole listing.
  package var maxSkipped: SkipLimit?
  /// Called now and then; true ends the decoding, for example at a deadline.
  package var isStopped: @Sendable () -> Bool

  /// Limits from their parts.
  package init(
    maxSkipped: SkipLimit? = nil,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) {
    self.maxSkipped = maxSkipped
    self.isStopped = isStopped
  }

  /// Throws once decoding has to end.
  func demandTime(_ subject: String) throws(CatalogError) {
    guard isStopped() else { return }
    throw CatalogError(.stopped, subject: subject, reason: "the run ended while it was read")
  }
}

/// How many sections one response may hold.
enum SectionLimit {
  static let most = 10_000

  /// Refuses a response with more sections.
  static func check(_ count: Int) throws(CatalogError) {
    guard count > most else { return }
    throw CatalogError(
      .unexpectedShape,
      subject: "sections",
      expected: "at most \(most) sections",
      reason: "the response has \(count) sections, and larder reads \(most) at most",
      remedy: "correct \"each\" under sections, or request fewer sections"
    )
  }
}
