import Cache
import Catalog
import Synchronization
import Transport

/// The details of a catalog that has one document with the details of all items.
///
/// A detail has the data about one item that its entry in a list does not have.
///
/// The first call of ``ask(_:completion:)`` fetches and decodes the document. Later calls wait for the same
/// answer.
final class SharedDetails: Sendable {
  /// The decoded document.
  struct Body: Sendable {
    /// The details, by the ids of their items.
    var details: [String: ItemDetail]
    /// The reasons for details that could not be read, by the ids of their items.
    var unreadable: [String: String]
    /// The document's row.
    var document: DocumentEntry
    /// The URL that relative references in the document refer to.
    var base: WebURL?
  }

  /// The answer for the document.
  enum Answer: Sendable {
    /// A new version of the document was received.
    case decoded(Body)
    /// The cached version is current.
    case unchanged(DocumentEntry)
    /// The document could not be fetched or decoded.
    case failed
  }

  private enum Phase {
    case idle
    case waiting([@Sendable (Answer) -> Void])
    case answered(Answer)
  }

  private let context: RunContext
  private let state = Mutex(Phase.idle)

  init(_ context: RunContext) {
    self.context = context
  }

  /// The document, if a new version was received.
  var decoded: Body? {
    state.withLock { if case .answered(.decoded(let body)) = $0 { body } else { nil } }
  }

  /// Passes the answer for the document to `completion`.
  ///
  /// The first call fetches the document.
  ///
  /// - Parameters:
  ///   - request: The request for the document.
  ///   - completion: Called once with the answer, now or later.
  func ask(
    _ request: DocumentRequest,
    completion: @escaping @Sendable (Answer) -> Void
  ) {
    enum Move {
      case start
      case wait
      case tell(Answer)
    }
    let move = state.withLock { state in
      switch state {
      case .idle:
        state = .waiting([completion])
        return Move.start
      case .waiting(let others):
        state = .waiting(others + [completion])
        return .wait
      case .answered(let answer):
        return .tell(answer)
      }
    }
    switch move {
    case .start: fetch(request)
    case .wait: break
    case .tell(let answer): completion(answer)
    }
  }

  private func fetch(_ request: DocumentRequest) {
    let need = context.needs.need(ofListing: request.held, request.source, at: context.now())
    if need.isQuiet, let held = request.held { return resolve(.unchanged(held)) }
    context.store.announce(1)
    context.fetch(request, priority: .detail) { [self] outcome in
      resolve(answer(to: outcome, request))
      context.store.conclude()
    }
  }

  private func answer(to outcome: DocumentOutcome, _ request: DocumentRequest) -> Answer {
    switch outcome {
    case .stands(let document), .excused(let document, _):
      return .unchanged(document)
    case .failed(let failure):
      context.failures.note(.detail, id: nil, failure)
      return .failed
    case .new(let body, let base, let document):
      do throws(CatalogError) {
        return .decoded(try decode(body, base: base, document, request))
      } catch {
        let words = context.secrets.applied(to: error.description)
        context.failures.note(undecodable: .detail, id: nil, request.source, words)
        return .failed
      }
    }
  }

  private func decode(
    _ body: DocumentBody,
    base: WebURL?,
    _ document: DocumentEntry,
    _ request: DocumentRequest
  ) throws(CatalogError) -> Body {
    let decoded = try body.decoded { body throws(CatalogError) in
      try decodeDetails(body, using: context.catalog)
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
        context.failures.note(undecodable: .detail, id: nil, request.source, words)
      }
    }
    return Body(
      details: Dictionary(decoded.details.map { ($0.id, $0) }) { $1 },
      unreadable: unreadable,
      document: document,
      base: base
    )
  }

  /// Calls the waiting completions, and stores the answer for later calls.
  private func resolve(_ answer: Answer) {
    let waiting = state.withLock { state in
      defer { state = .answered(answer) }
      if case .waiting(let waiting) = state { return waiting }
      return []
    }
    for completion in waiting { completion(answer) }
  }
}
