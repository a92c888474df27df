import Base
import Cache
import Catalog
import Transport

/// A document that a stage asks for: where it is, who reads it, and what is held of it.
struct DocumentRequest: Sendable {
  /// Where it comes from.
  let source: DocumentSource
  /// Who reads it, as the index tells documents of one URL apart.
  let reader: String
  /// The digest of the mapping in force.
  let mapping: Int64
  /// What is held, when it was read with that mapping.
  var held: DocumentEntry?
  /// Whether what the held bytes were decoded to is there as well: the same bytes are then not decoded again.
  var isDecoded = true
  /// Whether the next page is the one that a header names.
  var followsLink = false

  /// The document's row when only its source is known.
  var row: DocumentEntry { DocumentEntry(url: source.name, reader: reader, mapping: mapping) }
}

/// What follows from the reply to a request for a document, be it a section's page or a detail.
enum DocumentOutcome: Sendable {
  /// What is held still stands: the origin said so, or sent the same bytes again. The row to write has the new validity.
  case stands(DocumentEntry)
  /// What is held stands in for an error, as its origin lets it. (RFC 5861, section 4)
  case excused(DocumentEntry, TransferFailure)
  /// Bytes to decode, the URL that references in them are relative to, and the document's row.
  case new(DocumentBody, base: WebURL?, DocumentEntry)
  /// There is nothing to be had.
  case failed(TransferFailure)
}

extension DocumentRequest {
  /// Judges a reply: the one decision that sections and details share.
  ///
  /// - Parameters:
  ///   - reply: how the request ended.
  ///   - now: the wall clock.
  ///   - traits: what the request sent; nil for a file.
  /// - Returns: What follows.
  func outcome(
    of reply: DocumentReply,
    at now: UnixTime,
    for traits: RequestTraits?
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
  /// A 304 for a document of which nothing is held.
  static func notModified(_ url: String, attempts: Int = 0) -> TransferFailure {
    TransferFailure(
      reason: .badResponse,
      url: url,
      detail: "304 for a document that is not held",
      attempts: attempts,
      status: 304
    )
  }

  /// Whether the answer is that there is nothing: 404 or 410, or no such file.
  var saysThereIsNone: Bool { status == 404 || status == 410 || reason == .noSuchFile }

  /// Whether a shop answers so behind the last page of a listing.
  var endsListing: Bool {
    guard let status, reason == .http(status) else { return false }
    return [400, 404, 410, 416].contains(status)
  }
}

extension RunContext {
  /// What to ask for at a source, with what is held of it.
  ///
  /// - Parameters:
  ///   - source: where the document is.
  ///   - reader: who reads it.
  ///   - mapping: the digest of the mapping in force.
  /// - Returns: The request.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func request(
    for source: DocumentSource,
    reader: String,
    mapping: Int64
  ) throws(LarderError) -> DocumentRequest {
    try requests(for: [source], reader: reader, mapping: mapping)[0]
  }

  /// What to ask for at sources that one reader reads: one look-up for all.
  ///
  /// - Parameters:
  ///   - sources: where the documents are.
  ///   - reader: who reads them.
  ///   - mapping: the digest of the mapping in force.
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
