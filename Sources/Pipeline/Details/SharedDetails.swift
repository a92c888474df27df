import Cache
import Catalog
import Synchronization
import Transport

/// The details of all items of a catalog that keeps them in one document.
///
/// The document is fetched and decoded once, at the first ``ask(_:arrived:completion:)``; later calls wait for the
/// same answer.
final class SharedDetails: Sendable {
  /// A decoded body.
  struct Body: Sendable {
    /// The details by item.
    var details: [String: ItemDetail]
    /// The reason why a detail could not be read, by item.
    var unreadable: [String: String]
    /// The document's row.
    var document: DocumentEntry
    /// The base URL of relative references in the document.
    var base: WebURL?
  }

  /// The answer for the document.
  enum Answer: Sendable {
    /// A new body.
    case decoded(Body)
    /// The cached version is current.
    case unchanged(DocumentEntry)
    /// The document is not available.
    case failed
  }

  private enum Phase {
    case idle
    case waiting([@Sendable (Answer) -> Void])
    case answered(Answer)
  }

  private let context: RunContext
  private let state = Mutex(Phase.idle)

  /// The details of a run's catalog.
  init(_ context: RunContext) {
    self.context = context
  }

  /// Passes the document's answer to `completion`; the first call fetches the document.
  ///
  /// - Parameters:
  ///   - request: The request for the document.
  ///   - arrived: Called with a new body before any completion is called.
  ///   - completion: Called once with the answer, now or later.
  func ask(
    _ request: DocumentRequest,
    arrived: @escaping @Sendable (Body) -> Void,
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
    case .start: fetch(request, arrived)
    case .wait: break
    case .tell(let answer): completion(answer)
    }
  }

  private func fetch(_ request: DocumentRequest, _ arrived: @escaping @Sendable (Body) -> Void) {
    let need = context.needs.need(ofListing: request.held, request.source, at: context.now())
    if need.isQuiet, let held = request.held { return resolve(.unchanged(held)) }
    context.store.announce(1)
    context.fetch(request, priority: .detail) { [self] outcome in
      let answer = answer(to: outcome, request)
      if case .decoded(let body) = answer { arrived(body) }
      resolve(answer)
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
    // Unreadable details must be reported in every run, so the row loses its validators. With validators, a 304 would
    // skip the decoding.
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
