import Base
import Cache
import Catalog
import Transport

/// The details of a catalog that has one document with the details of all items.
///
/// A detail has the data about one item that its entry in a list does not have.
enum SharedDetails: Sendable {
  /// A new version was decoded to details, and reasons why details could not be read, by the ids of their items.
  ///
  /// The row describes the new version. `base` is the URL that relative references in it refer to.
  case decoded(
    [ExactText: ItemDetail],
    unreadable: [ExactText: String],
    DocumentEntry,
    base: WebURL?
  )
  /// The cached version is current.
  case unchanged(DocumentEntry)
  /// The document could not be fetched or decoded.
  case failed
}

extension RunContext {
  /// Decodes the document with the details of all items, if it is new.
  func sharedDetails(_ outcome: DocumentOutcome, _ request: DocumentRequest) -> SharedDetails {
    switch outcome {
    case .stands(let document), .excused(let document, _):
      return .unchanged(document)
    case .failed(let failure):
      failures.note(.detail, id: nil, failure)
      return .failed
    case .new(let body, let base, let document):
      do throws(CatalogError) {
        let decoded = try body.decoded { body throws(CatalogError) in
          try decodeDetails(body, using: catalog)
        }
        return take(decoded, base: base, document, request)
      } catch {
        note(request, error.description)
        return .failed
      }
    }
  }

  private func take(
    _ decoded: DecodedDetails,
    base: WebURL?,
    _ document: DocumentEntry,
    _ request: DocumentRequest
  ) -> SharedDetails {
    var unreadable: [ExactText: String] = [:]
    for detail in decoded.unreadable {
      if let id = detail.id {
        unreadable[id.exact] = detail.reason
      } else {
        note(request, "cannot read detail number \(detail.index): \(detail.reason)")
      }
    }
    // If details are unreadable, the row gets no ETag and no Last-Modified date. With them, the server could answer 304,
    // and the document would not be decoded, but unreadable details must be reported in every run.
    var row = decoded.unreadable.isEmpty ? document : request.row
    row.fetched = document.fetched
    let details = Dictionary(decoded.details.map { ($0.id.exact, $0) }) { $1 }
    return .decoded(details, unreadable: unreadable, row, base: base)
  }

  private func note(_ request: DocumentRequest, _ words: String) {
    failures.note(.detail, id: nil, request.source.redacted, secrets.applied(to: words))
  }
}
