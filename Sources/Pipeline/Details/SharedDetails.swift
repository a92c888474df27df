import Cache
import Catalog
import Transport

/// The details of a catalog that has one document with the details of all items.
///
/// A detail has the data about one item that its entry in a list does not have.
struct SharedDetails: Sendable {
  /// The details, by the ids of their items.
  var details: [String: ItemDetail]
  /// The reasons for details that could not be read, by the ids of their items.
  var unreadable: [String: String]
  /// The document's row.
  var document: DocumentEntry
  /// The URL that relative references in the document refer to.
  var base: WebURL?

  /// The answer for the document.
  enum Answer: Sendable {
    /// A new version of the document was received.
    case decoded(SharedDetails)
    /// The cached version is current.
    case unchanged(DocumentEntry)
    /// The document could not be fetched or decoded.
    case failed
  }
}

extension RunContext {
  /// Decodes the document with the details of all items, if it is new.
  func sharedDetails(
    _ outcome: DocumentOutcome,
    _ request: DocumentRequest
  ) -> SharedDetails.Answer {
    switch outcome {
    case .stands(let document), .excused(let document, _):
      return .unchanged(document)
    case .failed(let failure):
      failures.note(.detail, id: nil, failure)
      return .failed
    case .new(let body, let base, let document):
      do throws(CatalogError) {
        return .decoded(try decode(body, base: base, document, request))
      } catch {
        let words = secrets.applied(to: error.description)
        failures.note(undecodable: .detail, id: nil, request.source, words)
        return .failed
      }
    }
  }

  private func decode(
    _ body: DocumentBody,
    base: WebURL?,
    _ document: DocumentEntry,
    _ request: DocumentRequest
  ) throws(CatalogError) -> SharedDetails {
    let decoded = try body.decoded { body throws(CatalogError) in
      try decodeDetails(body, using: catalog)
    }
    var document = document
    // Remove the ETag and Last-Modified date from the row, because unreadable details must be reported in every run.
    // With them, the server could answer 304, and the document would not be decoded.
    if !decoded.unreadable.isEmpty {
      let fetched = document.fetched
      document = request.row
      document.fetched = fetched
    }
    var unreadable: [String: String] = [:]
    for detail in decoded.unreadable {
      if let id = detail.id {
        unreadable[id] = detail.reason
      } else {
        let words = "cannot read detail number \(detail.index): \(detail.reason)"
        failures.note(undecodable: .detail, id: nil, request.source, words)
      }
    }
    return SharedDetails(
      details: Dictionary(decoded.details.map { ($0.id, $0) }) { $1 },
      unreadable: unreadable,
      document: document,
      base: base
    )
  }
}
