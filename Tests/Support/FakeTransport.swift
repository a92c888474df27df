import Base
import CurlTransport
import Synchronization
import Transport

/// A transport that answers from memory, on the caller's thread.
///
/// A request without an answer waits until ``cancelAll()``, like a transfer that hangs.
package final class FakeTransport: Fetching {
  /// The answer for a URL.
  package enum Answer: Sendable {
    /// Status 200 with a body and header fields.
    case body([UInt8], Headers = [:])
    /// Status 304.
    case notModified
    /// A failure.
    case failure(FailureReason)
  }

  private struct State {
    var answers: [String: Answer] = [:]
    var requests: [Request] = []
    var held: [@Sendable () -> Void] = []
  }

  private let state: Mutex<State>
  private let parser = CurlURLParser()

  /// Creates a transport with answers by URL.
  package init(_ answers: [String: Answer] = [:]) {
    state = Mutex(State(answers: answers))
  }

  /// The requests so far.
  package var requests: [Request] { state.withLock { $0.requests } }

  package func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try parser.parse(text, relativeTo: base)
  }

  package func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers[request.url.text]
    }
    switch answer {
    case nil:
      let failure = TransferFailure(reason: .cancelled, url: request.url.redacted)
      state.withLock { $0.held.append { completion(.failure(failure)) } }
    case .failure(let reason):
      completion(
        .failure(TransferFailure(reason: reason, url: request.url.redacted, attempts: 1))
      )
    case .notModified:
      let head = ResponseHead(status: 304, headers: [:], url: request.url)
      completion(.success(Response(head: head, bodyBytes: 0, wireBytes: 0)))
    case .body(let bytes, let headers):
      let head = ResponseHead(
        status: 200,
        headers: headers,
        url: request.url,
        contentLength: ByteCount(bytes.count)
      )
      if case .refuse(let reason) = sink.begin(head, at: 0) {
        return completion(.failure(TransferFailure(reason: reason, url: request.url.text)))
      }
      if case .refuse(let reason) = sink.receive(bytes.span.bytes) {
        return completion(.failure(TransferFailure(reason: reason, url: request.url.text)))
      }
      let count = ByteCount(bytes.count)
      completion(.success(Response(head: head, bodyBytes: count, wireBytes: count)))
    }
  }

  package func cancelAll() {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for complete in held { complete() }
  }
}
