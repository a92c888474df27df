import Base
import Cache
import Catalog
import Transport

/// Decides which details need a request, and where each of them is requested.
///
/// A detail is the document about one item, with more data than the item has in a section. The stage of a run and the
/// plan that `--dry-run` prints share these decisions.
struct DetailNeeds: Sendable {
  let rule: DetailRule
  /// The name of the details' decoder.
  let reader: String
  /// The digest of the rules in the catalog file for decoding details.
  let mapping: Int64
  let addresses: CatalogAddresses
  let policy: RevalidationPolicy

  /// Makes the rules of a run; nil if it requests no details.
  init?(_ request: RunRequest, _ policy: RevalidationPolicy) {
    guard let rule = request.catalog.detail, !request.options.noDetails else { return nil }
    self.rule = rule
    self.policy = policy
    addresses = request.addresses
    reader = request.catalog.detailReader
    mapping = request.catalog.detailDigest
  }

  /// An empty set of the details of a run.
  func due(in index: Index, of catalog: CatalogID) throws(LarderError) -> DueDetails {
    try DueDetails(index, of: catalog, readsItems: !rule.places.isSubset(of: [.id]))
  }

  /// The source of an item's detail, or the failure to report if it cannot be formed.
  ///
  /// - Throws: ``LarderError`` when the item in the index cannot be read.
  func source(
    of item: String,
    _ record: ItemRecord?
  ) throws(LarderError) -> Result<DocumentSource, TransferFailure> {
    let fields = try record?.storeItem().placeValues
    return Result { () throws(TransferFailure) in
      try addresses.detail(of: item, fields, by: rule)
    }
  }

  /// The document that a cached detail is from, unless it is outdated.
  ///
  /// After a change of the catalog file, the detail can be from another URL, whose document is no evidence for it.
  func held(
    _ document: DocumentEntry?,
    _ state: DetailEntry.State?,
    at source: DocumentSource
  ) -> DocumentEntry? {
    guard let document, let state, state != .failed, document.mapping == mapping,
      document.url == source.name
    else { return nil }
    return document
  }

  /// The cached document with the details of all items, unless it is outdated.
  ///
  /// A 304 can only confirm details that this document sent. So the row and the state of one detail decide. If there is
  /// no such detail yet, the document is found by its URL.
  func heldShared(
    _ document: DocumentEntry?,
    _ state: DetailEntry.State?,
    at source: DocumentSource,
    in index: Index
  ) throws(LarderError) -> DocumentEntry? {
    if state != nil { return held(document, state, at: source) }
    return try index.held(source, reader: reader, mapping: mapping)
  }

  /// The action for a detail with this state, which is from this document.
  func need(
    of state: DetailEntry.State?,
    in document: DocumentEntry?,
    _ source: DocumentSource,
    at now: UnixTime
  ) -> Freshness {
    guard let held = held(document, state, at: source) else { return .refetch }
    let freshness =
      policy.onlyDue && state == .missing
      ? held.missingFreshness(at: now)
      : held.freshness(at: now, for: policy.traits(of: source))
    return freshness.isQuiet ? freshness : policy.question(about: held, source)
  }

  /// The time of the shop's last answer for a detail that is due; nil if the detail needs nothing.
  ///
  /// A detail that the shop no longer has is due too, because its row changes.
  func due(_ detail: SeenDetail, at now: UnixTime) throws(LarderError) -> UnixTime? {
    if !rule.isShared, let known = detail.known, known.state != .missing || !known.hasBody,
      let source = try? source(of: detail.item, detail.record).get(),
      need(of: known.state, in: detail.document, source, at: now).isQuiet
    {
      return nil
    }
    guard let document = detail.document else { return 0 }
    return StoredResponse(word: document.response)?.responseTime ?? document.fetched ?? 0
  }
}
