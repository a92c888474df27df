import Base
import Cache
import Catalog
import Transport

/// A stage's request for a document: its source, its reader, and the cached version.
struct DocumentRequest: Sendable {
  /// The URL, query or file.
  let source: DocumentSource
  /// The name of the decoder, by which the index distinguishes documents of one URL.
  let reader: String
  /// The digest of the mapping in force.
  let mapping: Int64
  /// The cached version, if it was decoded with that mapping.
  var held: DocumentEntry?
  /// Whether the decoded form of the cached bytes is cached as well, so that the same bytes need not be decoded again.
  var isDecoded = true
  /// Whether a `Link` header field names the next page.
  var followsLink = false

  /// The document's row when only its source is known.
  var row: DocumentEntry { DocumentEntry(url: source.name, reader: reader, mapping: mapping) }
}

/// The outcome of a request for a document, be it a section's page or a detail.
enum DocumentOutcome: Sendable {
  /// The cached version is current: the origin said so, or sent the same bytes again. The row has the new caching
  /// fields.
  case stands(DocumentEntry)
  /// The cached version is used after an error, as its origin allows with `stale-if-error`. (RFC 5861, section 4)
  case excused(DocumentEntry, TransferFailure)
  /// Bytes to decode, the URL that references in them are relative to, and the document's row.
  case new(DocumentBody, base: WebURL?, DocumentEntry)
  /// The document is not available.
  case failed(TransferFailure)
}

extension DocumentRequest {
  /// Compares a reply with the cached version; sections and details share this decision.
  ///
  /// - Parameters:
  ///   - reply: The result of the request.
  ///   - now: The current time.
  ///   - traits: The request's header fields and credentials that may select its response; nil for a file.
  /// - Returns: The outcome.
  func outcome(
    of reply: DocumentReply,
    at now: UnixTime,
    for traits: CacheKeyFields?
  ) -> DocumentOutcome {
    switch reply {
    case .failed(let failure):
      guard let held, held.excuses(failure, at: now, for: traits) else { return .failed(failure) }
      return .excused(held, failure)

    case .unchanged(let word):
      guard var document = held else { return .failed(.notModified(source.redacted)) }
      document.response = word.text
      document.expiry = word.expiry
      return .stands(document)

    case .body(let body, let base, let word, let link):
      var document = row
      if followsLink { document.next = link }
      document.response = word.text
      document.expiry = word.expiry
      document.digest = body.digest
      document.fetched = now
      guard let held, isDecoded, held.digest == document.digest, held.came(from: base) else {
        return .new(body, base: base ?? source.base, document)
      }
      document.next = held.next
      return .stands(document)
    }
  }
}

extension TransferFailure {
  /// The failure when the server answered 304, but the cache has no earlier version.
  static func notModified(_ url: String, attempts: Int = 0) -> TransferFailure {
    TransferFailure(
      reason: .badResponse,
      url: url,
      detail: "the server answered 304, but the cache has no earlier version",
      attempts: attempts,
      status: 304
    )
  }

  /// Whether the origin says that the document does not exist: 404, 410, or no such file.
  var saysThereIsNone: Bool { status == 404 || status == 410 || reason == .noSuchFile }

  /// Whether shops send such an answer to a request for a page beyond the last page of a listing.
  var endsListing: Bool {
    guard let status, reason == .http(status) else { return false }
    return [400, 404, 410, 416].contains(status)
  }
}

extension RunContext {
  /// Makes the request for a source, with the cached version.
  ///
  /// - Parameters:
  ///   - source: The document's source.
  ///   - reader: The name of its decoder.
  ///   - mapping: The digest of the mapping in force.
  /// - Returns: The request.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func request(
    for source: DocumentSource,
    reader: String,
    mapping: Int64
  ) throws(LarderError) -> DocumentRequest {
    try requests(for: [source], reader: reader, mapping: mapping)[0]
  }

  /// Makes the requests for several sources with one reader, with a single look-up in the index.
  ///
  /// - Parameters:
  ///   - sources: The documents' sources.
  ///   - reader: The name of their decoder.
  ///   - mapping: The digest of the mapping in force.
  /// - Returns: The requests, in the order of the sources.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func requests(
    for sources: [DocumentSource],
    reader: String,
    mapping: Int64
  ) throws(LarderError) -> [DocumentRequest] {
    let ids = sources.map { DocumentID(url: $0.name, reader: reader) }
    let entries = try index.documents(ids)
    return zip(sources, ids).map { source, id in
      var request = DocumentRequest(source: source, reader: reader, mapping: mapping)
      if let held = entries[id], held.mapping == mapping { request.held = held }
      return request
    }
  }
}
